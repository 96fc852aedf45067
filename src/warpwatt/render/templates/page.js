"use strict";
// Line synchronisation: rows of one account that share a source line light up together; a click pins them.
for (const account of document.querySelectorAll(".account")) {
  const rows = [...account.querySelectorAll("tr[data-keys]")];
  const byKey = new Map();
  for (const row of rows) {
    for (const key of row.dataset.keys.split(" ")) {
      byKey.set(key, [...(byKey.get(key) || []), row]);
    }
  }
  let pinned = null;
  const show = (row) => {
    for (const other of rows) other.classList.remove("linked");
    if (row) for (const other of byKey.get(row.dataset.keys.split(" ")[0])) other.classList.add("linked");
  };
  const reveal = (row) => {
    for (const listing of account.querySelectorAll(".listing")) {
      if (listing.contains(row)) continue;
      const first = listing.querySelector("tr.linked");
      if (first) listing.scrollTop = first.offsetTop - listing.clientHeight / 3;
    }
  };
  const pin = (row) => {
    if (pinned) pinned.classList.remove("pinned");
    pinned = pinned === row ? null : row;
    if (pinned) pinned.classList.add("pinned");
    show(pinned);
    if (pinned) reveal(pinned);
  };
  for (const row of rows) {
    row.addEventListener("mouseenter", () => show(row));
    row.addEventListener("mouseleave", () => show(pinned));
    row.addEventListener("click", () => pin(row));
    row.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        pin(row);
      }
    });
  }
}

// Roofline: what the binding roofs allow at the intensity under the pointer.
const si = (value, unit) => {
  const prefixes = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  const [factor, prefix] = prefixes.find(([size]) => value >= size) || [1, ""];
  return `${Number((value / factor).toPrecision(3))} ${prefix}${unit}`;
};
for (const svg of document.querySelectorAll("svg.roofline")) {
  const readout = svg.parentElement.querySelector(".readout");
  const cursor = svg.querySelector(".cursor");
  const [low, high, start, end, compute, memory] = svg.dataset.scale.split(" ").map(Number);
  svg.addEventListener("pointermove", (event) => {
    const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
    const share = Math.min(1, Math.max(0, (x - start) / (end - start)));
    const intensity = low * (high / low) ** share;
    cursor.setAttribute("x1", start + share * (end - start));
    cursor.setAttribute("x2", start + share * (end - start));
    cursor.style.visibility = "visible";
    const roof = si(Math.min(compute, memory * intensity), "FLOP/s");
    readout.textContent = `At ${Number(intensity.toPrecision(3))} FLOP/B the roofs allow ${roof}.`;
  });
  svg.addEventListener("pointerleave", () => {
    cursor.style.visibility = "hidden";
    readout.textContent = "";
  });
}

// A link to an account opens it; paper shows everything.
const openTarget = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "DETAILS") target.open = true;
};
addEventListener("hashchange", openTarget);
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
openTarget();
