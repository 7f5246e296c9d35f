// What an epsilon means for one person, as a hundred figures. They follow `dpmf:epsilon` while the
// slider is held. Its sentences and numbers were made by the library, for each stop of the slider.

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

function nearest(points, epsilon) {
  const away = (point) => Math.abs(Math.log(point.epsilon / epsilon));
  return points.reduce((best, point) => (away(point) < away(best) ? point : best));
}

function show(view, epsilon) {
  const point = nearest(view.data.points, epsilon);
  view.title.textContent = point.title;
  view.suspicion.textContent = point.certainty;
  view.guess.textContent = point.guess;
  view.svg.setAttribute("aria-label", point.certainty);
  view.figures.forEach((figure, place) => {
    figure.setAttribute("class", place < point.figures ? "yes" : "no");
    if (place < 50) figure.classList.add("even");
  });
}
