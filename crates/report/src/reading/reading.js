// A window in the list lights up its boxes in the story.
for (const item of document.querySelectorAll(".windows li")) {
  const from = Number(item.dataset.from);
  const to = Number(item.dataset.to);
  const light = (isLit) => () => {
    for (const box of document.querySelectorAll(`.box[id^="${CSS.escape(item.dataset.story)}-"]`)) {
      const overlaps = Number(box.dataset.from) < to && from < Number(box.dataset.to);
      box.classList.toggle("lit", isLit && overlaps);
    }
  };
  item.addEventListener("pointerenter", light(true));
  item.addEventListener("pointerleave", light(false));
  item.addEventListener("focusin", light(true));
  item.addEventListener("focusout", light(false));
}
