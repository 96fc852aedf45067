// The page: two sides at most, GPUs, options, and what the server answers.
import { Editor, element } from "./editor.js";
import { Launch } from "./launch.js";
import { read, write } from "./permalink.js";
import { pieces } from "./pieces.js";
import { save, showChanges, showPredictions, si } from "./results.js";

const API = "/api/v1";
const COMPILE_AFTER = 600;
const REMEMBERED = "warpwatt";
const $ = (id) => document.getElementById(id);

class Refused extends Error {
  constructor(problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

async function ask(path, body, signal, kind = "application/json") {
  const options = body === undefined ? { signal } : {
    method: "POST", signal, headers: { "Content-Type": "application/json", Accept: kind }, body: JSON.stringify(body),
  };
  const answer = await fetch(API + path, options);
  if (answer.ok) return answer;
  const problem = (answer.headers.get("content-type") || "").includes("json") ? await answer.json() : { detail: `the server answers ${answer.status}` };
  throw new Refused(problem);
}

class Side {
  constructor(key, title) {
    this.key = key;
    const made = $("side").content.cloneNode(true);
    this.root = made.querySelector(".side");
    this.root.querySelector("h2").textContent = title;
    const area = this.root.querySelector(".source");
    area.id = `source-${key}`;
    area.setAttribute("aria-label", `${title}: source`);
    this.launch = new Launch(this.root.querySelector(".launch"), key);
    this.editor = new Editor(this.root.querySelector(".editor"), () => this.later());
    this.example = this.root.querySelector(".example");
    this.example.addEventListener("change", () => {
      const found = examples.find((one) => one.name === this.example.value);
      if (found) this.editor.set(found.source, found.name);
    });
  }

  later() {
    clearTimeout(this.timer);
    this.stop();
    remember();
    outdated();
    this.editor.state.textContent = "";
    if (this.editor.text.trim()) this.timer = setTimeout(() => this.compile(), COMPILE_AFTER);
  }

  stop() {
    if (this.running) this.running.abort();
  }

  get source() {
    return { source: this.editor.text, name: this.editor.name, compilation: compilation() };
  }

  async compile() {
    const running = this.running = new AbortController();
    this.editor.state.textContent = "Compiling …";
    try {
      const answer = await ask("/kernels", { ...this.source, gpu: [...chosen][0] || "h200" }, running.signal);
      const found = await answer.json();
      if (running !== this.running) return;
      this.editor.clear();
      this.launch.grow(found);
      const names = found.kernels.map((kernel) => kernel.short).join(", ");
      this.editor.state.textContent = `${found.language}, compiled for ${found.target}: ${names}`;
      live();
    } catch (error) {
      if (error.name === "AbortError" || running !== this.running) return;
      this.editor.say(error.problem || { detail: "the server does not answer", hint: "is warpwatt serve still running?" });
    }
  }
}

// -- GPUs --------------------------------------------------------------------------------------------

const chosen = new Set(["NVIDIA H200"]);
let gpus = [];

function drawGpus() {
  const words = $("gpu-search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (gpu) => words.every((word) => gpu.searched.includes(word));
  const found = gpus.filter(fits);
  $("gpu-list").replaceChildren(...found.map((gpu) => {
    const label = element("label");
    const box = element("input");
    Object.assign(box, { type: "checkbox", value: gpu.name, checked: chosen.has(gpu.name), disabled: gpu.missing.length > 0 });
    box.addEventListener("change", () => choose(gpu.name, box.checked));
    const lacks = gpu.missing.length ? `no prediction: ${gpu.missing.join(", ")} not known` : `${gpu.architecture}, ${gpu.sm_count} SMs, ${si(gpu.memory_bandwidth, "B/s")}`;
    label.append(box, element("span", gpu.name), element("small", lacks));
    return label;
  }));
  $("gpu-count").textContent = `${found.length} of ${gpus.length} GPUs`;
}

function choose(name, on) {
  if (on) chosen.add(name);
  else chosen.delete(name);
  drawChosen();
  remember();
  outdated();
  clearTimeout(waiting);
  waiting = setTimeout(live, COMPILE_AFTER);
}

function drawChosen() {
  $("chosen").replaceChildren(...[...chosen].map((name) => {
    const item = element("li");
    const button = element("button", `${name} ×`);
    button.type = "button";
    button.setAttribute("aria-label", `Leave out ${name}`);
    button.addEventListener("click", () => {
      choose(name, false);
      drawGpus();
      ($("chosen").querySelector("button") || $("gpu-search")).focus();
    });
    item.append(button);
    return item;
  }));
}

// -- options -----------------------------------------------------------------------------------------

function compilation() {
  const words = $("define").value.trim().split(/\s+/).filter(Boolean);
  const define = Object.fromEntries(words.map((word) => { const [name, ...value] = word.split("="); return [name, value.join("=")]; }));
  return { ...(words.length ? { define } : {}), ...($("fast-math").checked ? { fast_math: true } : {}) };
}

function options() {
  const model = [["time", "time-model"], ["power", "power-model"]].filter(([, id]) => $(id).value).map(([kind, id]) => `${kind}=${$(id).value}`);
  const clock = $("clock").value.trim();
  const level = $("level").value;
  return { gpus: [...chosen], advice: $("advice").checked, ...(model.length ? { model } : {}), ...(clock ? { clock } : {}), ...(level ? { level } : {}) };
}

// -- asking ------------------------------------------------------------------------------------------

let last = null;
let work = null;
let waiting = 0;

// What stands below belongs to an earlier source or choice.
function outdated(on = true) {
  $("results").classList.toggle("stale", on);
  $("stale").hidden = !on;
  if (on && work) work.abort();
}

// Predict what is there, if it is complete, without moving the reader.
function live() {
  const used = comparing() ? sides : sides.slice(0, 1);
  if ($("live").checked && chosen.size && used.every((side) => side.editor.text.trim() && side.launch.complete)) predict(false);
}

function request() {
  const used = comparing() ? sides : sides.slice(0, 1);
  const bodies = [];
  for (const side of used) {
    if (!side.editor.text.trim()) {
      side.editor.say({ detail: "there is no source yet", hint: "paste a kernel, drop a file, or pick an example" });
      side.editor.area.focus();
      return null;
    }
    const launch = side.launch.value();
    if (launch === null) return null;
    bodies.push({ ...side.source, launch });
  }
  if (!chosen.size) {
    trouble({ detail: "no GPU is chosen", hint: "pick at least one" });
    $("gpu-search").focus();
    return null;
  }
  return comparing() ? { before: bodies[0], after: bodies[1], ...options() } : { ...bodies[0], ...options() };
}

async function predict(asked = true) {
  trouble(null);
  const body = request();
  if (!body) return;
  if (work) work.abort();
  for (const side of sides) {
    clearTimeout(side.timer);
    side.editor.clear();
  }
  const own = work = new AbortController();
  busy(true);
  try {
    const answer = await ask(comparing() ? "/compare" : "/predict", body, own.signal, "application/json-seq");
    let first = asked;
    for await (const piece of pieces(answer.body)) {
      if (own !== work) return;
      if (piece.problem) throw new Refused(piece.problem);
      show(piece.document, piece.report, first);
      first = false;
    }
  } catch (error) {
    if (error.name !== "AbortError" && own === work) report(error);
  } finally {
    if (own === work) {
      work = null;
      busy(false);
    }
  }
}

function report(error) {
  const problem = error.problem || { detail: "the server does not answer", hint: "is warpwatt serve still running?" };
  const side = problem.side === "after" ? sides[1] : sides[0];
  if (side.editor.owns(problem)) {
    side.editor.say(problem);
    side.editor.area.focus();
  } else {
    trouble(problem);
  }
}

function trouble(problem) {
  const parts = problem ? [element("p", problem.detail)] : [];
  if (problem && problem.hint) parts.push(element("p", problem.hint, "fix"));
  if (problem && problem.details && problem.details.length) parts.push(element("pre", problem.details.join("\n")));
  $("trouble").replaceChildren(...parts);
}

function busy(on) {
  $("stop").hidden = !on;
  $("progress").textContent = on ? "Compiling, emulating, predicting …" : "";
}

// Without the address of a report: what is known before it and the advice.
function show(found, url, asked) {
  last = { found, url };
  outdated(false);
  if (found.changes) showChanges($("summary"), found.changes);
  else showPredictions($("summary"), found.predictions);
  $("results-title").textContent = found.changes ? "What changed" : "Prediction";
  const notes = found.changes ? [...found.before.notes] : found.notes;
  $("notes").replaceChildren(...notes.map((note) => element("li", note)));
  $("results").setAttribute("aria-busy", String(!url));
  if (url) {
    $("report").src = url;
    $("open-report").href = url;
  } else {
    $("progress").textContent = "Predicting what changes would bring …";
  }
  $("results").hidden = false;
  if (!asked) return;
  $("results").focus({ preventScroll: true });
  $("results").scrollIntoView({ block: "start" });
}

// -- start -------------------------------------------------------------------------------------------

const comparing = () => $("comparing").checked;
let examples = [];
const sides = [new Side("before", "Kernel"), new Side("after", "Second kernel")];

function drawSides() {
  document.body.classList.toggle("comparing", comparing());
  sides[0].root.querySelector("h2").textContent = comparing() ? "Before" : "Kernel";
  sides[1].root.querySelector("h2").textContent = "After";
  sides[1].root.hidden = !comparing();
}

const KEPT = ["clock", "define", "level"];

// Everything that a link says, as it is now.
function held() {
  const used = comparing() ? sides : sides.slice(0, 1);
  const fields = Object.fromEntries(KEPT.map((id) => [id, $(id).value]).filter(([, value]) => value));
  return { sources: used.map((side) => [side.editor.text, side.editor.name]), gpus: [...chosen], comparing: comparing(), live: $("live").checked, ...fields };
}

function remember() {
  try {
    sessionStorage.setItem(REMEMBERED, JSON.stringify(held()));
  } catch { /* storage is off: a reload starts afresh */ }
}

// The address wins over what this tab held; returns whether there was either.
function recall() {
  try {
    const held = read(location.hash) || JSON.parse(sessionStorage.getItem(REMEMBERED) || "null");
    if (!held) return false;
    if (held.live === false) $("live").checked = false;
    for (const id of KEPT) if (held[id]) $(id).value = held[id];
    chosen.clear();
    for (const name of held.gpus) chosen.add(name);
    $("comparing").checked = held.comparing;
    sides.forEach((side, i) => held.sources[i] && held.sources[i][0] && side.editor.set(...held.sources[i]));
    return true;
  } catch {
    return false;
  }
}

async function fill() {
  const [found, models, shown] = await Promise.all(["/gpus", "/models", "/examples"].map(async (path) => (await ask(path)).json()));
  gpus = found.gpus.map((gpu) => ({ ...gpu, searched: [gpu.name, ...gpu.aliases, gpu.architecture, gpu.capability].join(" ").toLowerCase() }));
  gpus.sort((a, b) => b.capability.localeCompare(a.capability, "en", { numeric: true }));
  examples = shown.examples;
  for (const [id, kind] of [["time-model", "time"], ["power-model", "power"]]) {
    const own = models.models.filter((model) => model.kind === kind);
    $(id).append(...own.map((model) => new Option(model.default ? `${model.name} (default)` : model.name, model.default ? "" : model.name, model.default, model.default)));
  }
  for (const side of sides) side.example.append(...examples.map((one) => new Option(one.title, one.name)));
  drawGpus();
}

$("sides").append(...sides.map((side) => side.root));
$("comparing").addEventListener("change", () => { drawSides(); remember(); });
$("gpu-search").addEventListener("input", drawGpus);
$("gpu-search").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const boxes = [...$("gpu-list").querySelectorAll("input:enabled")];
  const typed = event.target.value.trim().toLowerCase();
  const named = gpus.find((gpu) => [gpu.name, ...gpu.aliases].some((name) => name.toLowerCase() === typed));
  const meant = boxes.find((box) => named && box.value === named.name) || (boxes.length === 1 ? boxes[0] : null);
  if (meant) meant.click();
});
for (const id of ["define", "fast-math"]) $(id).addEventListener("change", () => sides.forEach((side) => side.later()));
$("ask").addEventListener("submit", (event) => { event.preventDefault(); predict(); });
$("stop").addEventListener("click", () => work && work.abort());
addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); predict(); } });
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
$("save-json").addEventListener("click", () => save(JSON.stringify(last.found, null, 2), "warpwatt.json", "application/json"));
$("save-report").addEventListener("click", async () => save(await (await fetch(last.url)).blob(), "warpwatt.html", "text/html"));
$("link").addEventListener("click", async () => {
  history.replaceState(null, "", write(held()));
  try {
    await navigator.clipboard.writeText(location.href);
    $("progress").textContent = "The link is copied; it holds everything, nothing is kept on the server.";
  } catch {
    $("progress").textContent = "The link stands in the address bar.";
  }
});
$("show-sass").addEventListener("click", () => { $("report").src = `${last.url}#prediction-1-source`; });
const known = recall();
drawSides();
drawChosen();
fill().then(() => { if (!known) sides[0].editor.set(examples[0].source, examples[0].name); }).catch(() => trouble({ detail: "the server does not answer", hint: "is warpwatt serve still running?" }));
