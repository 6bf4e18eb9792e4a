// Keys. Every page does its work without this script.
"use strict";

// A form that is sent once: a key held down or a second click sends nothing.
for (const form of document.querySelectorAll("form.once")) {
  let isSent = false;
  form.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  // A page that comes back from the browser's memory shows an answered question: ask for the next.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.closest("input, textarea, select")) return;
  const choice = document.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  const shortcut = document.querySelector(`[data-shortcut="${CSS.escape(event.key)}"]`);
  const link = { ArrowLeft: "prev", ArrowRight: "next", ArrowUp: "up" }[event.key];
  const target = link && document.querySelector(`a[rel="${link}"]`);
  if (choice) choice.click();
  else if (shortcut) shortcut.focus();
  else if (target) target.click();
  else return;
  event.preventDefault();
});

