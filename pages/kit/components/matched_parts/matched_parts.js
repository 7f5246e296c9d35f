// Topics as words or components as pictures, each with its partner without privacy. The style sheet
// highlights the pair under the pointer, or the one with the keyboard's focus. They follow
// `dpmf:epsilon` while the slider is held; between two measured points the nearest one is shown, and
// said to be.

import { close, explained, filled, heading, nearest, part, sayDrawn, shown, table }
  from "../dpmf.story/story.js";

const views = new WeakMap();
const KINDS = { words: { build: buildWords, show: showWords },
  pictures: { build: buildPictures, show: showPictures } };

export default function ({ data, parentElement, setTriggerValue }) {
  let view = views.get(parentElement);
  if (view === undefined) {
    view = built(parentElement);
    views.set(parentElement, view);
    view.hear = ({ detail }) => move(view, detail);
  }
  drawn(view, data);
  sayDrawn(view, data, setTriggerValue);
  window.addEventListener("dpmf:epsilon", view.hear);
  return () => window.removeEventListener("dpmf:epsilon", view.hear);
}

function built(parentElement) {
  const root = part(parentElement, "div", "story");
  const story = heading(root);
  const figures = part(root, "div", "figures");
  const caption = part(root, "p", "note");
  const numbers = part(root, "details");
  return { ...story, figures, caption, numbers, held: false };
}

function drawn(view, data) {
  const { words } = view.data = data;
  view.root.classList.toggle("stale", data.stale);
  view.root.style.setProperty("--private", data.colour);
  view.caption.textContent = words.caption;
  const plain = JSON.stringify([data.kind, data.plain, data.across, words.sides]);
  if (plain !== view.plain) {
    view.plain = plain;
    view.figures.replaceChildren();
    KINDS[data.kind].build(view);
  }
  table(view.numbers, words, data.points);
  if (!view.held) view.at = data.epsilon;
  show(view);
}

function move(view, { epsilon, held }) {
  if (!(epsilon > 0)) return;
  view.held = held;
  if (view.data.stale) return;
  view.at = epsilon;
  show(view);
}

function show(view) {
  const { data, at } = view;
  const point = nearest(data.points, at);
  const there = close(point.epsilon, at);
  view.root.dataset.epsilon = shown(point.epsilon);
  view.root.dataset.measured = String(there);
  explained(view, view.title, point.title);
  explained(view, view.sentence, point.sentence);
  const near = filled(data.words.near, { epsilon: shown(at), shown: shown(point.epsilon) });
  view.status.textContent = data.stale ? data.words.stale
    : there ? "" : `${near}${data.pending ? ` ${data.words.pending}` : ""}`;
  KINDS[data.kind].show(view, point);
}

// Read aloud, not seen.
function aside(parent, text) {
  part(parent, "span", "aside", text);
}

// A component with its partner. A tap focuses it, too.
function pairIn(list) {
  const pair = part(list, "div", "pair");
  pair.setAttribute("role", "group");
  pair.tabIndex = 0;
  return pair;
}

// ---- topics as words ------------------------------------------------------------------------

function buildWords(view) {
  const { data, figures } = view;
  const list = part(figures, "div", "pairs topics");
  view.topics = data.plain.map((plain, place) => {
    const pair = pairIn(list);
    const head = part(pair, "h2", "", filled(data.words.part, { number: place + 1 }));
    const alike = part(head, "span", "alike");
    const bag = part(pair, "ul");
    const kept = plain.map((word) => part(bag, "li"));
    return { pair, bag, alike, plain, kept, came: new Map() };
  });
}

function showWords(view, point) {
  const { words } = view.data;
  view.topics.forEach((topic, place) => {
    const now = point.parts[place];
    const there = new Set(now);
    const stay = topic.plain.filter((word) => there.has(word)).length;
    const all = topic.plain.length;
    topic.pair.ariaLabel = filled(words.pair, { number: place + 1, stay, all });
    topic.alike.textContent = ` ${filled(words.stay, { stay, all })}`;
    topic.plain.forEach((word, i) => keepOrStrike(topic.kept[i], word, there.has(word), words));
    comeAndGo(topic, now.filter((word) => !topic.plain.includes(word)), words);
  });
}

function keepOrStrike(element, word, kept, words) {
  const state = kept ? "kept" : "left";
  if (element.className === state) return;
  element.className = state;
  element.replaceChildren();
  if (!kept) aside(element, `${words.gone} `);
  part(element, kept ? "span" : "del", "", word);
}

function comeAndGo(topic, came, words) {
  for (const [word, element] of topic.came) {
    if (came.includes(word)) continue;
    element.remove();
    topic.came.delete(word);
  }
  for (const word of came) {
    const element = topic.came.get(word) ?? part(topic.bag, "li", "came");
    if (!topic.came.has(word)) {
      aside(element, `${words.fresh} `);
      part(element, "ins", "", word);
      topic.came.set(word, element);
    }
    topic.bag.append(element); // heaviest first
  }
}

// ---- components as pictures -----------------------------------------------------------------

function buildPictures(view) {
  const { data, figures } = view;
  part(figures, "h2", "", data.words.sides);
  const list = part(figures, "div", "pairs pictures");
  list.style.setProperty("--across", data.across);
  view.pictures = data.plain.map((file, place) => {
    const pair = pairIn(list);
    const image = part(pair, "img");
    const measure = part(part(pair, "div", "bar"), "div");
    const partner = part(pair, "img");
    partner.src = source(file);
    partner.alt = filled(data.words.plainAlt, { number: place + 1 });
    return { pair, image, measure };
  });
}

function showPictures(view, point) {
  const { words } = view.data;
  view.pictures.forEach(({ pair, image, measure }, place) => {
    const found = source(point.parts[place]);
    if (image.src !== found) image.src = found;
    const alike = Math.round(100 * point.alike[place]);
    const values = { number: place + 1, alike };
    image.alt = filled(words.alt, values);
    pair.ariaLabel = filled(words.pair, values);
    pair.title = pair.ariaLabel;
    measure.style.width = `${Math.max(0, alike)}%`;
  });
}

const source = (file) => `data:image/png;base64,${file}`;
