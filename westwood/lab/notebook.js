// SPDX-License-Identifier: BSD-3-Clause
// Shows the laboratory's page in a frame.

function render({ model, el }) {
  const page = URL.createObjectURL(new Blob([model.get("page")], { type: "text/html" }));
  const frame = document.createElement("iframe");
  frame.title = "Westwood laboratory";
  frame.allow = "clipboard-write";
  frame.style.cssText = `display: block; width: 100%; height: ${model.get("height")}px; border: 0; resize: vertical`;
  frame.src = page + model.get("fragment");
  el.append(frame);
  return () => URL.revokeObjectURL(page);
}

export default { render };
