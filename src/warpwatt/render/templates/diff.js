// Two listings in step: rows of the same height at the same place, scrolled, picked and heated together.
const contrast = (section) => {
  const hosts = [...section.querySelectorAll(".rows")];
  const sides = data.diffs[section.dataset.diff].map((side, i) => new Listing(hosts[i], side.text, side.heats));
  const select = section.querySelector("[data-heat]");
  const said = section.querySelector(".code-said");
  const marks = sides.map((side) => side.text.marks);
  const starts = [...Array(sides[0].length).keys()].filter((row) => marks[0][row] || marks[1][row])
    .filter((row, i, all) => !i || all[i - 1] !== row - 1);
  let picked = -1;

  const word = (side, row) => {
    const share = side.shares.get(row);
    const what = side.text.numbers[row] ? `${side.text.numbers[row]}${share ? `, ${percent(share)}` : ""}` : "nothing";
    return `${side.text.title}: ${what}`;
  };
  const pick = (row) => {
    picked = row;
    for (const side of sides) {
      side.picked = row;
      side.linked = new Set(row < 0 ? [] : [row]);
      side.mark();
    }
    said.textContent = row < 0 ? "\u00a0" : sides.map((side) => word(side, row)).join("; ");
  };
  const reveal = (row) => {
    pick(row);
    for (const side of sides) side.reveal(row);
  };

  sides.forEach((side, i) => {
    const other = sides[1 - i];
    side.host.addEventListener("scroll", () => {
      if (other.host.scrollTop !== side.host.scrollTop) other.host.scrollTop = side.host.scrollTop;
    });
    side.host.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) pick(Number(row.dataset.row) === picked ? -1 : Number(row.dataset.row));
    });
    side.host.addEventListener("keydown", (event) => {
      const page = Math.floor(side.host.clientHeight / ROW) - 2;
      const goal = { ArrowDown: picked + 1, ArrowUp: picked - 1, PageDown: picked + page, PageUp: picked - page, Home: 0, End: side.length - 1 }[event.key];
      if (event.key === "Escape") pick(-1);
      if (goal === undefined) return;
      event.preventDefault();
      reveal(Math.min(side.length - 1, Math.max(0, goal)));
    });
  });
  for (const button of section.querySelectorAll("[data-step]")) {
    const way = Number(button.dataset.step);
    button.disabled = !starts.length;
    button.addEventListener("click", () => {
      const next = way > 0 ? starts.find((row) => row > picked) : starts.findLast((row) => row < picked || picked < 0);
      reveal(next === undefined ? starts.at(way > 0 ? 0 : -1) : next);
    });
  }
  const warm = () => {
    const most = Math.max(...sides.map((side) => side.hottest(select.value)));
    for (const side of sides) {
      side.heat(select.value, most);
      const own = side.hottest(select.value);
      side.host.parentElement.querySelector("[data-scale]").textContent = own ? `hottest ${percent(own)}` : "not analysed";
    }
    if (picked >= 0) pick(picked);
  };
  select.addEventListener("change", warm);
  warm();
  const first = starts.length ? starts[0] : 0;
  for (const side of sides) side.host.scrollTop = Math.max(0, first - 4) * ROW;
};
for (const section of document.querySelectorAll("[data-diff]")) contrast(section);
