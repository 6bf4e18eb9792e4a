// Tables sort by a click on a heading; without a script they keep their order.
for (const table of document.querySelectorAll(".scroll table:not(.plain)")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { none: column ? "descending" : "ascending", descending: "ascending", ascending: "none" };
      const order = next[head.getAttribute("aria-sort") || "none"];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      let rows = [...original];
      const isSorted = order !== "none" && !(order === "descending" && !column);
      // Lines between blocks of rows mean something in the original order alone.
      body.classList.toggle("sorted", isSorted);
      if (isSorted) {
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const key = (row) => row.cells[column].dataset.value;
        rows.sort((a, b) => {
          if (!column) return a.cells[0].textContent.localeCompare(b.cells[0].textContent);
          const [x, y] = [key(a), key(b)];
          if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
          return sign * (Number(x) - Number(y));
        });
      }
      body.append(...rows);
    });
  });
}

