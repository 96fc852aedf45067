// The source: line numbers beside it, a mark at the line that is wrong, files dropped into it.

import { colour } from "./colours.js";

const LINE = 20;
const TOP = 8;
const LEFT = 9;
const LARGEST = 512 * 1024;

export class Editor {
  constructor(root, changed) {
    this.root = root;
    this.area = root.querySelector(".source");
    this.colours = root.querySelector(".colours");
    this.gutter = root.querySelector(".gutter");
    this.markBox = root.querySelector(".mark");
    this.said = root.querySelector(".said");
    this.state = root.querySelector(".state");
    this.changed = changed;
    this.name = "kernel.cu";
    this.area.addEventListener("input", () => this.edited());
    this.area.addEventListener("scroll", () => this.placed());
    new ResizeObserver(() => this.placed()).observe(this.area);
    root.querySelector(".file").addEventListener("change", (event) => this.take(event.target.files[0]));
    for (const kind of ["dragenter", "dragover"]) root.addEventListener(kind, (event) => this.hover(event));
    root.addEventListener("dragleave", () => root.classList.remove("over"));
    root.addEventListener("drop", (event) => this.dropped(event));
  }

  get text() { return this.area.value; }

  set(text, name) {
    this.area.value = text;
    this.name = name || (/^\s*(\/\/[^\n]*\n\s*)*\.version\s/.test(text) ? "kernel.ptx" : "kernel.cu");
    this.area.scrollTop = 0;
    this.edited();
  }

  edited() {
    const lines = this.text.split("\n").length;
    if (lines !== this.lines) {
      this.lines = lines;
      this.gutter.textContent = Array.from({ length: lines }, (_, i) => i + 1).join("\n");
    }
    this.area.classList.toggle("coloured", colour(this.colours, this.text));
    this.clear();
    this.changed();
  }

  hover(event) {
    event.preventDefault();
    this.root.classList.add("over");
  }

  dropped(event) {
    event.preventDefault();
    this.root.classList.remove("over");
    const file = event.dataTransfer.files[0];
    if (file) this.take(file);
    else if (event.dataTransfer.getData("text/plain")) this.set(event.dataTransfer.getData("text/plain"));
  }

  async take(file) {
    if (!file) return;
    if (file.size > LARGEST) return this.say({ detail: `${file.name} is larger than ${LARGEST / 1024} KiB`, hint: "send the kernel alone" });
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes.includes(0)) return this.say({ detail: `${file.name} is a binary`, hint: "drop a .cu or .ptx file; the command line reads binaries: warpwatt predict FILE" });
    const safe = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,59}\.(cu|cuh|ptx|cpp)$/.test(file.name);
    this.set(new TextDecoder().decode(bytes), safe ? file.name : undefined);
  }

  // Show what is wrong: below the source, and at its line where there is one.
  say(problem) {
    const line = this.owns(problem) ? problem.line : null;
    const elsewhere = problem.file && problem.file !== this.name ? `${problem.file}${problem.line ? `:${problem.line}` : ""}: ` : "";
    const parts = [element("p", (line ? `Line ${line}: ` : elsewhere) + problem.detail)];
    if (problem.hint) parts.push(element("p", problem.hint, "fix"));
    if (line) {
      const button = element("button", `Go to line ${line}`);
      button.type = "button";
      button.addEventListener("click", () => this.go(line));
      parts.push(button);
    }
    if (problem.details && problem.details.length > 1) {
      const more = element("details");
      more.append(element("summary", "What the compiler says"), element("pre", problem.details.join("\n")));
      parts.push(more);
    }
    this.said.replaceChildren(...parts);
    this.said.hidden = false;
    this.area.setAttribute("aria-invalid", "true");
    this.state.textContent = "";
    if (line) this.mark(line, problem);
  }

  // Whether a problem is at one of these lines, not in a header or in what the compiler made.
  owns(problem) {
    return Boolean(problem.line) && problem.file === this.name && problem.line <= this.lines;
  }

  mark(line, problem) {
    this.marked = line;
    this.markBox.querySelector(".bubble").textContent = problem.detail + (problem.hint ? ` — ${problem.hint}` : "");
    this.markBox.hidden = false;
    const y = (line - 1) * LINE;
    const height = this.area.clientHeight;
    if (y < this.area.scrollTop || y > this.area.scrollTop + height - 4 * LINE) this.area.scrollTop = Math.max(0, y - height / 3);
    this.placed();
  }

  placed() {
    this.gutter.scrollTop = this.area.scrollTop;
    this.colours.style.translate = `${-this.area.scrollLeft}px ${-this.area.scrollTop}px`;
    if (this.marked == null) return;
    const y = TOP + (this.marked - 1) * LINE - this.area.scrollTop;
    const bubble = this.markBox.querySelector(".bubble");
    this.markBox.querySelector(".band").style.top = `${y}px`;
    this.markBox.classList.add("beside");
    const end = this.width(this.text.split("\n")[this.marked - 1]) - this.area.scrollLeft + 3 * LEFT;
    const beside = end + bubble.offsetWidth < this.area.clientWidth;
    this.markBox.classList.toggle("beside", beside);
    const above = !beside && y + LINE + bubble.offsetHeight > this.area.clientHeight;
    this.markBox.classList.toggle("above", above);
    bubble.style.left = `${beside ? end : LEFT}px`;
    bubble.style.top = `${beside ? y : above ? y - bubble.offsetHeight : y + LINE}px`;
  }

  // Pixels that a line takes in the area's font.
  width(line) {
    const context = document.createElement("canvas").getContext("2d");
    context.font = getComputedStyle(this.area).font;
    return context.measureText(line.replaceAll("\t", "    ")).width;
  }

  go(line) {
    const start = this.text.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    const end = this.text.indexOf("\n", start);
    this.area.focus();
    this.area.setSelectionRange(start, end < 0 ? this.text.length : end);
  }

  clear() {
    this.marked = null;
    this.markBox.hidden = true;
    this.said.hidden = true;
    this.said.replaceChildren();
    this.area.removeAttribute("aria-invalid");
  }
}

export function element(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
