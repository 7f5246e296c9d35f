// A headline, the share kept or the error against epsilon, and one person's list. All follow
// `dpmf:epsilon` while the slider is held, from the data that came with the page: what lies between
// two measured points is linear in log epsilon, and is drawn and said to be between them.

import { close, explained, filled, heading, nearest, part, sayDrawn, shown, table }
  from "../dpmf.story/story.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 250;
const MARGIN = { left: 44, top: 14, bottom: 40 };
const NAMES = { wide: 104, narrow: 80 }; // room for the names of lines on the right
const NARROW = 420; // width below which names are short
const LETTERS = { wide: 15, narrow: 11 }; // in a row of a name
const ROW = 14; // height of a row of a name
const TICKS = [0.1, 0.3, 1, 3, 10, 30, 100];
const UNIT = "dpmf.explore.unit"; // in the browser's session: the unit of the figure
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
  view.show = (method) => setTriggerValue("method_shown", method);
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
  const units = part(figure, "div", "units");
  units.setAttribute("role", "group");
  const plot = part(figure, "div", "plot");
  const caption = part(figure, "figcaption");
  const numbers = part(figure, "details");
  const list = part(both, "section", "list");
  const methods = part(root, "div", "methods");
  methods.setAttribute("role", "group");
  return { ...story, units, plot, caption, numbers, list, methods, held: false };
}

function drawn(view) {
  if (view.data === undefined || view.plot.clientWidth === 0) return;
  view.root.classList.toggle("stale", view.data.stale);
  view.unit = unitOf(view.data);
  units(view);
  figure(view);
  table(view.numbers, view.data.words, view.data.points);
  view.details = document.createElement("p");
  view.numbers.firstChild.after(view.details);
  methods(view);
  mark(view);
}

// ---- the unit -------------------------------------------------------------------------------

function unitOf({ units: known }) {
  const remembered = sessionStorage.getItem(UNIT);
  return known.includes(remembered) ? remembered : known[0];
}

// Which of the units is drawn; a click draws the other one and asks nothing of the server.
function units(view) {
  const { data } = view;
  const focused = view.plot.getRootNode().activeElement?.dataset.unit;
  view.units.replaceChildren();
  for (const unit of data.units) {
    const button = part(view.units, "button", "", data.words.units[unit]);
    button.type = "button";
    button.dataset.unit = unit;
    button.setAttribute("aria-pressed", String(unit === view.unit));
    button.addEventListener("click", () => {
      sessionStorage.setItem(UNIT, unit);
      drawn(view);
    });
    if (unit === focused) button.focus();
  }
}

// A click on a method draws the page with it.
function methods(view) {
  const { data } = view;
  view.methods.setAttribute("aria-label", data.words.methods);
  view.methods.replaceChildren();
  for (const { id, title, shown: isShown } of data.methods) {
    const button = part(view.methods, "button", "", title);
    button.type = "button";
    button.setAttribute("aria-pressed", String(isShown));
    button.addEventListener("click", () => view.show(id));
  }
}

// The points that have a figure in the unit that is drawn.
const pointsOf = ({ data, unit }) => data.points.filter((point) => point[unit] !== null);

// ---- what is known at an epsilon ------------------------------------------------------------

function known(data, epsilon) {
  const points = data.points;
  const at = points.find((point) => close(point.epsilon, epsilon));
  if (at !== undefined) return { measured: true, low: at, high: at };
  const above = points.findIndex((point) => point.epsilon > epsilon);
  if (above <= 0) return null;
  const [low, high] = [points[above - 1], points[above]];
  const part = Math.log(epsilon / low.epsilon) / Math.log(high.epsilon / low.epsilon);
  return { measured: false, low, high, part };
}

// The figure of a unit there; null without one.
function valueOf({ measured, low, high, part }, unit) {
  if (low[unit] === null || high[unit] === null) return null;
  if (measured) return low[unit].median;
  return (1 - part) * low[unit].median + part * high[unit].median;
}

function printed(view, unit, value) {
  if (unit === "error") return value.toFixed(view.data.digits);
  const percent = Math.round(100 * value);
  return `${percent === 0 ? 0 : percent}%`;
}

// ---- the figure -----------------------------------------------------------------------------

function draw(parent, tag, attributes, text = "") {
  const made = parent.appendChild(document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return made;
}

function scales(view) {
  const { data, unit } = view;
  const width = view.plot.clientWidth;
  const narrow = width < NARROW;
  const inner = { left: MARGIN.left, right: width - (narrow ? NAMES.narrow : NAMES.wide),
    top: MARGIN.top, bottom: HEIGHT - MARGIN.bottom };
  const values = [...data.levels.map((level) => level[unit]),
    ...pointsOf(view).flatMap((point) => [point[unit].low, point[unit].high]),
    ...data.others.flatMap((line) => line.points.map((point) => point[unit]))]
    .filter((value) => value !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const pad = 0.1 * (most - least || 1);
  const [low, high] = [least - pad, most + pad];
  const [from, to] = data.range.map(Math.log);
  const x = (epsilon) => inner.left
    + (inner.right - inner.left) * Math.min(1, Math.max(0, (Math.log(epsilon) - from) / (to - from)));
  const y = (value) => inner.bottom - (inner.bottom - inner.top) * (value - low) / (high - low);
  return { width, narrow, inner, x, y, low, high };
}

function figure(view) {
  const scale = view.scale = scales(view);
  const { data } = view;
  const focused = view.dots?.indexOf(view.plot.getRootNode().activeElement) ?? -1;
  view.plot.replaceChildren();
  const svg = draw(view.plot, "svg", {
    width: scale.width, height: HEIGHT, role: "group", "aria-label": data.alt });
  view.plot.style.setProperty("--private", data.colour);
  axes(svg, view, scale);
  for (const line of data.others) thin(svg, view, line);
  band(svg, view, scale);
  const floor = data.levels.map((level) => levelLine(svg, view, level)).at(-1);
  worse(svg, view, floor);
  lineNames(svg, view);
  dots(svg, view, scale);
  view.marker = draw(svg, "g", { class: "marker", "aria-hidden": "true" });
  if (focused >= 0) view.dots[Math.min(focused, view.dots.length - 1)]?.focus();
}

function axes(svg, view, { inner, x, y, low, high }) {
  const made = draw(svg, "g", { class: "axes", "aria-hidden": "true" });
  const [from, to] = view.data.range;
  for (const epsilon of TICKS.filter((tick) => tick >= from && tick <= to)) {
    draw(made, "line", { x1: x(epsilon), x2: x(epsilon), y1: inner.top, y2: inner.bottom });
    draw(made, "text", { x: x(epsilon), y: inner.bottom + 15, "text-anchor": "middle" },
      epsilon);
  }
  for (const value of valueTicks(view, low, high)) {
    const text = view.unit === "share" ? printed(view, "share", value) : value.toFixed(2);
    draw(made, "text", { x: inner.left - 6, y: y(value) + 4, "text-anchor": "end" }, text);
  }
  const places = { start: inner.left, middle: (inner.left + inner.right) / 2, end: inner.right };
  for (const [anchor, text] of Object.entries(view.data.words.across)) {
    draw(made, "text", { x: places[anchor], y: HEIGHT - 6, "text-anchor": anchor }, text);
  }
}

function valueTicks({ unit }, low, high) {
  const step = 10 ** Math.floor(Math.log10((high - low) / 2));
  let every = step;
  if ((high - low) / step > 6) every = 2 * step;
  if ((high - low) / step > 12) every = 5 * step;
  if (unit === "share") every = high - low > 2 ? 0.5 : 0.25;
  const ticks = [];
  for (let tick = Math.ceil(low / every); tick * every < high; tick += 1) ticks.push(tick * every);
  return ticks;
}

const along = (points, { x, y }, value) =>
  points.map((point) => `${x(point.epsilon)},${y(value(point))}`).join(" ");

function thin(svg, { scale, unit }, { colour, points }) {
  const some = points.filter((point) => point[unit] !== null);
  const made = draw(svg, "polyline", { class: "other",
    points: along(some, scale, (point) => point[unit]) });
  made.style.stroke = colour;
}

// The line of medians, and the range over draws as a band.
function band(svg, view, scale) {
  const { unit } = view;
  const points = pointsOf(view);
  const back = [...points].reverse();
  draw(svg, "polygon", { class: "band", points: `${along(points, scale, (one) => one[unit].low)} `
    + along(back, scale, (one) => one[unit].high) });
  draw(svg, "polyline", { class: "private",
    points: along(points, scale, (one) => one[unit].median) });
}

// The best known method's name stands on the left, where private lines are far; the floor's on the
// right, on the side away from them.
function levelLine(svg, view, level) {
  const { inner, y } = view.scale;
  const at = y(level[view.unit]);
  draw(svg, "line", { class: `level ${level.kind}`, x1: inner.left, x2: inner.right, y1: at, y2: at });
  const isFloor = level.kind === "floor";
  const isUp = view.unit === "error";
  const place = isFloor
    ? { x: inner.right - 2, "text-anchor": "end", y: at + (isUp ? -5 : 14) }
    : { x: inner.left + 4, y: at + (isUp ? 14 : -5) };
  const { name, short } = level;
  const text = draw(svg, "text", { class: `name level-name ${level.kind}`, ...place },
    name[view.unit]);
  if (text.getComputedTextLength() > inner.right - inner.left - 8) text.textContent = short[view.unit];
  return text;
}

// What lies below 0%, if anything does and the words have room next to the floor's name.
function worse(svg, view, floorName) {
  const { inner, y, low } = view.scale;
  if (view.unit !== "share" || low > -0.02) return;
  const text = draw(svg, "text", { class: "name note", x: inner.left + 4, y: y(0) + 14 },
    view.data.words.worse);
  const room = inner.right - inner.left - floorName.getComputedTextLength();
  if (text.getComputedTextLength() + 20 > room) text.remove();
}

// ---- the names of lines, at their right ends ------------------------------------------------

function lineNames(svg, view) {
  const { data, unit, scale } = view;
  const own = pointsOf(view).at(-1);
  const lines = [{ ...data.method, colour: data.colour, className: "private",
    value: own?.[unit].median }];
  for (const line of data.others) {
    lines.push({ ...line, className: "other", value: line.points.at(-1)?.[unit] });
  }
  const labels = lines.filter(({ value }) => value !== null && value !== undefined)
    .map((line) => ({ ...line, rows: rowsOf(scale.narrow ? line.short : line.name, scale.narrow),
      middle: scale.y(line.value) }));
  spread(labels, scale.inner);
  const { right } = scale.inner;
  for (const { rows, top, middle, height, colour, className } of labels) {
    const lead = draw(svg, "line", { class: `lead ${className}`, x1: right + 1, y1: middle,
      x2: right + 9, y2: top + height / 2 });
    lead.style.stroke = colour;
    const made = draw(svg, "text", { class: `name line-name ${className}` });
    rows.forEach((row, place) => draw(made, "tspan",
      { x: right + 12, y: top + ROW * (place + 0.75) }, row));
  }
}

function rowsOf(name, narrow) {
  const most = narrow ? LETTERS.narrow : LETTERS.wide;
  const rows = [];
  for (const word of name.split(" ")) {
    const longer = rows.length ? `${rows.at(-1)} ${word}` : word;
    if (rows.length && longer.length <= most) rows[rows.length - 1] = longer;
    else rows.push(word);
  }
  return rows;
}

// Gives each label its top, near its line's end, so that none overlaps another.
function spread(labels, { bottom }) {
  labels.sort((one, other) => one.middle - other.middle);
  let free = 0;
  for (const label of labels) {
    label.height = ROW * label.rows.length;
    label.top = Math.max(free, label.middle - label.height / 2);
    free = label.top + label.height;
  }
  let end = bottom + ROW;
  for (const label of [...labels].reverse()) {
    label.top = Math.min(label.top, end - label.height);
    end = label.top;
  }
}

// ---- measured points ------------------------------------------------------------------------

// Each can be reached by keyboard, and chosen.
function dots(svg, view, { x, y }) {
  const { unit } = view;
  const points = pointsOf(view);
  view.dots = points.map((point) => {
    const made = draw(svg, "g", { class: "dot", role: "button", tabindex: "-1",
      "aria-label": point.label });
    made.style.setProperty("--private", point.colour);
    for (const value of point[unit].values) {
      draw(made, "circle", { class: "draw", cx: x(point.epsilon), cy: y(value), r: 2 });
    }
    const middle = { cx: x(point.epsilon), cy: y(point[unit].median) };
    draw(made, "circle", { class: "reach", ...middle, r: 11 });
    draw(made, "circle", { class: "median", ...middle, r: 4.5 });
    draw(made, "title", {}, point.label);
    made.addEventListener("click", () => choose(view, point));
    made.addEventListener("keydown", (event) => keyed(view, event, points.indexOf(point)));
    return made;
  });
  const here = points.indexOf(nearest(points, view.at));
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

function keyed(view, event, place) {
  const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  const next = view.dots[place + (by ?? 0)];
  if (by !== undefined && next !== undefined) {
    for (const dot of view.dots) dot.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  } else if (event.key === "Enter" || event.key === " ") {
    choose(view, pointsOf(view)[place]);
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
  if (view.data.stale) return;
  const here = x(view.at);
  draw(view.marker, "line", { class: "now", x1: here, x2: here, y1: inner.top, y2: inner.bottom });
  const value = found === null ? null : valueOf(found, view.unit);
  if (value === null) return;
  view.marker.style.setProperty("--private", found.low.colour);
  draw(view.marker, "circle", { class: found.measured ? "measured" : "between", cx: here,
    cy: y(value), r: 7 });
  const words = printed(view, view.unit, value);
  const text = draw(view.marker, "text", { class: "name value", y: y(value) - 13,
    "text-anchor": "middle" }, found.measured ? words : `≈ ${words}`);
  const half = text.getComputedTextLength() / 2;
  text.setAttribute("x", Math.min(inner.right - half, Math.max(inner.left + half + 4, here)));
}

function words(view, found) {
  const { data, at } = view;
  const say = data.words;
  if (data.stale) {
    explained(view, view.title, data.title);
    view.sentence.textContent = data.sentence;
    view.status.textContent = say.stale;
    return;
  }
  view.status.textContent = "";
  view.details.textContent = found?.measured ? found.low.details : "";
  if (found === null) {
    const nothing = filled(say.unknown, { epsilon: shown(at) });
    explained(view, view.title, view.held ? nothing : data.title || nothing);
    view.sentence.textContent = view.held ? "" : data.sentence;
  } else if (found.measured) {
    explained(view, view.title, found.low.title);
    explained(view, view.sentence, found.low.sentence);
  } else {
    between(view, found);
  }
  view.caption.textContent = say.caption;
}

function between(view, found) {
  const { data, at } = view;
  const say = data.words;
  const share = valueOf(found, "share");
  const isOne = found.low.method === found.high.method;
  const values = { epsilon: shown(at), low: shown(found.low.epsilon),
    high: shown(found.high.epsilon), method: isOne ? found.low.method : say.several,
    share: share === null ? "" : printed(view, "share", share),
    private: printed(view, "error", valueOf(found, "error")) };
  let clause = say.between;
  if (share !== null && values.share.startsWith("-")) clause = say.betweenWorse;
  if (share !== null && share >= 1) clause = say.betweenBetter;
  explained(view, view.title, filled(`${say.start} ${clause}`, values));
  explained(view, view.sentence, filled(say.sentence, values));
  const pending = data.pending ? ` ${say.pending}` : "";
  view.status.textContent = filled(say.interpolated, values) + pending;
}

// ---- one person's list ----------------------------------------------------------------------

function list(view) {
  const { data, at } = view;
  const there = data.lists?.at ?? [];
  view.list.hidden = there.length === 0;
  if (there.length === 0) return;
  const { words: say, lists } = data;
  const now = nearest(there, at);
  const kept = new Set(now.items.map((item) => item.id));
  const before = new Set(now.open.map((item) => item.id));
  const came = now.items.filter((item) => !before.has(item.id));
  const stay = now.open.filter((item) => kept.has(item.id)).length;
  view.list.replaceChildren();
  const epsilon = shown(now.epsilon);
  const values = { epsilon, stay, all: now.open.length, person: lists.person };
  part(view.list, "h2", "", filled(say.list, values));
  part(view.list, "p", "stay", filled(close(now.epsilon, at) ? say.stay : say.stayNear, values));
  const rows = part(view.list, "ul");
  for (const item of now.open) {
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
