// Numbers for people: a table of predictions, or of what changed between two kernels.
import { element } from "./editor.js";

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];

export function si(value, unit) {
  if (value == null) return "?";
  if (value === 0) return `0 ${unit}`;
  const [factor, prefix] = PREFIXES.find(([size]) => Math.abs(value) >= size * 0.9995) || PREFIXES.at(-1);
  return `${three(value / factor)} ${prefix}${unit}`;
}

function three(value) {
  const rounded = Number(value.toPrecision(3));
  return rounded >= 100 ? String(Math.round(rounded)) : rounded.toPrecision(3);
}

function cell(name, text, small, kind) {
  const made = element("td", text, kind);
  made.dataset.name = name;
  if (small) made.append(element("small", small));
  return made;
}

function head(table, names) {
  const row = element("tr");
  row.append(...names.map((name) => {
    const th = element("th", name);
    th.scope = "col";
    return th;
  }));
  const made = element("thead");
  made.append(row);
  table.append(made);
}

function rowHead(text, small) {
  const th = element("th", text);
  th.scope = "row";
  if (small) th.append(element("small", small));
  return th;
}

function quantity(name, estimate, best) {
  const range = estimate.low === estimate.high ? "" : `${si(estimate.low, estimate.unit)} – ${si(estimate.high, estimate.unit)}`;
  return cell(name, si(estimate.value, estimate.unit) + (best ? " ★" : ""), range, best ? "best" : "");
}

function least(predictions, name) {
  // a star only where the next lies beyond the interval: else they cannot be told apart
  const [first, next] = predictions.map((p) => p[name]).sort((a, b) => a.value - b.value);
  return next && next.value > first.high ? first.value : null;
}

export function showPredictions(table, predictions) {
  table.replaceChildren();
  head(table, ["Kernel and GPU", "Time", "Power", "Energy", "Limited by"]);
  const body = element("tbody");
  const groups = new Map();
  for (const p of predictions) {
    const key = `${p.kernel} ${JSON.stringify(p.launch.grid)} ${JSON.stringify(p.launch.block)}`;
    groups.set(key, [...(groups.get(key) || []), p]);
  }
  for (const group of groups.values()) {
    const fastest = least(group, "time");
    const thriftiest = least(group, "energy");
    for (const p of group) {
      const row = element("tr");
      row.append(rowHead(p.gpu, p.kernel), quantity("Time", p.time, p.time.value === fastest),
        quantity("Power", p.power), quantity("Energy", p.energy, p.energy.value === thriftiest), cell("Limited by", p.bottleneck));
      body.append(row);
    }
  }
  table.append(body);
}

function change(name, ratio, unit) {
  const percent = 100 * (ratio.ratio - 1);
  const sure = ratio.high < 1 ? "best" : ratio.low > 1 ? "worse" : "";
  const sign = percent > 0 ? "+" : percent < 0 ? "−" : "±";
  const range = `${si(ratio.before, unit)} → ${si(ratio.after, unit)}; × ${ratio.low.toFixed(2)} – ${ratio.high.toFixed(2)}`;
  return cell(name, `${sign}${Math.abs(percent).toFixed(Math.abs(percent) < 10 ? 1 : 0)} %`, range, sure);
}

export function showChanges(table, changes) {
  table.replaceChildren();
  head(table, ["GPU", "Time", "Power", "Energy", "Limited by"]);
  const body = element("tbody");
  for (const c of changes) {
    const row = element("tr");
    row.append(rowHead(c.gpu, `${c.kernels[0]} → ${c.kernels[1]}`), change("Time", c.time, "s"), change("Power", c.power, "W"),
      change("Energy", c.energy, "J"), cell("Limited by", c.bottlenecks[0] === c.bottlenecks[1] ? c.bottlenecks[0] : c.bottlenecks.join(" → ")));
    body.append(row);
  }
  table.append(body);
}

export function save(content, name, type) {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
