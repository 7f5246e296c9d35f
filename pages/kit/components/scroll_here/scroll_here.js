// Brings the place where it stands into view, once for each turn that the server counts: not when
// the page is drawn again, nor when this is mounted again.

let taken = 0;

export default function ({ data, parentElement }) {
  if (data.turn === taken) {
    return;
  }
  taken = data.turn;
  const place = parentElement.host ?? parentElement;
  place.style.scrollMarginTop = "5rem"; // the header lies over the top of the page
  place.scrollIntoView({ block: "start" });
}
