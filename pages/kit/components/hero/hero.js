// A headline, error against epsilon, and one person's list. All three follow `dpmf:epsilon` while
// the slider is held, from the data that came with the page: what lies between two measured points
// is linear in log epsilon, and is drawn and said to be between them.

import { close, explained, filled, heading, nearest, part, sayDrawn, shown, table }
  from "../dpmf.story/story.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 250;
const MARGIN = { left: 44, right: 14, top: 14, bottom: 40 };
const TICKS = [0.1, 0.3, 1, 3, 10, 30, 100];
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  let view = views.get(parentElement);
  if (view === undefined) {
    view = built(parentElement);
    views.set(parentElement, view);
    view.hear = (event) => move(view, event.detail);
    view.resize = new ResizeObserver(() => drawn(view));
  }
  view.data = data;
  view.pick = (epsilon) => setTriggerValue("picked", epsilon);
  if (!view.held) view.at = data.epsilon;
  window.addEventListener("dpmf:epsilon", view.hear);
  view.resize.observe(view.plot);
  drawn(view);
  sayDrawn(view, data, setTriggerValue);
  return () => {
    window.removeEventListener("dpmf:epsilon", view.hear);
    view.resize.disconnect();
  };
}

function move(view, { epsilon, held }) {
  if (!(epsilon > 0)) return;
  view.held = held;
  view.at = epsilon;
  mark(view);
}

// ---- parts of the page ----------------------------------------------------------------------

function built(parentElement) {
  const root = part(parentElement, "div", "story hero");
  const story = heading(root);
  const both = part(root, "div", "figures both");
  const figure = part(both, "figure");
  const plot = part(figure, "div", "plot");
  const caption = part(figure, "figcaption");
  const numbers = part(figure, "details");
  const list = part(both, "section", "list");
  return { ...story, plot, caption, numbers, list, held: false };
}

function drawn(view) {
  if (view.data === undefined || view.plot.clientWidth === 0) return;
  view.root.classList.toggle("stale", view.data.stale);
  figure(view);
  table(view.numbers, view.data.words, view.data.points);
  mark(view);
}

// ---- what is known at an epsilon ------------------------------------------------------------

function known(data, epsilon) {
  const points = data.points;
  const at = points.find((point) => close(point.epsilon, epsilon));
  if (at !== undefined) return { measured: true, low: at, high: at, value: at.median };
  const above = points.findIndex((point) => point.epsilon > epsilon);
  if (above <= 0) return null;
  const [low, high] = [points[above - 1], points[above]];
  const share = Math.log(epsilon / low.epsilon) / Math.log(high.epsilon / low.epsilon);
  const value = (1 - share) * low.median + share * high.median;
  return { measured: false, low, high, value, share };
}

// ---- the figure -----------------------------------------------------------------------------

function draw(parent, tag, attributes, text = "") {
  const made = parent.appendChild(document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return made;
}

function scales(view) {
  const { points, best, trivial } = view.data;
  const width = view.plot.clientWidth;
  const inner = { left: MARGIN.left, right: width - MARGIN.right,
    top: MARGIN.top, bottom: HEIGHT - MARGIN.bottom };
  const values = [best.median, trivial.median, below(view.data).median,
    ...points.flatMap((it) => [it.low, it.high])];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const pad = 0.12 * (most - least || 1);
  const [low, high] = [least - pad, most + pad];
  const [from, to] = view.data.range.map(Math.log);
  const x = (epsilon) => inner.left
    + (inner.right - inner.left) * Math.min(1, Math.max(0, (Math.log(epsilon) - from) / (to - from)));
  const y = (value) => inner.bottom - (inner.bottom - inner.top) * (value - low) / (high - low);
  return { width, inner, x, y, low, high };
}

// What noise is measured against: the same method without it, else the best known one.
const below = (data) => data.open ?? data.best;

function figure(view) {
  const scale = view.scale = scales(view);
  const { data } = view;
  const focused = view.dots?.indexOf(view.plot.getRootNode().activeElement) ?? -1;
  view.plot.replaceChildren();
  const svg = draw(view.plot, "svg", {
    width: scale.width, height: HEIGHT, role: "group", "aria-label": data.alt });
  axes(svg, view, scale);
  area(svg, data, scale);
  level(svg, scale, data.trivial, "trivial", -7);
  level(svg, scale, data.best, "best", 16);
  if (data.open !== null) level(svg, scale, data.open, "open", -7);
  dots(svg, view, scale);
  view.marker = draw(svg, "g", { class: "marker", "aria-hidden": "true" });
  view.plot.style.setProperty("--private", data.colour);
  if (focused >= 0) view.dots[Math.min(focused, view.dots.length - 1)]?.focus();
}

function axes(svg, view, { inner, x, y, low, high }) {
  const made = draw(svg, "g", { class: "axes", "aria-hidden": "true" });
  const [from, to] = view.data.range;
  for (const epsilon of TICKS.filter((it) => it >= from && it <= to)) {
    draw(made, "line", { x1: x(epsilon), x2: x(epsilon), y1: inner.top, y2: inner.bottom });
    draw(made, "text", { x: x(epsilon), y: inner.bottom + 15, "text-anchor": "middle" },
      epsilon);
  }
  const step = 10 ** Math.floor(Math.log10((high - low) / 2));
  const every = (high - low) / step > 6 ? 2 * step : step;
  for (let value = Math.ceil(low / every) * every; value < high; value += every) {
    draw(made, "text", { x: inner.left - 6, y: y(value) + 4, "text-anchor": "end" },
      value.toFixed(every < 0.1 ? 2 : 1));
  }
  const places = { start: inner.left, middle: (inner.left + inner.right) / 2, end: inner.right };
  for (const [anchor, text] of Object.entries(view.data.words.across)) {
    draw(made, "text", { x: places[anchor], y: HEIGHT - 6, "text-anchor": anchor }, text);
  }
}

// The range over draws as a band, and what noise costs: between the private line and the same
// method without noise.
function area(svg, data, { x, y }) {
  const { points } = data;
  const level = below(data).median;
  const along = (name, list) => list.map((it) => `${x(it.epsilon)},${y(it[name])}`).join(" ");
  const back = [...points].reverse();
  const [first, last] = [points[0], points[points.length - 1]];
  draw(svg, "polygon", { class: "price", points: `${along("median", points)} `
    + `${x(last.epsilon)},${y(level)} ${x(first.epsilon)},${y(level)}` });
  draw(svg, "polygon", { class: "band", points: `${along("low", points)} ${along("high", back)}` });
  draw(svg, "polyline", { class: "private", points: along("median", points) });
}

// The line's name stands at its end away from the marker.
function name(view, { inner, x, y }) {
  const { points, method } = view.data;
  const right = x(view.at) < (inner.left + inner.right) / 2;
  const point = right ? points[points.length - 1] : points[0];
  draw(view.marker, "text", { class: "private name", x: x(point.epsilon) + (right ? -2 : 2),
    y: y(point.high) - 12, "text-anchor": right ? "end" : "start" }, method);
}

function level(svg, { inner, y }, { median, label }, className, below) {
  const at = { x1: inner.left, x2: inner.right, y1: y(median), y2: y(median) };
  draw(svg, "line", { class: `level ${className}`, ...at });
  draw(svg, "text", { class: `name ${className}`, x: inner.left + 4, y: y(median) + below }, label);
}

// Measured points; each can be reached by keyboard, and chosen.
function dots(svg, view, { x, y }) {
  view.dots = view.data.points.map((point) => {
    const made = draw(svg, "g", { class: "dot", role: "button", tabindex: "-1",
      "aria-label": point.label });
    for (const value of point.values) {
      draw(made, "circle", { class: "draw", cx: x(point.epsilon), cy: y(value), r: 2 });
    }
    draw(made, "circle", { class: "reach", cx: x(point.epsilon), cy: y(point.median), r: 11 });
    draw(made, "circle", { class: "median", cx: x(point.epsilon), cy: y(point.median), r: 4.5 });
    draw(made, "title", {}, point.label);
    made.addEventListener("click", () => choose(view, point));
    made.addEventListener("keydown", (event) => keyed(view, event, point));
    return made;
  });
  const here = view.data.points.indexOf(nearest(view.data.points, view.at));
  view.dots[here].setAttribute("tabindex", "0");
}

function choose(view, point) {
  if (view.data.stale) return;
  view.at = point.epsilon;
  mark(view);
  window.dispatchEvent(new CustomEvent("dpmf:epsilon",
    { detail: { epsilon: point.epsilon, held: false } }));
  view.pick(point.epsilon);
}

function keyed(view, event, point) {
  const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  const next = view.dots[view.data.points.indexOf(point) + (by ?? 0)];
  if (by !== undefined && next !== undefined) {
    for (const dot of view.dots) dot.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  } else if (event.key === "Enter" || event.key === " ") {
    choose(view, point);
  } else {
    return;
  }
  event.preventDefault();
}

// ---- what follows epsilon -------------------------------------------------------------------

function mark(view) {
  const { data, at } = view;
  const found = data.stale ? null : known(data, at);
  view.root.dataset.epsilon = shown(at);
  view.root.dataset.measured = String(found?.measured ?? false);
  marker(view, found);
  words(view, found);
  list(view);
}

function marker(view, found) {
  const { inner, x, y } = view.scale;
  view.marker.replaceChildren();
  name(view, view.scale);
  if (view.data.stale) return;
  const here = x(view.at);
  draw(view.marker, "line", { class: "now", x1: here, x2: here, y1: inner.top, y2: inner.bottom });
  if (found === null) return;
  const { words } = view.data;
  const level = below(view.data).median;
  draw(view.marker, "line", { class: "cost", x1: here, x2: here, y1: y(found.value),
    y2: y(level) });
  draw(view.marker, "circle", { class: found.measured ? "measured" : "between", cx: here,
    cy: y(found.value), r: 7 });
  const gap = printed(view, found.value) - printed(view, level);
  const price = filled(gap > 0 ? words.price : words.nothing, { gap: printed(view, gap) });
  const text = draw(view.marker, "text", { class: "name cost", y: y(found.high.high) - 26,
    "text-anchor": "middle" }, found.measured ? price : `≈ ${price}`);
  const half = text.getComputedTextLength() / 2;
  text.setAttribute("x", Math.min(inner.right - half, Math.max(inner.left + half + 4, here)));
}

const printed = (view, value) => value.toFixed(view.data.digits);

function words(view, found) {
  const { data, at } = view;
  const { words: say, best, trivial } = data;
  if (data.stale) {
    explained(view, view.title, data.title);
    view.sentence.textContent = data.sentence;
    view.status.textContent = say.stale;
    return;
  }
  view.status.textContent = "";
  if (found === null) {
    const nothing = filled(say.unknown, { epsilon: shown(at) });
    explained(view, view.title, view.held ? nothing : data.title || nothing);
    view.sentence.textContent = view.held ? "" : data.sentence;
  } else if (found.measured) {
    explained(view, view.title, found.low.title);
    explained(view, view.sentence, found.low.sentence);
  } else {
    const gain = (trivial.median - found.value) / (trivial.median - best.median);
    const values = { epsilon: shown(at), low: shown(found.low.epsilon),
      high: shown(found.high.epsilon), share: `${Math.round(100 * gain)}%`,
      private: printed(view, found.value), best: best.text, trivial: trivial.text };
    const template = gain <= 0 ? say.betweenWorse : gain > 1 ? say.betweenBetter : say.between;
    explained(view, view.title, filled(template, values));
    explained(view, view.sentence, filled(say.sentence, values));
    view.status.textContent = filled(say.interpolated, values) + (data.pending ? ` ${say.pending}` : "");
  }
  view.caption.textContent = say.caption;
}

// ---- one person's list ----------------------------------------------------------------------

function list(view) {
  const { data, at } = view;
  const there = data.lists?.at ?? [];
  view.list.hidden = there.length === 0;
  if (there.length === 0) return;
  const { words: say, lists } = data;
  const now = nearest(there, at);
  const kept = new Set(now.items.map((it) => it.id));
  const before = new Set(lists.open.map((it) => it.id));
  const came = now.items.filter((it) => !before.has(it.id));
  const stay = lists.open.filter((it) => kept.has(it.id)).length;
  view.list.replaceChildren();
  const epsilon = shown(now.epsilon);
  const values = { epsilon, stay, all: lists.open.length, person: lists.person };
  part(view.list, "h2", "", filled(say.list, values));
  part(view.list, "p", "stay", filled(close(now.epsilon, at) ? say.stay : say.stayNear, values));
  const rows = part(view.list, "ul");
  for (const item of lists.open) {
    const row = part(rows, "li");
    if (kept.has(item.id)) {
      row.className = "kept";
      part(row, "span", "", item.title);
      continue;
    }
    row.className = "left";
    part(row, "del", "", item.title);
    const instead = came.shift();
    if (instead !== undefined) part(row, "ins", "", instead.title);
  }
  part(view.list, "p", "note", say.own);
}
