// A few of the rules of axe-core, those that scripts can decide without doubt. Returns what breaks them.
() => {
  const wrong = [];
  const visible = (one) => one.checkVisibility({ visibilityProperty: true });
  const name = (one) => one.getAttribute("aria-label") || (one.getAttribute("aria-labelledby") || "").split(" ")
    .map((id) => document.getElementById(id)?.textContent || "").join(" ").trim() || one.closest("label")?.textContent || [...(one.labels || [])].map((label) => label.textContent).join(" ").trim()
    || one.textContent.trim();
  for (const one of document.querySelectorAll("button, a[href], select, input, [role=img], [role=listbox], [role=group], nav, section"))
    if (visible(one) && !name(one)) wrong.push(`no name: ${one.outerHTML.slice(0, 90)}`);
  for (const one of document.querySelectorAll("[aria-labelledby], [aria-activedescendant], [aria-controls]"))
    for (const attribute of ["aria-labelledby", "aria-activedescendant", "aria-controls"])
      for (const id of (one.getAttribute(attribute) || "").split(" ").filter(Boolean))
        if (!document.getElementById(id)) wrong.push(`${attribute} names nothing: ${id}`);
  for (const box of document.querySelectorAll("[role=listbox]"))
    for (const one of box.querySelectorAll("*"))
      if (!["option", "presentation"].includes(one.getAttribute("role")) && !one.closest("[role=option]"))
        wrong.push(`listbox holds ${one.outerHTML.slice(0, 60)}`);
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) wrong.push(`id twice: ${id}`);
  for (const one of document.querySelectorAll("body *")) {
    const style = getComputedStyle(one);
    const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY)
      && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1);
    const reached = one.querySelector("a[href], button, input, select, [tabindex]");
    if (scrolls && visible(one) && one.tabIndex < 0 && !reached) wrong.push(`scrolls without focus: ${one.className}`);
  }
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  const mixed = (colours) => {
    brush.clearRect(0, 0, 1, 1);
    for (const colour of colours) { brush.fillStyle = colour; brush.fillRect(0, 0, 1, 1); }
    return [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colour) => colour.map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  for (const one of document.querySelectorAll("body *:not(svg *)")) {
    const own = [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!own || !visible(one) || one.closest(".hidden, .skip")) continue;
    const papers = [];
    for (let at = one; at; at = at.parentElement) papers.unshift(getComputedStyle(at).backgroundColor);
    const paper = light(mixed(papers));
    const ink = light(mixed([...papers, getComputedStyle(one).color]));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${one.className} ${one.textContent.slice(0, 30)}`);
  }
  return [...new Set(wrong)];
}
