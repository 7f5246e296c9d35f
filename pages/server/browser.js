// What a browser does otherwise than Streamlit has it.

// ---- which changes of the address are steps of the back button ------------------------------

// Streamlit makes a step of every change. A page that a person opens is one; a page that writes what it shows into its
// address is none, nor is a value, for the session keeps values, and going back would not undo it.

// without one of these the address shows another view
const VIEWS = ["view", "step", "paper"];
// without one of these the page shows its first and says so in the address
const PARTS = ["lesson", "section", "at"];

const push = history.pushState;

function isStep(target) {
  if (target.pathname !== location.pathname) return true;
  const [old, now] = [location, target].map((it) => new URLSearchParams(it.search));
  return VIEWS.some((it) => old.get(it) !== now.get(it))
    || PARTS.some((it) => old.has(it) && now.has(it) && old.get(it) !== now.get(it));
}

// What the address was before the page wrote into it. Streamlit may write what the next page holds
// before it leaves this one: the address of this one then comes back.
const BURST = 1000; // milliseconds between writes of one page
let before = null;

history.pushState = function (state, unused, url) {
  const target = new URL(url, location);
  if (!isStep(target)) {
    const now = performance.now();
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
  push.call(history, state, unused, url);
};

addEventListener("popstate", () => { before = null; });

// ---- a menu over the page closes when a person has chosen from it --------------------------

// Streamlit closes it on phones alone, not in a narrow window.
const NARROW = 768; // pixels, below which the menu lies over the page
const LINKS = "[data-testid=stSidebarNavLink], [data-testid=stPageLink-NavLink]";

addEventListener("click", ({ target }) => {
  if (innerWidth >= NARROW || !(target instanceof Element)) return;
  const menu = target.closest(LINKS)?.closest("[data-testid=stSidebar]");
  // after Streamlit's own answer to the click: the button would open what that has closed
  setTimeout(() => {
    if (menu?.dataset.collapsed !== "false") return;
    menu.querySelector("[data-testid=stSidebarCollapseButton] button").click();
  });
});
