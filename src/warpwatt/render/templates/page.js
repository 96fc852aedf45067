// A link into an account opens it; paper shows everything and the screen afterwards what it showed before.
const openTarget = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const account = target && target.closest("details.account");
  if (account && !account.open) {
    account.open = true;
    target.scrollIntoView();
  }
};
addEventListener("hashchange", openTarget);
openTarget();

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open]):not(.values)")];
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});
document.querySelector("[data-print]").addEventListener("click", () => print());
