// A slider of epsilon on a logarithmic scale. While it is held it says so to the whole page by
// `dpmf:epsilon`; the session hears of it when it is released.

const PAGE = 5; // stops that a page key moves by
const REST = 300; // milliseconds after the last key until its value counts as released
const NEAR = 1.04; // a mark is named where the handle is within this factor of it
const KEYS = {
  ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1,
  PageUp: PAGE, PageDown: -PAGE, Home: -Infinity, End: Infinity,
};
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  let view = views.get(parentElement);
  if (view === undefined) {
    view = built(parentElement, data);
    views.set(parentElement, view);
    listen(view);
  }
  view.data = data;
  view.release = (epsilon) => setTriggerValue("released", epsilon);
  label(view);
  if (!view.held) {
    view.at = data.now;
    show(view);
  }
}

// ---- what is drawn --------------------------------------------------------------------------

function part(parent, className, tag = "div") {
  const made = parent.appendChild(document.createElement(tag));
  made.className = className;
  return made;
}

function built(parentElement, data) {
  const root = part(parentElement, `slider ${data.place}`);
  const head = part(root, "head");
  const name = part(head, "name");
  const value = part(head, "value");
  const rail = part(root, "rail");
  rail.setAttribute("role", "slider");
  rail.setAttribute("aria-orientation", "horizontal");
  part(rail, "line");
  const marks = part(rail, "marks");
  const handle = part(rail, "handle");
  const scale = part(root, "scale");
  const ends = part(root, "ends");
  const low = part(ends, "low");
  const high = part(ends, "high");
  const near = part(root, "near");
  const meaning = part(root, "meaning");
  const spoken = part(root, "spoken");
  spoken.setAttribute("aria-live", "polite");
  if (data.place === "bar") part(parentElement, "room");
  return { root, name, value, rail, marks, handle, scale, low, high, near, meaning, spoken,
    held: false };
}

function label(view) {
  const { data, rail } = view;
  view.name.textContent = data.labels.name;
  view.low.textContent = `← ${data.labels.low}`;
  view.high.textContent = `${data.labels.high} →`;
  rail.setAttribute("aria-label", data.labels.name);
  rail.setAttribute("aria-valuemin", first(data).epsilon);
  rail.setAttribute("aria-valuemax", last(data).epsilon);
  rail.setAttribute("aria-disabled", data.fixed);
  rail.tabIndex = data.fixed ? -1 : 0;
  view.root.classList.toggle("fixed", data.fixed);
  view.marks.replaceChildren(...data.marks.map((mark) => {
    const made = placed("mark", mark.epsilon, data);
    made.title = `${mark.name}: ε = ${mark.epsilon}`;
    return made;
  }));
  view.scale.replaceChildren(...[0.1, 1, 10, 100].map((epsilon) => {
    const made = placed("tick", epsilon, data);
    made.textContent = epsilon;
    return made;
  }));
}

function placed(className, epsilon, data) {
  const made = document.createElement("span");
  made.className = className;
  made.style.left = `${100 * share(epsilon, data)}%`;
  made.setAttribute("aria-hidden", "true");
  return made;
}

function show(view) {
  const { data, at, rail } = view;
  const now = `ε = ${at.epsilon}`;
  view.value.textContent = now;
  view.handle.style.left = `${100 * share(at.epsilon, data)}%`;
  view.meaning.textContent = at.meaning;
  const mark = data.marks.find((it) => factor(it.epsilon, at.epsilon) <= NEAR);
  view.near.textContent = mark === undefined
    ? data.marks.length ? `◆ ${data.labels.marks}` : ""
    : `◆ ${mark.name}: ${mark.epsilon}`;
  rail.setAttribute("aria-valuenow", at.epsilon);
  rail.setAttribute("aria-valuetext", mark === undefined ? now : `${now}, ${mark.name}`);
}

// ---- the scale ------------------------------------------------------------------------------

const first = (data) => data.stops[0];
const last = (data) => data.stops[data.stops.length - 1];
const factor = (one, other) => Math.exp(Math.abs(Math.log(one / other)));

// How far along the line an epsilon lies, from 0 to 1.
function share(epsilon, data) {
  const [low, high] = [first(data), last(data)].map((stop) => Math.log(stop.epsilon));
  return Math.min(1, Math.max(0, (Math.log(epsilon) - low) / (high - low)));
}

function nearest(stops, wanted, data) {
  const away = (stop) => Math.abs(share(stop.epsilon, data) - wanted);
  return stops.reduce((best, stop) => (away(stop) < away(best) ? stop : best));
}

// The stop so many further; of an epsilon between two stops the next one counts as one further.
function further(view, by) {
  const { stops } = view.data;
  const below = stops.filter((stop) => stop.epsilon < view.at.epsilon).length;
  const stands = stops[below]?.epsilon === view.at.epsilon;
  const place = below + by - (stands || by < 0 ? 0 : 1);
  return stops[Math.min(stops.length - 1, Math.max(0, place))];
}

// ---- what a person does ---------------------------------------------------------------------

function tell(view) {
  const detail = { epsilon: view.at.epsilon, held: view.held };
  window.dispatchEvent(new CustomEvent("dpmf:epsilon", { detail }));
}

function hold(view, stop) {
  const moved = stop.epsilon !== view.at.epsilon;
  if (!moved && view.held) return;
  view.held = true;
  view.at = stop;
  show(view);
  if (moved) tell(view);
}

function letGo(view) {
  clearTimeout(view.rest);
  if (!view.held) return;
  view.held = false;
  view.root.classList.remove("held");
  tell(view);
  if (view.at.epsilon === view.data.now.epsilon) return;
  view.spoken.textContent = view.at.meaning; // once, not at each value that a held handle passes
  view.release(view.at.epsilon);
}

function listen(view) {
  const { rail } = view;
  const under = (event) => {
    const box = rail.getBoundingClientRect();
    return nearest(view.data.stops, (event.clientX - box.left) / box.width, view.data);
  };
  rail.addEventListener("pointerdown", (event) => {
    if (view.data.fixed || event.button !== 0) return;
    rail.setPointerCapture(event.pointerId);
    rail.focus();
    view.root.classList.add("held");
    const mark = view.data.marks[[...view.marks.children].indexOf(event.target)];
    hold(view, mark ?? under(event));
  });
  rail.addEventListener("pointermove", (event) => {
    if (rail.hasPointerCapture(event.pointerId) && view.held) follow(view, event, under);
  });
  rail.addEventListener("pointerup", () => letGo(view));
  rail.addEventListener("pointercancel", () => {
    if (view.held) view.at = view.data.now; // the browser scrolls instead
    show(view);
    letGo(view);
  });
  rail.addEventListener("keydown", (event) => {
    const by = KEYS[event.key];
    if (by === undefined || view.data.fixed || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    hold(view, further(view, by));
    clearTimeout(view.rest);
    view.rest = setTimeout(() => letGo(view), REST);
  });
  rail.addEventListener("blur", () => {
    letGo(view);
    view.spoken.textContent = ""; // the page holds the same words
  });
}

// A hand that trembles on a mark stays on it.
function follow(view, event, under) {
  const stop = under(event);
  const onMark = view.data.marks.includes(view.at);
  if (onMark && factor(stop.epsilon, view.at.epsilon) <= 1.13) return;
  hold(view, stop);
}
