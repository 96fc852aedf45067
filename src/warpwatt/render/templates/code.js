// Source, PTX and SASS beside each other. Only the rows in sight are in the document, so that listings of
// tens of thousands of rows scroll as easily as short ones.
const ROW = 20;
const SPARE = 12;
const percent = (share) => (share > 0 && share < 0.005 ? "<1 %" : `${(100 * share).toFixed(0)} %`);
const whole = (name) => ({ Time: "the time", Energy: "the energy" })[name] || `warp time in ${name}`;
const heatClass = (name) => ({ Time: "time", Energy: "energy" })[name] || "stall";

class Listing {
  constructor(host, text, heats) {
    Object.assign(this, { host, text, heats, shown: new Map(), shares: new Map(), most: 0, linked: new Set(), picked: -1, kind: "time" });
    this.keys = text.keys.map((keys) => (keys ? keys.split(" ") : []));
    this.byKey = new Map();
    this.keys.forEach((keys, row) => {
      for (const key of keys) this.byKey.set(key, [...(this.byKey.get(key) || []), row]);
    });
    this.sheet = document.createElement("div");
    this.sheet.className = "sheet";
    this.sheet.setAttribute("role", "presentation");
    this.sheet.style.height = `${text.texts.length * ROW}px`;
    this.sheet.style.width = `${text.texts.reduce((most, one) => Math.max(most, one.length), 0) + 15}ch`;
    host.style.maxHeight = `${text.texts.length * ROW + SPARE + 6}px`;
    host.append(this.sheet);
    host.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(host);
  }

  get length() { return this.text.texts.length; }

  hottest(name) { return (this.heats[name] || [[], []])[1].reduce((most, share) => Math.max(most, share), 0); }

  heat(name, most) {
    const [rows, shares] = this.heats[name] || [[], []];
    this.shares = new Map(rows.map((row, i) => [row, shares[i]]));
    this.most = most === undefined ? this.hottest(name) : most;
    this.kind = heatClass(name);
    this.host.classList.toggle("cold", !this.most);
    this.sheet.replaceChildren();
    this.shown.clear();
    this.draw();
  }

  // Rows that stay in sight stay the same elements: one that went away under the pointer could not be clicked.
  draw() {
    const first = Math.max(0, Math.floor(this.host.scrollTop / ROW) - SPARE);
    const last = Math.min(this.length, Math.ceil((this.host.scrollTop + this.host.clientHeight) / ROW) + SPARE);
    for (const [row, made] of this.shown) {
      if (row >= first && row < last) continue;
      made.remove();
      this.shown.delete(row);
    }
    for (let row = last - 1; row >= first; row--) {
      if (this.shown.has(row)) continue;
      const made = this.row(row);
      this.sheet.insertBefore(made, this.shown.get(row + 1) || null);
      this.shown.set(row, made);
    }
    this.mark();
  }

  mark() {
    for (const [row, made] of this.shown) {
      made.classList.toggle("linked", this.linked.has(row));
      made.classList.toggle("picked", row === this.picked);
      made.setAttribute("aria-selected", String(row === this.picked));
    }
    if (this.shown.has(this.picked)) this.host.setAttribute("aria-activedescendant", `${this.host.id}-${this.picked}`);
    else this.host.removeAttribute("aria-activedescendant");
  }

  row(row) {
    const kind = this.text.kinds[row] || "code";
    const share = this.shares.get(row);
    const made = document.createElement("div");
    made.className = `row ${kind} ${this.kind} ${(this.text.marks || {})[row] || ""}`.trim();
    made.id = `${this.host.id}-${row}`;
    made.dataset.row = row;
    made.setAttribute("role", "option");
    made.setAttribute("aria-setsize", this.length);
    made.setAttribute("aria-posinset", row + 1);
    made.style.top = `${row * ROW}px`;
    if (share) made.style.setProperty("--heat", (share / this.most).toFixed(3));
    for (const [name, text] of [["number", this.text.numbers[row]], ["share", share ? percent(share) : ""], ["text", this.text.texts[row]]]) {
      const part = document.createElement("span");
      part.className = name;
      part.textContent = text;
      made.append(part);
    }
    return made;
  }

  link(keys) {
    this.linked = new Set(keys.flatMap((key) => this.byKey.get(key) || []));
    this.mark();
  }

  reveal(row) {
    const top = row * ROW;
    const low = this.host.scrollTop + ROW;
    const high = this.host.scrollTop + this.host.clientHeight - 2 * ROW;
    if (top < low || top > high) this.host.scrollTop = top - this.host.clientHeight / 3;
    this.draw();
  }
}

// One account: picking a row in one listing lights up and shows what belongs to it in the others.
const connect = (section) => {
  const columns = data.columns[section.dataset.code];
  const hosts = [...section.querySelectorAll(".rows")];
  const listings = columns.map((column, i) => new Listing(hosts[i], data.texts[column.text], column.heats));
  const select = section.querySelector("[data-heat]");
  const said = section.querySelector(".code-said");

  const keysOf = (listing, row) => {
    const known = listing.keys[row].find((key) => listings.some((other) => other !== listing && other.byKey.has(key)));
    return known ? [known] : listing.keys[row].slice(0, 1);
  };
  const light = (listing, row) => {
    const keys = row < 0 ? [] : keysOf(listing, row);
    for (const other of listings) other.link(keys);
  };
  const tell = (listing, row) => {
    const parts = listings.filter((other) => other !== listing).map((other) => `${other.linked.size} of ${other.text.title}`);
    const share = listing.shares.get(row);
    const own = share ? `, ${percent(share)} of ${whole(select.value)}` : "";
    said.textContent = row < 0 ? "\u00a0" : `${listing.text.title}, ${listing.text.numbers[row]}${own}: ${parts.join(", ")}`;
  };
  const pick = (listing, row) => {
    for (const other of listings) other.picked = -1;
    listing.picked = row;
    light(listing, row);
    tell(listing, row);
    if (row < 0) return;
    for (const other of listings) {
      if (other !== listing && other.linked.size) other.reveal(Math.min(...other.linked));
    }
  };
  const step = (listing, row, way) => {
    let at = row;
    while (at >= 0 && at < listing.length && listing.text.kinds[at]) at += way;
    return at >= 0 && at < listing.length ? at : listing.picked;
  };
  const picked = () => listings.find((listing) => listing.picked >= 0);

  for (const listing of listings) {
    const rowAt = (event) => {
      const row = event.target.closest(".row");
      return row && row.classList.contains("code") ? Number(row.dataset.row) : -1;
    };
    listing.host.addEventListener("click", (event) => {
      const row = rowAt(event);
      if (row >= 0) pick(listing, row === listing.picked ? -1 : row);
    });
    listing.host.addEventListener("pointerover", (event) => {
      const row = rowAt(event);
      if (row >= 0 && !picked()) light(listing, row);
    });
    listing.host.addEventListener("pointerleave", () => { if (!picked()) light(listing, -1); });
    listing.host.addEventListener("keydown", (event) => {
      const page = Math.floor(listing.host.clientHeight / ROW) - 2;
      const from = listing.picked;
      const goal = {
        ArrowDown: [from + 1, 1], ArrowUp: [Math.max(0, from - 1), -1],
        PageDown: [Math.min(listing.length - 1, from + page), -1], PageUp: [Math.max(0, from - page), 1],
        Home: [0, 1], End: [listing.length - 1, -1],
      }[event.key];
      if (event.key === "Escape") pick(listing, -1);
      if (!goal) return;
      event.preventDefault();
      const row = step(listing, ...goal);
      pick(listing, row);
      if (row >= 0) listing.reveal(row);
    });
  }
  const warm = () => {
    for (const listing of listings) {
      listing.heat(select.value);
      const scale = listing.host.parentElement.querySelector("[data-scale]");
      scale.textContent = listing.most ? `${select.value}, hottest ${percent(listing.most)}` : "not analysed";
    }
    const own = picked();
    if (own) tell(own, own.picked);
  };
  select.addEventListener("change", warm);
  const ptx = section.querySelector("[data-show-ptx]");
  if (ptx) ptx.addEventListener("change", () => { section.querySelector("[data-ptx]").hidden = !ptx.checked; });
  warm();
  for (const listing of listings) {
    const hottest = [...listing.shares].reduce((best, one) => (one[1] > best[1] ? one : best), [-1, 0]);
    if (hottest[0] >= 0) listing.reveal(hottest[0]);
  }
};

// Listings are made when their account is first opened.
for (const account of document.querySelectorAll("details.account")) {
  const section = account.querySelector("[data-code]");
  let made = false;
  const make = () => {
    if (!account.open || made || !section) return;
    made = true;
    connect(section);
  };
  account.addEventListener("toggle", make);
  make();
}
