"use strict";
// Light or dark: the system's choice until somebody presses the button, then theirs, also next time.
document.documentElement.classList.add("scripted");

const data = JSON.parse(document.getElementById("data").textContent);

const stored = {
  // Browsers refuse storage to some pages (sandboxed frames): then nothing is remembered.
  get() {
    try { return localStorage.getItem("warpwatt-theme"); } catch { return null; }
  },
  set(theme) {
    try { localStorage.setItem("warpwatt-theme", theme); } catch { /* not remembered */ }
  },
};
{
  const button = document.querySelector("[data-theme-toggle]");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  const theme = stored.get();
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    stored.set(document.documentElement.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  show();
}
