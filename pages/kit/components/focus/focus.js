// Moves the keyboard's focus once to the heading of what a person has just asked for, because the
// button or link that was pressed is gone. The heading is read aloud; it is not a live region.

const moved = new Set();

export default function ({ data }) {
  if (moved.has(data.token)) return;
  moved.add(data.token);
  const heading = document.querySelector(`.st-key-${data.place} :is(h1, h2, h3)`);
  if (heading === null) return;
  heading.tabIndex = -1;
  heading.focus();
}
