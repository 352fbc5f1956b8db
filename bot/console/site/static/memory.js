// Asks in a dialog what the page would else ask on a page of its own: <form data-asks>.

const dialog = document.getElementById("asking");

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("form[data-asks]")) return;
  event.preventDefault();
  const body = new FormData(form);
  body.set("fragment", "yes");
  try {
    const answer = await fetch(form.action, { method: "POST", body });
    if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
    const template = document.createElement("template");
    template.innerHTML = await answer.text();
    dialog.replaceChildren(template.content);
    dialog.showModal();
  } catch {
    form.submit();
  }
});
