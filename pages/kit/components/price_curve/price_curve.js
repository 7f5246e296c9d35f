// How much is kept at each epsilon, with a handle that walks along the curve. Everything it shows
// was handed to it; between measured points the curve is a straight line, and the words say so.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 300;
const AROUND = { left: 46, right: 14, top: 26, bottom: 44 };
const FOLLOW = 200; // milliseconds between words to a session that follows a held handle
const ENTRANCE = 1600; // milliseconds in which the handle first walks to its place
const KEYS = {
  ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1,
  PageUp: 5, PageDown: -5, Home: -Infinity, End: Infinity,
};
const views = new WeakMap();
let entered = false; // once in the life of a browser's page

export default function ({ data, parentElement, setTriggerValue }) {
  let view = views.get(parentElement);
  if (view === undefined) {
    view = built(parentElement);
    view.data = data;
    view.at = data.first;
    views.set(parentElement, view);
    listen(view);
    new ResizeObserver(() => draw(view)).observe(view.plot);
    enter(view);
  }
  view.data = data;
  view.release = (epsilon) => setTriggerValue("released", epsilon);
  draw(view);
}

// ---- what is drawn --------------------------------------------------------------------------

function part(parent, className) {
  const made = parent.appendChild(document.createElement("div"));
  made.className = className;
  return made;
}

function built(parentElement) {
  const root = part(parentElement, "price");
  const plot = part(root, "plot");
  const svg = plot.appendChild(document.createElementNS(SVG, "svg"));
  svg.setAttribute("aria-hidden", "true");
  const handle = part(plot, "handle");
  handle.setAttribute("role", "slider");
  handle.tabIndex = 0;
  const facts = part(root, "facts");
  return { root, plot, svg, handle, facts, held: false };
}

function shape(parent, tag, attributes, text) {
  const made = parent.appendChild(document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function draw(view) {
  const width = view.plot.clientWidth;
  if (width === 0) return;
  const { svg, data } = view;
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  view.x = (place) => AROUND.left + share(data, place) * (width - AROUND.left - AROUND.right);
  view.y = (kept) => AROUND.top
    + (1 - Math.min(1, Math.max(0, kept))) * (HEIGHT - AROUND.top - AROUND.bottom);
  svg.replaceChildren();
  frame(view, width);
  curve(view, width);
  show(view);
}

function frame({ svg, data, x, y }, width) {
  const right = width - AROUND.right;
  for (const [kept, kind] of [[1, "best"], [data.open, "open"], [0, "trivial"]]) {
    const [at, end] = kind === "open" ? [right - 2, " end"] : [AROUND.left + 2, ""];
    shape(svg, "line", { x1: AROUND.left, x2: right, y1: y(kept), y2: y(kept), class: kind });
    shape(svg, "text", { x: at, y: y(kept) - 7, class: `name${end}` }, data.words[kind]);
  }
  for (const kept of [0, 0.5, 1])
    shape(svg, "text", { x: AROUND.left - 8, y: y(kept) + 4, class: "tick end" }, `${100 * kept}%`);
  for (const epsilon of [0.1, 0.3, 1, 3, 10, 30])
    shape(svg, "text", { x: x(epsilon), y: y(0) + 18, class: "tick middle" }, epsilon);
  shape(svg, "text", { x: AROUND.left, y: HEIGHT - 6, class: "tick" }, `← ${data.words.low}`);
  shape(svg, "text", { x: (AROUND.left + right) / 2, y: HEIGHT - 6, class: "tick middle" }, "ε");
  shape(svg, "text", { x: right, y: HEIGHT - 6, class: "tick end" }, `${data.words.high} →`);
}

function curve({ svg, data, x, y }, width) {
  const points = data.stops.map((stop) => [x(stop.epsilon), y(stop.kept)]);
  const line = points.map((point) => point.join(",")).join(" ");
  const measured = data.stops.filter((stop) => stop.measured);
  const edge = (end) => measured.map((stop) => `${x(stop.epsilon)},${y(stop[end])}`);
  const ends = [points[points.length - 1][0], points[0][0]].map((at) => `${at},${y(data.open)}`).join(" ");
  shape(svg, "polygon", { points: `${line} ${ends}`, class: "price-of-it" });
  shape(svg, "polygon", {
    points: [...edge("low"), ...edge("high").reverse()].join(" "), fill: data.colour, opacity: 0.2,
  });
  shape(svg, "polyline", { points: line, fill: "none", stroke: data.colour, "stroke-width": 2.5 });
  for (const stop of measured)
    shape(svg, "circle", { cx: x(stop.epsilon), cy: y(stop.kept), r: 3, fill: data.colour });
  const at = AROUND.left + 0.2 * (width - AROUND.left - AROUND.right);
  shape(svg, "text", { x: at, y: y(0.75), class: "label middle" }, data.words.price);
}

function show(view) {
  const { data, handle, facts } = view;
  const stop = data.stops[view.at];
  handle.style.left = `${view.x(stop.epsilon)}px`;
  handle.style.top = `${view.y(stop.kept)}px`;
  handle.style.background = data.colour;
  handle.setAttribute("aria-label", data.words.name);
  handle.setAttribute("aria-valuemin", data.stops[0].epsilon);
  handle.setAttribute("aria-valuemax", data.stops[data.stops.length - 1].epsilon);
  handle.setAttribute("aria-valuenow", stop.epsilon);
  handle.setAttribute("aria-valuetext", stop.facts.map((it) => `${it.number}: ${it.words}`).join(" "));
  while (facts.children.length < stop.facts.length) {
    const fact = part(facts, "fact");
    part(fact, "number");
    part(fact, "words");
  }
  stop.facts.forEach((fact, place) => {
    const [number, words] = facts.children[place].children;
    number.textContent = fact.number;
    words.textContent = fact.words;
  });
}

// ---- what a person does ---------------------------------------------------------------------

// How far along the axis an epsilon lies, from 0 to 1.
function share(data, epsilon) {
  const [low, high] = [data.stops[0], data.stops[data.stops.length - 1]];
  return Math.log(epsilon / low.epsilon) / Math.log(high.epsilon / low.epsilon);
}

function move(view, place) {
  view.walking = undefined;
  view.at = Math.min(view.data.stops.length - 1, Math.max(0, place));
  if (view.x) show(view);
  if (!view.held || !view.data.follows || view.due !== undefined) return;
  view.due = setTimeout(() => {
    view.due = undefined;
    if (view.held) view.release(view.data.stops[view.at].epsilon);
  }, FOLLOW);
}

function under(view, event) {
  const left = event.clientX - view.plot.getBoundingClientRect().left;
  const away = view.data.stops.map((stop) => Math.abs(view.x(stop.epsilon) - left));
  return away.indexOf(Math.min(...away));
}

function letGo(view) {
  clearTimeout(view.rest);
  if (!view.held) return;
  view.held = false;
  view.root.classList.remove("held");
  view.release(view.data.stops[view.at].epsilon);
}

function listen(view) {
  const { plot, handle } = view;
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    plot.setPointerCapture(event.pointerId);
    view.held = true;
    view.root.classList.add("held");
    move(view, under(view, event));
  });
  plot.addEventListener("pointermove", (event) => {
    if (view.held && plot.hasPointerCapture(event.pointerId)) move(view, under(view, event));
  });
  plot.addEventListener("pointerup", () => letGo(view));
  plot.addEventListener("pointercancel", () => letGo(view));
  handle.addEventListener("keydown", (event) => {
    const by = KEYS[event.key];
    if (by === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    view.held = true;
    move(view, view.at + by);
    clearTimeout(view.rest);
    view.rest = setTimeout(() => letGo(view), 300);
  });
  handle.addEventListener("blur", () => letGo(view));
}

// The handle walks once from the private end to its place, where motion is welcome. A clock ends
// the walk where frames come late or not at all, as in a tab that nobody looks at.
function enter(view) {
  const still = matchMedia("(prefers-reduced-motion: reduce), print").matches;
  if (entered || still || document.hidden) return;
  entered = true;
  const [target, began] = [view.at, performance.now()];
  view.walking = (now) => {
    if (view.walking === undefined || !view.plot.isConnected) return;
    // a frame's own time may lie before the call that asked for it
    const gone = Math.min(1, Math.max(0, (now - began) / ENTRANCE));
    view.at = Math.round(target * (1 - (1 - gone) ** 3));
    if (view.x) show(view);
    if (gone < 1) requestAnimationFrame(view.walking);
    else view.walking = undefined;
  };
  view.at = 0;
  requestAnimationFrame(view.walking);
  setTimeout(() => view.walking && move(view, target), ENTRANCE);
}
