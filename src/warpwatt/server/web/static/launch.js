// The launch: fields grown from the kernel's parameters, or the launches that the source itself describes.
import { element } from "./editor.js";

const TYPES = ["f32", "f64", "f16", "bf16", "i32", "u32", "i64", "u64", "i16", "u16", "i8", "u8"];
const FILLS = [["", "random, as assumed"], ["random", "random"], ["zeros", "zeros"], ["ones", "ones"], ["arange", "0, 1, 2 …"]];
const WRITTEN = "written";

export class Launch {
  constructor(root, id) {
    this.root = root;
    this.id = id;
    this.kernels = [];
    this.launches = [];
    this.typed = new Map();
    this.which = root.querySelector(".which");
    this.which.id = `which-${id}`;
    root.querySelector(".which-label").htmlFor = this.which.id;
    this.fields = root.querySelector(".fields");
    this.which.addEventListener("change", () => this.draw());
    this.fields.addEventListener("input", (event) => this.typed.set(event.target.dataset.key, event.target.value));
  }

  // Take what the compiler found; what was typed stays where it still fits.
  grow({ kernels, launches }) {
    const before = this.which.value;
    this.kernels = kernels;
    this.launches = launches;
    const options = kernels.map((kernel) => new Option(`${kernel.short} – set the launch here`, kernel.name));
    if (launches.length) options.unshift(new Option(launches.length === 1 ? "the launch described in the source" : `all ${launches.length} launches described in the source`, WRITTEN));
    this.which.replaceChildren(...options);
    if (options.some((option) => option.value === before)) this.which.value = before;
    this.root.querySelector(".empty").hidden = true;
    this.root.querySelector(".known").hidden = false;
    this.draw();
  }

  // Whether nothing is missing that the form asks for; nobody is told.
  get complete() {
    if (!this.kernels.length) return false;
    if (this.which.value === WRITTEN) return true;
    return [...this.fields.querySelectorAll("input")].every((input) => input.checkValidity());
  }

  draw() {
    const kernel = this.kernels.find((one) => one.name === this.which.value);
    const written = this.root.querySelector(".written");
    written.replaceChildren(...(kernel ? [] : this.launches.map((launch) => element("code", spoken(launch)))));
    this.fields.replaceChildren(...(kernel ? this.rows(kernel) : []));
  }

  rows(kernel) {
    const described = this.launches.find((launch) => !launch.kernel || kernel.demangled.includes(launch.kernel)) || {};
    const sizes = kernel.parameters.filter((p) => !p.pointer && /^(s|u|b)?(8|16|32|64)$|int|long|size|short|char/.test(p.type));
    const size = sizes.length ? sizes[0].name : "";
    const rows = [
      this.row("Grid", "blocks", [this.input("grid", described.grid, { required: true, placeholder: "4096 or 64,64", label: "Grid: blocks" })]),
      this.row("Block", "threads", [this.input("block", described.block || "256", { required: true, placeholder: "256 or 16,16", label: "Block: threads" })]),
      this.row("Shared", "dynamic, bytes", [this.input("shared", described.shared, { placeholder: "0", numeric: true, label: "Dynamic shared memory in bytes" })]),
    ];
    for (const parameter of kernel.parameters) {
      const said = (described.args || {})[parameter.name] ?? "";
      rows.push(parameter.pointer ? this.buffer(kernel, parameter, said, size) : this.scalar(kernel, parameter, said));
    }
    return rows;
  }

  scalar(kernel, parameter, said) {
    const key = `${kernel.short}/${parameter.name}`;
    return this.row(parameter.name, parameter.type, [this.input(key, said, { required: true, placeholder: "value", label: `${parameter.name}: value`, numeric: true })]);
  }

  buffer(kernel, parameter, said, size) {
    const key = `${kernel.short}/${parameter.name}`;
    const [, type, shape, fill] = /^([a-z]+\d+)\[([^\]]*)\](?::(.+))?$/.exec(said) || [null, parameter.element, size, ""];
    return this.row(parameter.name, parameter.type, [
      this.select(`${key}/type`, type, TYPES.map((one) => [one, one]), `${parameter.name}: type of elements`),
      this.input(`${key}/shape`, shape, { required: true, placeholder: "how many: n, 2*n, 1024", label: `${parameter.name}: number of elements` }),
      this.select(`${key}/fill`, fill || "", FILLS, `${parameter.name}: contents`),
    ]);
  }

  row(name, note, controls) {
    const row = element("div", undefined, "row");
    const label = element("span", name);
    label.append(element("small", note));
    const parts = element("div", undefined, "parts");
    parts.append(...controls);
    row.append(label, parts);
    return row;
  }

  input(key, value, { required = false, placeholder = "", label, numeric = false }) {
    const input = element("input");
    Object.assign(input, { required, placeholder, autocomplete: "off", spellcheck: false });
    if (numeric) input.inputMode = "decimal";
    return this.control(input, key, value ?? "", label);
  }

  select(key, value, choices, label) {
    const select = element("select");
    select.append(...choices.map(([name, shown]) => new Option(shown, name)));
    return this.control(select, key, value, label);
  }

  control(control, key, value, label) {
    control.dataset.key = key;
    control.setAttribute("aria-label", label);
    control.value = this.typed.get(key) ?? value;
    return control;
  }

  // The launch as the API takes it; null, with the field in focus, where something is missing.
  value() {
    const kernel = this.kernels.find((one) => one.name === this.which.value);
    if (!kernel) return {};
    const wrong = [...this.fields.querySelectorAll("input")].find((input) => !input.checkValidity());
    if (wrong) {
      wrong.reportValidity();
      return null;
    }
    const get = (key) => [...this.fields.querySelectorAll("input, select")].find((c) => c.dataset.key === key).value.trim();
    const args = {};
    for (const parameter of kernel.parameters) {
      const key = `${kernel.short}/${parameter.name}`;
      const fill = parameter.pointer && get(`${key}/fill`);
      args[parameter.name] = parameter.pointer ? `${get(`${key}/type`)}[${get(`${key}/shape`)}]${fill ? `:${fill}` : ""}` : get(key);
    }
    const launch = { kernel: kernel.name, grid: get("grid"), block: get("block"), args };
    if (get("shared")) launch.shared = Number(get("shared"));
    return launch;
  }
}

function spoken(launch) {
  const dimensions = `${launch.grid} blocks × ${launch.block}`;
  const args = Object.entries(launch.args || {}).map(([name, value]) => `${name}=${value}`).join(" ");
  return `${launch.kernel ? `${launch.kernel}: ` : ""}${dimensions}  ${args}`;
}
