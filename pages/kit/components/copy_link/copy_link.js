// An address in full view, and a button that copies it. Where the browser gives no clipboard (a
// page over plain HTTP from another machine) the address is selected, and the button says what to
// press.

const views = new WeakMap();

export default function ({ data, parentElement }) {
  let view = views.get(parentElement);
  if (view === undefined) {
    view = built(parentElement);
    views.set(parentElement, view);
  }
  if (view.code.textContent !== data.address) {
    view.code.textContent = data.address;
    view.said = "copy";
  }
  view.words = data.words;
  view.button.textContent = view.words[view.said];
}

function part(parent, tag, className = "") {
  const made = parent.appendChild(document.createElement(tag));
  made.className = className;
  return made;
}

function built(parentElement) {
  const root = part(parentElement, "div", "link");
  const view = { code: part(root, "code"), button: part(root, "button"), said: "copy" };
  view.button.type = "button";
  view.button.setAttribute("aria-live", "polite");
  view.button.addEventListener("click", () => copy(view));
  return view;
}

async function copy(view) {
  try {
    await navigator.clipboard.writeText(view.code.textContent);
    view.said = "copied";
  } catch {
    view.said = selected(view.code) && document.execCommand("copy") ? "copied" : "by hand";
  }
  view.button.textContent = view.words[view.said];
}

function selected(element) {
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = window.getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  return true;
}
