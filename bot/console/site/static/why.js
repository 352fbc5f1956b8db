// <a href="…" data-why>: shows the page it leads to as a part, in the dialog #why-dialog. Without this module it is a link.

const dialog = document.getElementById("why-dialog");
const body = document.getElementById("why-body");

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-why]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const answer = await fetch(`${link.href}?fragment=1`);
  if (!answer.ok && answer.status !== 404) {
    location.assign(link.href);
    return;
  }
  const template = document.createElement("template");
  template.innerHTML = await answer.text();
  body.replaceChildren(template.content);
  dialog.showModal();
});
