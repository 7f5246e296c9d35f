// What the components share that tell a story: its parts of the page, terms that are explained in
// place, templates, and what lies nearest to an epsilon.

export function part(parent, tag, className = "", text = "") {
  const made = parent.appendChild(document.createElement(tag));
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

// Says once, after the frame that shows it, that the first view is drawn.
export function sayDrawn(view, data, setTriggerValue) {
  if (!data.awaited || view.said) return;
  view.said = true;
  requestAnimationFrame(() => setTimeout(() => setTriggerValue("drawn", true)));
}

// Headline, sentence, and a line of what is not as it was asked for.
export function heading(root) {
  const title = part(root, "h1");
  const sentence = part(root, "p", "sentence");
  const tip = part(root, "div", "tip");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "tooltip");
  const status = part(root, "p", "status");
  status.setAttribute("aria-live", "polite");
  return { root, title, sentence, tip, status };
}

// A text whose terms are underlined, each with its meaning beneath it on hover or focus.
export function explained(view, element, text) {
  if (element.textContent === text) return;
  view.tip.hidden = true;
  element.replaceChildren();
  let rest = text;
  for (const { term, meaning } of view.data.terms) {
    const at = rest.indexOf(term);
    if (at < 0) continue;
    element.append(rest.slice(0, at));
    const made = part(element, "span", "term", term);
    made.tabIndex = 0;
    made.setAttribute("aria-describedby", "tip");
    for (const come of ["mouseenter", "focus"]) {
      made.addEventListener(come, () => explain(view, made, meaning));
    }
    for (const go of ["mouseleave", "blur"]) {
      made.addEventListener(go, () => { view.tip.hidden = true; });
    }
    rest = rest.slice(at + term.length);
  }
  element.append(rest);
}

function explain(view, term, meaning) {
  view.tip.textContent = meaning;
  view.tip.hidden = false;
  const room = view.root.clientWidth - view.tip.offsetWidth;
  view.tip.style.left = `${Math.max(0, Math.min(term.offsetLeft, room))}px`;
  view.tip.style.top = `${term.offsetTop + term.offsetHeight + 4}px`;
}

export function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export const close = (one, other) => Math.abs(Math.log(one / other)) < 1e-6;

export function nearest(points, epsilon) {
  const away = (point) => Math.abs(Math.log(point.epsilon / epsilon));
  return points.reduce((best, point) => (away(point) < away(best) ? point : best));
}

export const shown = (epsilon) => String(Number(epsilon.toPrecision(3)));

// A folded table; each point has its cells. words: what the page says.
export function table(numbers, words, points) {
  const open = numbers.open;
  numbers.replaceChildren();
  part(numbers, "summary", "", words.numbers);
  const made = part(part(numbers, "div", "scroll"), "table");
  const row = (tag, cells) => {
    const line = part(made, "tr");
    for (const cell of cells) part(line, tag, "", cell);
  };
  row("th", words.columns);
  for (const { epsilon, cells } of points) row("td", [shown(epsilon), ...cells]);
  numbers.open = open;
}
