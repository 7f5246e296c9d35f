// Recommends from a released model to whoever has opened the page. Her ratings are held by this
// script alone: the page's policy allows no connection, so they cannot leave it.

const INSIDE = 1 - 1e-6; // a clipped row stays inside its bound after rounding
const SHOWN = 10; // items of a list

const held = JSON.parse(document.getElementById("model").textContent);
const said = held.settings;
const [low, high] = held.bounds;
const arrays = Object.fromEntries(
  Object.entries(held.arrays).map(([name, it]) => [name, decoded(it)]),
);
const names = held.names;
const n = names.length;
const sides = beside(arrays.item_factors, arrays.local_columns);
const unit = (high - low) / 4;
const mine = new Map(); // from places of items to ratings

// ---- arrays --------------------------------------------------------------------------------------

function decoded({ shape, data }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const values = new Float64Array(bytes.buffer);
  return { rows: shape[0], columns: shape.length > 1 ? shape[1] : 1, values };
}

function row(matrix, i) {
  return matrix.values.subarray(i * matrix.columns, (i + 1) * matrix.columns);
}

function dot(first, second) {
  let total = 0;
  for (let k = 0; k < first.length; k++) total += first[k] * second[k];
  return total;
}

function beside(left, right) {
  const columns = left.columns + right.columns;
  const values = new Float64Array(left.rows * columns);
  for (let i = 0; i < left.rows; i++) {
    values.set(row(left, i), i * columns);
    values.set(row(right, i), i * columns + left.columns);
  }
  return { rows: left.rows, columns, values };
}

function withUnit(matrix) {
  const ones = { rows: matrix.rows, columns: 1, values: new Float64Array(matrix.rows).fill(unit) };
  return beside(matrix, ones);
}

// the sum over items of w f f', and of v f
function normalEquations(matrix, items, left) {
  const k = matrix.columns;
  const system = Array.from({ length: k }, () => new Float64Array(k));
  const right = new Float64Array(k);
  items.forEach((item, place) => {
    const f = row(matrix, item);
    for (let p = 0; p < k; p++) {
      right[p] += left[place] * f[p];
      for (let q = 0; q < k; q++) system[p][q] += f[p] * f[q];
    }
  });
  return { system, right };
}

// Gaussian elimination with the largest pivot
function solved(system, right) {
  const k = right.length;
  for (let p = 0; p < k; p++) {
    let best = p;
    for (let q = p + 1; q < k; q++) {
      if (Math.abs(system[q][p]) > Math.abs(system[best][p])) best = q;
    }
    [system[p], system[best]] = [system[best], system[p]];
    [right[p], right[best]] = [right[best], right[p]];
    for (let q = p + 1; q < k; q++) {
      const factor = system[q][p] / system[p][p];
      for (let c = p; c < k; c++) system[q][c] -= factor * system[p][c];
      right[q] -= factor * right[p];
    }
  }
  for (let p = k - 1; p >= 0; p--) {
    for (let c = p + 1; c < k; c++) right[p] -= system[p][c] * right[c];
    right[p] /= system[p][p];
  }
  return right;
}

const everything = new Map(); // the sum over all items of f f', by the number of columns

function regressed(matrix, items, left, ridge, weight) {
  const { system, right } = normalEquations(matrix, items, left);
  const k = matrix.columns;
  if (weight && !everything.has(k)) {
    const all = Array.from({ length: n }, (_, item) => item);
    everything.set(k, normalEquations(matrix, all, new Float64Array(n)).system);
  }
  for (let p = 0; p < k; p++) {
    system[p][p] += ridge;
    if (weight) for (let q = 0; q < k; q++) system[p][q] += weight * everything.get(k)[p][q];
  }
  return solved(system, right);
}

// ---- one person's own side, as recommend.py finds it ---------------------------------------------

function residuals(items, values) {
  const left = values.map((value, p) => value - said.centre - arrays.item_offsets.values[items[p]]);
  if (said.user_damping === null || !items.length) return { offset: 0, left };
  const total = left.reduce((sum, value) => sum + value, 0);
  const offset = total / Math.max(items.length + said.user_damping, 1e-9);
  return { offset, left: left.map((value) => value - offset) };
}

function regression(items, values) {
  const { offset, left } = residuals(items, values);
  if (!sides.columns || !items.length) return { offset, factors: new Float64Array(sides.columns) };
  const ridge = said.ridge * Math.max(items.length, 1) ** said.ridge_exponent;
  const weight = said.unobserved_weight;
  if (!said.mended) return { offset, factors: regressed(sides, items, left, ridge, weight) };
  const found = regressed(withUnit(sides), items, left, ridge, weight);
  const last = found.length - 1;
  return { offset: offset + unit * found[last], factors: found.subarray(0, last) };
}

function withLoadings(items, values, offset, factors) {
  const L = arrays.local_columns;
  if (!L.columns || !items.length) {
    return { offset, factors: Float64Array.from([...factors, ...new Float64Array(L.columns)]) };
  }
  const left = items.map((item, p) => {
    const explained = dot(row(arrays.item_factors, item), factors);
    return values[p] - said.centre - offset - arrays.item_offsets.values[item] - explained;
  });
  const found = regressed(withUnit(L), items, left, said.ridge, 0);
  const own = Float64Array.from([...factors, ...found.subarray(0, L.columns)]);
  return { offset: offset + unit * found[L.columns], factors: own };
}

function sumOf(matrix, items, weights) {
  const total = new Float64Array(matrix.columns);
  items.forEach((item, place) => {
    const f = row(matrix, item);
    for (let k = 0; k < total.length; k++) total[k] += weights[place] * f[k];
  });
  return total;
}

function projection(items, values) {
  const { offset, left } = residuals(items, values);
  const share = Math.max(items.length, 1) / n;
  const factors = sumOf(arrays.item_factors, items, left).map((value) => value / share);
  return withLoadings(items, values, offset, factors);
}

function probe(items, values) {
  const found = sumOf(arrays.probe, items, values);
  const rest = new Float64Array(arrays.local_columns.columns);
  return { offset: 0, factors: Float64Array.from([...found, ...rest]) };
}

function norm(vector) {
  return Math.sqrt(dot(vector, vector));
}

function frankWolfe(items, values) {
  const { offset, left } = residuals(items, values);
  const V = arrays.item_factors;
  const bound = said.row_bound ?? Infinity;
  const taken = items.map((item, p) => [item, left[p]]);
  const kept = said.partial ? taken.filter(([item]) => row(V, item).some((it) => it)) : taken;
  const coefficients = new Float64Array(V.columns);
  let y = kept.map(() => 0);
  for (let t = 0; t < V.columns; t++) {
    const v = kept.map(([item]) => V.values[item * V.columns + t]);
    const rate = arrays.rates.values[t];
    const gap = y.map((value, p) => value - kept[p][1]);
    const scale = Math.min(1, (bound * INSIDE) / Math.max(norm(gap), 1e-300));
    const step = -rate * said.kappa * scale * dot(gap, v) * arrays.inverse_singular.values[t];
    y = y.map((value, p) => (1 - rate) * value + step * v[p]);
    const shrink = Math.min(1, bound / Math.max(norm(y), 1e-300));
    y = y.map((value) => value * shrink);
    for (let s = 0; s < t; s++) coefficients[s] *= (1 - rate) * shrink;
    coefficients[t] = step * shrink;
  }
  return withLoadings(items, values, offset, coefficients);
}

function columnsOf(matrix, start, stop) {
  const values = new Float64Array(n * (stop - start));
  for (let i = 0; i < n; i++) values.set(row(matrix, i).subarray(start, stop), i * (stop - start));
  return { rows: n, columns: stop - start, values };
}

function gradient(items, values) {
  const { offset, left } = residuals(items, values);
  let C = new Float64Array(0);
  let Q = columnsOf(arrays.directions, 0, 0);
  let start = 0;
  for (const rank of arrays.ranks.values) {
    let S = items.map((item, p) => said.rate * (left[p] - dot(row(Q, item), C)));
    if (said.row_bound !== null) {
      const along = sumOf(Q, items, S);
      const square = C.reduce((sum, c, k) => sum + c * (c + 2 * along[k]), 0) + dot(S, S);
      const bound = said.row_bound * INSIDE;
      const shrink = Math.min(1, bound / Math.sqrt(Math.max(square, 1e-300)));
      C = C.map((value) => value * shrink);
      S = S.map((value) => value * shrink);
    }
    const D = columnsOf(arrays.directions, start, start + rank);
    const turned = sumOf(D, items, S);
    if (C.length) {
      for (let i = 0; i < n; i++) {
        const weight = dot(row(Q, i), C);
        const d = row(D, i);
        for (let k = 0; k < rank; k++) turned[k] += weight * d[k];
      }
    }
    C = turned.map((value, k) => value * arrays.shrinkages.values[start + k]);
    Q = D;
    start += rank;
  }
  return withLoadings(items, values, offset, C);
}

const LOCAL_STEPS = { regression, projection, probe, "frank-wolfe": frankWolfe, gradient };

function recommended() {
  const items = [...mine.keys()].sort((first, second) => first - second);
  const values = items.map((item) => mine.get(item));
  const own = LOCAL_STEPS[held.local_step](items, values);
  return Array.from({ length: n }, (_, item) => item)
    .filter((item) => !mine.has(item))
    .map((item) => {
      const score = arrays.item_offsets.values[item] + dot(row(sides, item), own.factors);
      const rating = Math.min(high, Math.max(low, said.centre + own.offset + score));
      return { item, score: Math.fround(score), rating };
    })
    .sort((first, second) => second.score - first.score || first.item - second.item)
    .slice(0, SHOWN);
}

// ---- the page ------------------------------------------------------------------------------------

function part(parent, tag, text = "") {
  const made = parent.appendChild(document.createElement(tag));
  made.textContent = text;
  return made;
}

function place(id) {
  return document.getElementById(id);
}

function showFound() {
  const asked = place("search").value.trim().toLowerCase();
  const list = place("found");
  list.replaceChildren();
  const fitting = names
    .map((name, item) => ({ name, item }))
    .filter(({ name, item }) => !mine.has(item) && name.toLowerCase().includes(asked))
    .slice(0, SHOWN);
  for (const { name, item } of fitting) {
    const button = part(part(list, "li"), "button", name);
    button.type = "button";
    button.addEventListener("click", () => rate(item, high));
  }
  if (!fitting.length) part(list, "li", "No item has this in its name.");
}

function rate(item, value) {
  mine.set(item, value);
  showFound();
  showMine();
  showList();
}

function showMine() {
  const list = place("mine");
  list.replaceChildren();
  for (const [item, value] of mine) {
    const line = part(list, "li");
    const label = part(line, "label", `${names[item]} `);
    const slider = part(label, "input");
    Object.assign(slider, { type: "range", min: low, max: high, step: "any", value });
    const figure = part(line, "output", value.toFixed(1));
    slider.addEventListener("input", () => {
      mine.set(item, Math.min(high, Math.max(low, Number(slider.value))));
      figure.textContent = Number(slider.value).toFixed(1);
      showList();
    });
    const button = part(line, "button", "Remove");
    button.type = "button";
    button.setAttribute("aria-label", `Remove ${names[item]}`);
    button.addEventListener("click", () => {
      mine.delete(item);
      showFound();
      showMine();
      showList();
    });
  }
  if (!mine.size) part(list, "li", "Nothing yet: choose an item above.");
}

function showList() {
  const list = place("list");
  list.replaceChildren();
  for (const { item, rating } of recommended()) {
    const line = part(list, "li");
    line.dataset.item = item;
    line.dataset.rating = rating;
    part(line, "span", names[item]);
    part(line, "b", ` ${rating.toFixed(2)}`);
  }
  place("whose").textContent = mine.size
    ? `From ${mine.size} rating${mine.size > 1 ? "s" : ""} of yours and the released model.`
    : "For somebody without ratings: the same for everyone.";
}

place("search").addEventListener("input", showFound);
showFound();
showMine();
showList();
