// <form data-knobs>: its knobs take effect as they are turned; without this module its button does the same.
// They stand as the server says in #knobs-are, also after it was restarted or another tab turned them.

const form = document.querySelector("form[data-knobs]");
const slider = form.querySelector("[data-shown]");
const shown = document.getElementById(slider.dataset.shown);
const button = form.querySelector("[data-saved]");
const words = button.textContent;
let isTurning = false;
let posting = 0;

function show() {
  if (isTurning || posting) return;
  const { model, latency } = document.getElementById("knobs-are").dataset;
  slider.value = latency;
  shown.value = Number(latency);
  for (const choice of form.elements.model) choice.checked = choice.value === model;
}

slider.addEventListener("input", () => {
  isTurning = true;
  shown.value = slider.value;
  button.textContent = words;
});

form.addEventListener("change", async () => {
  isTurning = false;
  posting += 1;
  try {
    const body = new FormData(form);
    body.append("quiet", "yes");
    const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
    if (answer.type === "opaqueredirect") button.textContent = button.dataset.saved;
    else form.submit();
  } finally {
    posting -= 1;
  }
});

new MutationObserver(show).observe(form, { childList: true });
