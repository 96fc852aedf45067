// Pictures that answer: a cursor that reads values, by pointer or arrow keys, and kernels shown alone.
const si = (value, unit) => {
  const prefixes = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  const [factor, prefix] = prefixes.find(([size]) => value >= size) || [1, ""];
  return `${Number((value / factor).toPrecision(3))} ${prefix}${unit}`;
};

// What a cursor says at a pixel: the roofs at that intensity, or the nearest point of a curve.
const roofReading = (axis) => (x) => {
  const share = Math.min(1, Math.max(0, (x - axis.start) / (axis.end - axis.start)));
  const intensity = axis.low * (axis.high / axis.low) ** share;
  const parts = axis.peaks.map(([name, kind, peak]) => `${name} ${si(kind === "memory" ? peak * intensity : peak, `${axis.unit}/s`)}`);
  return { x: axis.start + share * (axis.end - axis.start), text: `At ${Number(intensity.toPrecision(3))} ${axis.unit}/B: ${parts.join(", ")}` };
};
const curveReading = (curve) => (x) => {
  let best = 0;
  curve.stops.forEach((stop, i) => { if (Math.abs(stop - x) < Math.abs(curve.stops[best] - x)) best = i; });
  return { x: curve.stops[best], y: curve.heights[best], text: curve.notes[best], index: best };
};

for (const plot of document.querySelectorAll(".plot[data-cursor]")) {
  const svg = plot.querySelector("svg");
  const line = svg.querySelector(".cursor");
  const dot = svg.querySelector(".cursor-dot");
  const readout = document.querySelector(`[data-readout="${plot.dataset.cursor}"]`);
  const rest = readout.textContent;
  const source = data.cursors[plot.dataset.cursor];
  const read = source.peaks ? roofReading(source) : curveReading(source);
  let at = null;
  const show = (x) => {
    const found = read(x);
    at = found.x;
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
    if (dot) {
      dot.setAttribute("cx", at);
      dot.setAttribute("cy", found.y);
    }
    plot.classList.add("tracking");
    readout.textContent = found.text;
    return found;
  };
  const leave = () => {
    plot.classList.remove("tracking");
    readout.textContent = rest;
    at = null;
  };
  svg.addEventListener("pointermove", (event) => {
    show(new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x);
  });
  svg.addEventListener("pointerleave", leave);
  plot.addEventListener("blur", leave);
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") leave();
    if (!step) return;
    event.preventDefault();
    if (source.peaks) {
      const width = source.end - source.start;
      show((at === null ? source.start : at) + (step * width) / 40);
    } else {
      const own = at === null ? source.own : source.stops.indexOf(at) + step;
      show(source.stops[Math.min(source.stops.length - 1, Math.max(0, own))]);
    }
  });
}

for (const button of document.querySelectorAll("[data-isolate]")) {
  const group = [...document.querySelectorAll(`[data-isolate="${button.dataset.isolate}"]`)];
  const name = button.dataset.isolate;
  const pictures = document.querySelectorAll(`.plot:is([data-cursor="${name}"], [data-cursor="${name}-narrow"])`);
  button.addEventListener("click", () => {
    const wanted = button.getAttribute("aria-pressed") !== "true";
    for (const other of group) other.setAttribute("aria-pressed", String(wanted && other === button));
    for (const series of [...pictures].flatMap((one) => [...one.querySelectorAll(".series")])) {
      series.classList.toggle("faded", wanted && series.dataset.series !== button.dataset.series);
    }
  });
}

for (const select of document.querySelectorAll("[data-choose]")) {
  const parts = document.querySelectorAll(`[data-chosen="${select.dataset.choose}"]`);
  const show = () => { for (const part of parts) part.hidden = part.id !== select.value; };
  select.addEventListener("change", show);
  show();
}
