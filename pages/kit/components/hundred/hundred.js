// What an epsilon means for one person, as a hundred figures. They follow `dpmf:epsilon` while the
// slider is held, from what was computed at the epsilons of the grid.

const SVG = "http://www.w3.org/2000/svg";
const ROWS = 5;
const COLUMNS = 20;
const CELL = { width: 17, height: 23 };
const FIGURE = "M8.5 2.2a3 3 0 1 1 0 6a3 3 0 1 1 0 -6z M3 20v-5a5.5 5.5 0 0 1 11 0v5z";
const views = new WeakMap();

export default function ({ data, parentElement }) {
  let view = views.get(parentElement);
  if (view === undefined) {
    view = built(parentElement);
    views.set(parentElement, view);
    view.hear = ({ detail }) => {
      view.held = detail.held;
      show(view, detail.epsilon);
    };
  }
  view.data = data;
  window.addEventListener("dpmf:epsilon", view.hear);
  if (!view.held) show(view, data.epsilon);
  return () => window.removeEventListener("dpmf:epsilon", view.hear);
}

function part(parent, tag, className = "") {
  const made = parent.appendChild(document.createElement(tag));
  made.className = className;
  return made;
}

function built(parentElement) {
  const root = part(parentElement, "div", "hundred");
  const title = part(root, "h2");
  const svg = root.appendChild(document.createElementNS(SVG, "svg"));
  svg.setAttribute("viewBox", `0 0 ${COLUMNS * CELL.width} ${ROWS * CELL.height}`);
  svg.setAttribute("role", "img");
  const figures = Array.from({ length: ROWS * COLUMNS }, (_, place) => {
    const made = svg.appendChild(document.createElementNS(SVG, "path"));
    const across = (place % COLUMNS) * CELL.width;
    made.setAttribute("d", FIGURE);
    made.setAttribute("transform",
      `translate(${across} ${Math.floor(place / COLUMNS) * CELL.height})`);
    return made;
  });
  const suspicion = part(root, "p");
  const guess = part(root, "p", "guess");
  return { root, title, svg, figures, suspicion, guess, held: false };
}

// At a point as it was computed; between two points linear in log epsilon, and said to be about.
function known(points, epsilon) {
  const at = points.find((it) => Math.abs(Math.log(it.epsilon / epsilon)) < 1e-6);
  if (at !== undefined) return { ...at, exact: true };
  const above = points.findIndex((it) => it.epsilon > epsilon);
  if (above <= 0) return null;
  const [low, high] = [points[above - 1], points[above]];
  const share = Math.log(epsilon / low.epsilon) / Math.log(high.epsilon / low.epsilon);
  const mix = (name) => (1 - share) * low[name] + share * high[name];
  const exception = Math.exp((1 - share) * Math.log(low.exception || 1e-300)
    + share * Math.log(high.exception || 1e-300));
  return { suspicion: mix("suspicion"), correct: mix("correct"), exception, exact: false };
}

function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

// The largest whole number below 100 counts as 99: nobody is certain.
const inHundred = (share) => Math.min(99, Math.round(100 * share));

// Rounded up, with as many decimals as keep it below 100, as the library prints it.
function percentAtMost(share) {
  const decimals = Math.min(8, Math.max(0, Math.ceil(-Math.log10(100 * (1 - share)))));
  return String(Math.ceil(100 * share * 10 ** decimals - 1e-6) / 10 ** decimals);
}

function show(view, epsilon) {
  const { data } = view;
  const found = known(data.points, epsilon);
  view.root.classList.toggle("unknown", found === null);
  if (found === null) return;
  const values = {
    epsilon: Number(epsilon.toPrecision(3)),
    about: found.exact ? "" : data.words.about,
    suspicion: percentAtMost(found.suspicion),
    correct: inHundred(found.correct),
    exception: found.exception < 1e-12 ? "0" : found.exception.toExponential(0),
  };
  view.title.textContent = filled(data.words.title, values);
  view.suspicion.textContent = filled(
    found.exception < 1e-12 ? data.words.always : data.words.suspicion, values);
  view.guess.textContent = filled(data.words.guess, values);
  view.svg.setAttribute("aria-label", view.suspicion.textContent);
  view.figures.forEach((figure, place) => {
    figure.setAttribute("class", place < inHundred(found.suspicion) ? "yes" : "no");
    if (place < 50) figure.classList.add("even");
  });
}
