// How much is kept at each epsilon, with a handle that walks along the curve. Everything it shows
// was handed to it; between measured points the curve is a straight line, and the words say so.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 300;
const AROUND = { left: 46, right: 14, top: 26, bottom: 44 };
const NAMES = { width: 104, height: 15 }; // of thin lines, at their right ends
const ROOMY = 250; // width from which the space above the curve has room for its name
const LOWEST = -0.5; // the axis ends here; what lies below it has an arrow
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
    view.at = data.now;
    views.set(parentElement, view);
    listen(view);
    new ResizeObserver(() => draw(view)).observe(view.plot);
    enter(view);
  }
  const epsilon = view.data.stops[view.at].epsilon;
  view.data = data;
  view.at = nearest(data.stops, (stop) => Math.log(stop.epsilon / epsilon));
  view.release = (released) => setTriggerValue("released", released);
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
  const spoken = part(root, "spoken");
  spoken.setAttribute("aria-live", "polite");
  return { root, plot, svg, handle, facts, spoken, held: false };
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
  const right = width - (data.others.length ? NAMES.width : AROUND.right);
  view.right = right;
  view.bottom = lowest(data);
  view.x = (epsilon) => AROUND.left + share(data, epsilon) * (right - AROUND.left);
  view.y = (kept) => AROUND.top
    + (1 - Math.max(view.bottom, kept)) / (1 - view.bottom) * (HEIGHT - AROUND.top - AROUND.bottom);
  svg.replaceChildren();
  frame(view);
  for (const line of data.others) thin(view, line);
  curve(view);
  names(view);
  show(view);
}

// Where the axis of shares ends: at 0, or below the smallest share.
function lowest(data) {
  const shares = data.stops.map((stop) => stop.low);
  for (const line of data.others) shares.push(...line.points.map(([, kept]) => kept));
  const smallest = Math.min(...shares);
  return smallest < 0 ? Math.max(LOWEST, smallest - 0.05) : 0;
}

function frame({ svg, data, x, y, right, bottom }) {
  for (const [kept, kind] of [[1, "best"], [0, "floor"]])
    shape(svg, "line", { x1: AROUND.left, x2: right, y1: y(kept), y2: y(kept), class: kind });
  const place = { x: AROUND.left + 2, y: y(1) - 7, class: "name" };
  const best = shape(svg, "text", place, data.words.best);
  if (best.getComputedTextLength() > right - AROUND.left) best.textContent = data.words.bestShort;
  shape(svg, "text", { x: right - 2, y: y(0) - 7, class: "name end" }, data.words.floor);
  for (const kept of [LOWEST, 0, 0.5, 1])
    if (kept >= bottom)
      shape(svg, "text", { x: AROUND.left - 8, y: y(kept) + 4, class: "tick end" },
        `${100 * kept}%`.replace("-", "−"));
  for (const epsilon of [0.1, 0.3, 1, 3, 10, 30])
    shape(svg, "text", { x: x(epsilon), y: y(bottom) + 18, class: "tick middle" }, epsilon);
  shape(svg, "text", { x: AROUND.left, y: HEIGHT - 6, class: "tick" }, `← ${data.words.low}`);
  shape(svg, "text", { x: (AROUND.left + right) / 2, y: HEIGHT - 6, class: "tick middle" }, "ε");
  shape(svg, "text", { x: right, y: HEIGHT - 6, class: "tick end" }, `${data.words.high} →`);
}

function joined(points) {
  return points.map((point) => point.join(",")).join(" ");
}

function curve(view) {
  const { svg, data, x, y, right } = view;
  const { stops } = data;
  const points = stops.map((stop) => [x(stop.epsilon), y(stop.kept)]);
  const measured = stops.filter((stop) => stop.measured);
  const edge = (end) => measured.map((stop) => [x(stop.epsilon), y(stop[end])]);
  const above = [[points[points.length - 1][0], y(1)], [points[0][0], y(1)]];
  shape(svg, "polygon", { points: joined([...points, ...above]), class: "price-of-it" });
  shape(svg, "polygon", {
    points: joined([...edge("low"), ...edge("high").reverse()]), class: "band",
  });
  shape(svg, "polyline", { points: joined(points), class: "curve" });
  for (const stop of measured) mark(view, stop.epsilon, stop.kept, stop.colour);
  if (right - AROUND.left > ROOMY)
    shape(svg, "text", { x: AROUND.left + 14, y: y(0.8), class: "label" }, data.words.price);
}

function thin(view, line) {
  const points = line.points.map(([epsilon, kept]) => [view.x(epsilon), view.y(kept)]);
  shape(view.svg, "polyline", { points: joined(points), class: "thin", stroke: line.colour });
  for (const [epsilon, kept] of line.points)
    if (kept < view.bottom) mark(view, epsilon, kept, line.colour);
}

// A point, or an arrow down to one that lies below the axis.
function mark({ svg, x, y, bottom }, epsilon, kept, fill) {
  const [across, down] = [x(epsilon), y(kept)];
  if (kept >= bottom) shape(svg, "circle", { cx: across, cy: down, r: 3.5, fill });
  else shape(svg, "path", { d: `M${across - 5} ${down}h10l-5 8z`, fill });
}

// The lines' names at their right ends, moved apart where they would cover each other.
function names({ svg, data, y, right }) {
  if (!data.others.length) return;
  const { kept } = data.stops[data.stops.length - 1];
  const own = { name: data.words.own, colour: "currentColor", kept, kind: "label" };
  const others = data.others.map(({ name, colour, points }) =>
    ({ name, colour, kept: points[points.length - 1][1], kind: "" }));
  const labels = [own, ...others].sort((one, other) => other.kept - one.kept);
  let below = AROUND.top;
  for (const { name, colour, kept, kind } of labels) {
    const at = Math.max(y(kept), below);
    below = at + NAMES.height;
    const points = joined([[right, y(kept)], [right + 10, at]]);
    shape(svg, "polyline", { points, class: "thin", stroke: colour });
    shape(svg, "text", { x: right + 13, y: at + 4, class: kind }, name);
  }
}

function show(view) {
  const { data, handle, facts } = view;
  const stop = data.stops[view.at];
  handle.style.left = `${view.x(stop.epsilon)}px`;
  handle.style.top = `${view.y(stop.kept)}px`;
  handle.style.background = stop.colour;
  handle.setAttribute("aria-label", data.words.name);
  handle.setAttribute("aria-valuemin", data.stops[0].epsilon);
  handle.setAttribute("aria-valuemax", data.stops[data.stops.length - 1].epsilon);
  handle.setAttribute("aria-valuenow", stop.epsilon);
  const [epsilon, kept] = stop.facts.map(({ number }) => number);
  handle.setAttribute("aria-valuetext", `${epsilon}, ${kept}`);
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

function nearest(stops, away) {
  const distances = stops.map((stop) => Math.abs(away(stop)));
  return distances.indexOf(Math.min(...distances));
}

function move(view, place) {
  view.walking = undefined;
  view.at = Math.min(view.data.stops.length - 1, Math.max(0, place));
  if (view.x) show(view);
  tell(view);
  if (!view.held || !view.data.follows || view.due !== undefined) return;
  view.due = setTimeout(() => {
    view.due = undefined;
    if (view.held) view.release(view.data.stops[view.at].epsilon);
  }, FOLLOW);
}

// The page's other components follow in the browser.
function tell(view) {
  const detail = { epsilon: view.data.stops[view.at].epsilon, held: view.held };
  window.dispatchEvent(new CustomEvent("dpmf:epsilon", { detail }));
}

function under(view, event) {
  const left = event.clientX - view.plot.getBoundingClientRect().left;
  return nearest(view.data.stops, (stop) => view.x(stop.epsilon) - left);
}

function letGo(view) {
  clearTimeout(view.rest);
  if (!view.held) return;
  view.held = false;
  view.root.classList.remove("held");
  tell(view);
  const { facts, epsilon } = view.data.stops[view.at];
  // once, not at each value that a held handle passes; the first fact is what the handle says
  view.spoken.textContent = facts.slice(1).map(({ number, words }) => `${number}: ${words}`).join(" ");
  view.release(epsilon);
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
  handle.addEventListener("blur", () => {
    letGo(view);
    view.spoken.textContent = ""; // the page holds the same words
  });
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
