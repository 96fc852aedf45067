// Long tables sort by a press on a heading and are searched by typing; short ones are left alone.
const SORTED_FROM = 3;
const SEARCHED_FROM = 8;
const SCALES = { p: 1e-12, n: 1e-9, "\u00b5": 1e-6, m: 1e-3, k: 1e3, K: 1024, M: 1e6, G: 1e9, T: 1e12 };

// The number a cell begins with, in units without prefix; its text where it begins with none.
const cellKey = (cell) => {
  const text = cell.textContent.trim().replace(/^[<★]\s*/, "").replace("−", "-");
  const found = text.match(/^([+-]?[\d.,]+(?:e[+-]?\d+)?)\s*([pnµmkKMGT]?)(i?)(?=[A-Za-z%°]|\s|$)/);
  if (!found) return text.toLowerCase();
  return parseFloat(found[1].replaceAll(",", "")) * (SCALES[found[2]] || 1);
};

const sortBy = (table, column, way) => {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [cellKey(row.cells[column]), row]);
  const order = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
  rows.sort((a, b) => way * order(a[0], b[0]));
  body.append(...rows.map(([, row]) => row));
};

const makeSortable = (table) => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      sortBy(table, column, up ? 1 : -1);
    });
  });
};

const makeSearchable = (table) => {
  const label = document.createElement("label");
  label.className = "filter";
  const input = document.createElement("input");
  input.type = "search";
  label.append("Search ", input);
  table.parentElement.before(label);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
};

for (const table of document.querySelectorAll(".wide > table")) {
  if (!table.tHead || table.tHead.rows.length !== 1 || table.querySelector("[rowspan], [colspan]")) continue;
  const rows = table.tBodies[0] ? table.tBodies[0].rows.length : 0;
  if (rows >= SORTED_FROM) makeSortable(table);
  if (rows >= SEARCHED_FROM) makeSearchable(table);
}
