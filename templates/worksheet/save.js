"use strict";
// Keeps what was typed: the values go into the document, and a copy of it is downloaded.
const tools = document.getElementById("tools");
const said = document.getElementById("said");
let unsaved = false;
function keep() {
  for (const field of document.querySelectorAll("textarea")) {
    // A parser drops the first line break of a field.
    field.textContent = (field.value.startsWith("\n") ? "\n" : "") + field.value;
  }
  for (const field of document.querySelectorAll("input")) {
    if (field.type === "radio") field.toggleAttribute("checked", field.checked);
    else field.setAttribute("value", field.value);
  }
  const copy = document.documentElement.cloneNode(true);
  copy.querySelector("#tools").hidden = true;
  copy.querySelector("#said").textContent = "";
  return "<!doctype html>\n" + copy.outerHTML + "\n";
}
function fileName() {
  const name = location.pathname.split("/").pop();
  try { return decodeURIComponent(name); } catch { return name; }
}
tools.hidden = false;
tools.querySelector("button").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([keep()], { type: "text/html" }));
  link.download = fileName() || "sheet.html";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  unsaved = false;
  said.textContent = `Saved as ${link.download}, where your browser puts downloads.`;
});
document.addEventListener("input", () => { unsaved = true; said.textContent = ""; });
window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
// Browsers that do not know how to print what is folded.
let folded = [];
window.addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((details) => { details.open = true; });
});
window.addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));
