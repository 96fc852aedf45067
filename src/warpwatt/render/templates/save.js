// Files out of the page: the data of a plot as CSV or JSON, the picture as PNG. All of it is in the page already.
const records = (set) => set.rows.map((row) => Object.fromEntries(set.columns.map((name, i) => [name, row[i]])));

const csvCell = (value) => {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = (set) => [set.columns, ...set.rows].map((row) => row.map(csvCell).join(",") + "\r\n").join("");

const offer = (blob, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const fileName = (set, ending) => {
  const words = `${set.kernel.split("(")[0]} ${set.gpu} ${set.title}`;
  return `${words.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 100)}.${ending}`;
};

// A picture by itself: every style that it takes from the page is written into it.
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
  "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order", "visibility"];
const SVG = "http://www.w3.org/2000/svg";
const element = (name, attributes, text) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};
const alone = (svg) => {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((one, i) => {
    const style = getComputedStyle(one);
    for (const name of STYLES) to[i].style.setProperty(name, style.getPropertyValue(name));
    to[i].removeAttribute("class");
  });
  return copy;
};
// Bars are HTML on the page, so that their text wraps; as a picture they are drawn from their data.
const barPicture = (section, set) => {
  const ink = getComputedStyle(document.body).color;
  const track = section.querySelector(".bars .track");
  const filled = getComputedStyle(track.firstElementChild).backgroundColor;
  const empty = getComputedStyle(track).backgroundColor;
  const share = set.columns.indexOf("share");
  const svg = element("svg", { viewBox: `0 0 640 ${set.rows.length * 26 + 8}` });
  set.rows.forEach((row, i) => {
    const y = i * 26 + 4;
    const text = { y: y + 15, fill: ink, "font-size": 13, "font-family": "sans-serif" };
    svg.append(
      element("text", { ...text, x: 170, "text-anchor": "end" }, row[0]),
      element("rect", { x: 180, y: y + 2, width: 390, height: 16, rx: 3, fill: empty }),
      element("rect", { x: 180, y: y + 2, width: Math.max(0.5, 390 * row[share]), height: 16, rx: 3, fill: filled }),
      element("text", { ...text, x: 634, "text-anchor": "end" }, `${(100 * row[share]).toFixed(1)} %`),
    );
  });
  return svg;
};
const picture = (button, set) => {
  const section = button.closest("[data-chosen], section");
  const found = [...section.querySelectorAll("svg")].filter((svg) => !svg.closest(".narrow-only"));
  const parts = found.length ? found.map(alone) : [barPicture(section, set)];
  const sizes = parts.map((part) => part.getAttribute("viewBox").split(" ").slice(2).map(Number));
  const width = sizes.reduce((sum, size) => sum + size[0], 0) + 32;
  const height = Math.max(...sizes.map((size) => size[1])) + 60;
  const style = getComputedStyle(section.closest(".card") || section);
  const sheet = element("svg", { viewBox: `0 0 ${width} ${height}`, width: 2 * width, height: 2 * height, xmlns: SVG });
  const title = `${set.title}: ${set.kernel === "all" ? "" : `${set.kernel.split("(")[0]}, `}${set.gpu}`;
  sheet.append(element("rect", { width, height, fill: style.backgroundColor }));
  sheet.append(element("text", { x: 16, y: 28, fill: style.color, "font-size": 16, "font-weight": 600, "font-family": "sans-serif" }, title));
  let x = 16;
  parts.forEach((part, i) => {
    part.setAttribute("x", x);
    part.setAttribute("y", 44);
    part.setAttribute("width", sizes[i][0]);
    part.setAttribute("height", sizes[i][1]);
    part.style.minWidth = "0";
    sheet.append(part);
    x += sizes[i][0];
  });
  return sheet;
};
const savePng = async (button, set) => {
  const sheet = picture(button, set);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(sheet))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Number(sheet.getAttribute("width"));
  canvas.height = Number(sheet.getAttribute("height"));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => offer(blob, fileName(set, "png")), "image/png");
};

for (const button of document.querySelectorAll("button[data-save]")) {
  button.addEventListener("click", () => {
    const set = data.plots[button.dataset.plot];
    if (button.dataset.save === "png") savePng(button, set);
    else if (button.dataset.save === "csv") offer(new Blob([csv(set)], { type: "text/csv" }), fileName(set, "csv"));
    else {
      const { columns, rows, ...about } = set;
      const text = JSON.stringify({ ...about, rows: records(set) }, null, 2);
      offer(new Blob([text], { type: "application/json" }), fileName(set, "json"));
    }
  });
}

// The same data as a table, made when somebody opens it.
for (const details of document.querySelectorAll("details[data-values]")) {
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("table")) return;
    const set = data.plots[details.dataset.values];
    const cell = (tag, value, scope) => {
      const made = document.createElement(tag);
      if (scope) made.scope = scope;
      made.textContent = typeof value === "number" ? String(Number(value.toPrecision(5))) : value === null ? "" : String(value);
      return made;
    };
    const table = document.createElement("table");
    table.createCaption().textContent = `${set.title}, SI units`;
    table.createTHead().insertRow().append(...set.columns.map((name) => cell("th", name, "col")));
    const body = table.createTBody();
    for (const row of set.rows) {
      body.insertRow().append(...row.map((value, i) => (i ? cell("td", value) : cell("th", value, "row"))));
    }
    const wide = document.createElement("div");
    wide.className = "wide";
    wide.tabIndex = 0;
    wide.setAttribute("role", "group");
    wide.setAttribute("aria-label", `Values: ${set.title}`);
    wide.append(table);
    details.append(wide);
  });
}
