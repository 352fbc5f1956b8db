// What every page may use, by attribute. Without this module each page still shows its latest state on reload.
//   <section data-live="/address">      events named "fragment" replace the elements that have the same ids
//   <li id data-into="list-id">         in such an event: comes last in that list where its id is new
//   <div data-stick>                    stays at its end while it grows, unless its reader scrolled up
//   <button data-opens="dialog-id">     opens a <dialog>
//   <button data-copies="element-id">   copies its text or value; data-said is what it then says
//   <form data-quiet>                   is posted without leaving the page; what changed comes by data-live

const END_SLACK = 24;

function isAtEnd(box) {
  return box.scrollHeight - box.scrollTop - box.clientHeight < END_SLACK;
}

function toEnd(box) {
  box.scrollTop = box.scrollHeight;
}

function keepOpen(before, after) {
  for (const open of before.querySelectorAll("details[id][open]")) {
    after.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute("open", "");
  }
  if (before.matches("details[open]") && after.matches("details")) after.setAttribute("open", "");
}

export function replace(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const sticking = [...document.querySelectorAll("[data-stick]")].filter(isAtEnd).map((box) => box.id);
  for (const after of [...template.content.children]) {
    const before = after.id && document.getElementById(after.id);
    if (!before) {
      if (after.dataset.into) document.getElementById(after.dataset.into)?.append(after);
      continue;
    }
    if (before.isEqualNode(after)) continue;
    keepOpen(before, after);
    const focused = before.contains(document.activeElement) ? document.activeElement.id : "";
    const top = before.scrollTop;
    before.replaceWith(after);
    after.scrollTop = top;
    if (focused) document.getElementById(focused)?.focus();
  }
  for (const id of sticking) {
    const box = id && document.getElementById(id);
    if (box) toEnd(box);
  }
}

function follow(root) {
  const source = new EventSource(root.dataset.live);
  source.addEventListener("fragment", (event) => replace(event.data));
  addEventListener("pagehide", () => source.close());
}

async function post(form, submitter) {
  const body = new FormData(form, submitter);
  const address = submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  const answer = await fetch(address, { method: "POST", body, redirect: "manual" });
  // A redirect is how a form says that it is done; anything else is a page to read.
  if (answer.type !== "opaqueredirect") throw new Error(String(answer.status));
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("form[data-quiet]")) return;
  event.preventDefault();
  const submitter = event.submitter;
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  try {
    await post(form, submitter);
    const first = form.querySelector("[data-first]");
    // What stood there from the start was refused before: it has been said now.
    first?.setAttribute("value", "");
    form.reset();
    first?.focus();
  } catch {
    delete form.dataset.quiet;
    form.requestSubmit(submitter);
  } finally {
    delete form.dataset.busy;
  }
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-opens], [data-copies]");
  if (!button) return;
  if (button.dataset.opens) {
    document.getElementById(button.dataset.opens)?.showModal();
    return;
  }
  const source = document.getElementById(button.dataset.copies);
  await navigator.clipboard.writeText(source.value ?? source.textContent.trim());
  if (button.dataset.said) button.textContent = button.dataset.said;
});

const asked = new URL(location.href);
if (asked.searchParams.has("typed")) {
  asked.searchParams.delete("typed");
  history.replaceState(null, "", asked);
}
for (const root of document.querySelectorAll("[data-live]")) follow(root);
for (const box of document.querySelectorAll("[data-stick]")) toEnd(box);
