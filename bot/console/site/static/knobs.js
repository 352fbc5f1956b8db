// <form data-knobs>: its knobs take effect as they are turned; without this module its button does the same.

const form = document.querySelector("form[data-knobs]");
const slider = form.querySelector("[data-shown]");
const shown = document.getElementById(slider.dataset.shown);
const button = form.querySelector("[data-saved]");
const words = button.textContent;

slider.addEventListener("input", () => {
  shown.value = slider.value;
  button.textContent = words;
});

form.addEventListener("change", async () => {
  const body = new FormData(form);
  body.append("quiet", "yes");
  const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
  if (answer.type === "opaqueredirect") button.textContent = button.dataset.saved;
  else form.submit();
});
