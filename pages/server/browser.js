// Where the browser differs from Streamlit.

// ---- which changes of the address are steps of the back button ------------------------------

// Streamlit makes a step of every change. Here only an opened page or view is a step. A value that a
// page writes into its address is none: the session keeps values, so going back would not undo it.

// parameters that name a view; an address without them shows the first one
const VIEWS = ["view", "step", "paper"];
// the same, but a teacher's link writes it for each page of its sequence, whose number is in `at`
const LESSON = "lesson";
// parameters that a page writes into its address if they are missing
const PARTS = ["section", "at"];

const push = history.pushState;

const parametersOf = (address) => new URLSearchParams(address.search);

function isStep(target) {
  if (target.pathname !== location.pathname) return true;
  const [old, now] = [location, target].map(parametersOf);
  const views = now.has("class") ? VIEWS : [...VIEWS, LESSON];
  return views.some((it) => old.get(it) !== now.get(it))
    || PARTS.some((it) => old.has(it) && now.has(it) && old.get(it) !== now.get(it));
}

// What the address was before the page wrote into it. Streamlit may write what the next page holds
// before it leaves this one: the address of this one then comes back.
const BURST = 1000; // milliseconds between writes of one page
let before = null;
// whether the last step opened a view of a page; a page that is left for the same view of another page
// had only got the address of the next one, which takes its place
let isView = false;

function hasSameView(target) {
  const [old, now] = [location, target].map(parametersOf);
  return VIEWS.every((name) => old.get(name) === now.get(name));
}

history.pushState = function (state, unused, url) {
  const target = new URL(url, location);
  const now = performance.now();
  if (!isStep(target)) {
    if (before === null || now - before.last > BURST) before = { href: location.href };
    before.last = now;
    history.replaceState(state, unused, url);
    return;
  }
  const leaves = target.pathname !== location.pathname;
  if (before !== null && leaves && target.search === location.search) {
    history.replaceState(history.state, unused, before.href);
  }
  before = null;
  if (leaves && isView && hasSameView(target)) {
    isView = false;
    history.replaceState(state, unused, url);
    return;
  }
  isView = !leaves;
  push.call(history, state, unused, url);
};

addEventListener("popstate", () => {
  before = null;
  isView = false;
});

// ---- a place on a page that is now a view of its own ----------------------------------------------

// The server never sees the part of an address after #.
if (location.hash === "#many-models") {
  const address = new URL(location);
  for (const name of ["view", "from", "ledger"]) address.searchParams.delete(name);
  history.replaceState(history.state, "", address);
}

// ---- a menu over the page closes when a person has chosen from it --------------------------

// Streamlit closes it on phones alone, not in a narrow window.
const NARROW = 768; // pixels, below which the menu lies over the page
const SECTION_LINKS = "[data-testid=stSidebarNavLink], [data-testid=stTopNavLink]";
const LINKS = `${SECTION_LINKS}, [data-testid=stPageLink-NavLink]`;

addEventListener("click", ({ target }) => {
  if (innerWidth >= NARROW || !(target instanceof Element)) return;
  const menu = target.closest(LINKS)?.closest("[data-testid=stSidebar]");
  // after Streamlit's own answer to the click: the button would open what that has closed
  setTimeout(() => {
    if (menu?.dataset.collapsed !== "false") return;
    menu.querySelector("[data-testid=stSidebarCollapseButton] button").click();
  });
}, true);

// ---- a link to another view of the current section ------------------------------------------------

// Streamlit draws the current page again and leaves the address as it is.
function openHere(event, address) {
  event.preventDefault();
  event.stopPropagation();
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}

addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest(LINKS);
  if (!link || link.pathname !== location.pathname) return;
  // another tab or window opens by itself
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.matches(SECTION_LINKS)) {
    // a section leads to its first view
    const parameters = parametersOf(location);
    const showsView = [...VIEWS, LESSON].some((name) => parameters.has(name));
    if (showsView) openHere(event, location.pathname);
  } else if (isStep(link)) {
    openHere(event, link.href);
  }
}, true);

// ---- a keypad for decimal numbers --------------------------------------------------------------

// Boxes of decimal numbers are boxes of text, which take a decimal comma too. Streamlit cannot ask
// for a keypad, so a box is marked by the way that it is completed.
const DECIMAL = "[data-testid=stTextInputField][autocomplete=off]";

for (const name of ["pointerdown", "focusin"]) {
  addEventListener(name, ({ target }) => {
    if (target instanceof Element && target.matches(DECIMAL)) target.inputMode = "decimal";
  }, true);
}
