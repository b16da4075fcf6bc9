"use strict";
// Pages work by links and forms; this sends files, keeps them up to date and spares reloads.
(() => {
  const status = document.getElementById("status");
  let silence;
  function say(text, passing = false) {
    status.textContent = text;
    clearTimeout(silence);
    if (passing) silence = setTimeout(() => say(""), 4000);
  }
  const byScript = { "x-asked-by": "script" };

  async function ask(address, options = {}) {
    const response = await fetch(address, { ...options, headers: { ...byScript, ...options.headers } });
    if (!response.ok) throw new Error((await response.text()) || response.statusText);
    return response;
  }

  function parsed(text) {
    return new DOMParser().parseFromString(text, "text/html");
  }

  function problem(text) {
    const note = document.createElement("p");
    note.className = "note problem";
    note.setAttribute("role", "alert");
    note.textContent = text;
    return note;
  }

  // files: one after another into one table
  function send(file, table, sent) {
    return new Promise((done, failed) => {
      const request = new XMLHttpRequest();
      const query = new URLSearchParams({ name: file.name, ...(table && { table }) });
      request.open("PUT", `/upload?${query}`);
      request.setRequestHeader("x-asked-by", "script");
      request.upload.onprogress = (event) => { if (event.lengthComputable) sent.value = event.loaded / event.total; };
      request.onload = () => (request.status === 200
        ? done(JSON.parse(request.responseText).table) : failed(new Error(request.responseText)));
      request.onerror = () => failed(new Error("The file was not sent: smrmr app has ended, or refused it."));
      request.send(file);
    });
  }

  async function sendAll(files) {
    const sent = document.getElementById("sent");
    const wrong = document.getElementById("upload-problem");
    wrong.hidden = true;
    sent.hidden = false;
    try {
      let table;
      for (const file of files) {
        say(`Sending ${file.name}`);
        table = await send(file, table, sent);
      }
      say("Reading the table");
      if (table) location.assign(`/tables/${table}`);
    } catch (error) {
      wrong.textContent = error.message;
      wrong.hidden = false;
      sent.hidden = true;
      say("");
    }
  }

  const drop = document.getElementById("drop");
  if (drop) {
    const over = (event) => { event.preventDefault(); drop.classList.toggle("over", event.type === "dragover"); };
    for (const type of ["dragover", "dragleave", "drop"]) document.addEventListener(type, over);
    document.addEventListener("drop", (event) => sendAll(event.dataTransfer.files));
    document.getElementById("files").addEventListener("change", (event) => sendAll(event.target.files));
  }

  // a form of choices: the page it leads to takes the place of this one, and focus stays
  async function swap(form, submitter) {
    const focused = document.activeElement;
    const again = focused?.name && `[name="${CSS.escape(focused.name)}"]`;
    const place = document.querySelector(".scroll")?.scrollLeft ?? 0;
    const fields = new URLSearchParams(new FormData(form, submitter));
    say("Reading the table");
    form.setAttribute("aria-busy", "true");
    try {
      const response = await ask(form.action, { method: "POST", body: fields });
      if (!new URL(response.url).pathname.startsWith("/tables/")) return location.assign(response.url);
      const main = parsed(await response.text()).querySelector("main");
      document.querySelector("main").replaceWith(main);
      const shown = main.querySelector(".scroll");
      if (shown) shown.scrollLeft = place;
      ((again && main.querySelector(again)) || main).focus({ preventScroll: true });
      const wrong = main.querySelectorAll(".note.problem").length;
      say(wrong ? `${wrong} to mend` : "", true);
    } catch (error) {
      form.prepend(problem(error.message));
      say("");
    }
    form.removeAttribute("aria-busy");
  }

  // an answer to a question is shown below it
  async function fill(form) {
    const place = document.querySelector(form.dataset.fill);
    const fields = new URLSearchParams(new FormData(form));
    const level = document.getElementById("level")?.value;
    const reads = form.method === "get";
    if (reads && level) fields.set("level", level);
    place.replaceChildren("…");
    try {
      const address = reads ? `${form.action}?${fields}` : form.action;
      const response = await ask(address, reads ? {} : { method: "POST", body: fields });
      place.replaceChildren(...parsed(await response.text()).body.childNodes);
    } catch (error) {
      place.replaceChildren(problem(error.message));
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.ask && !confirm(form.dataset.ask)) event.preventDefault();
    if (form.id === "level-form") event.preventDefault();
    if ("swap" in form.dataset) { event.preventDefault(); swap(form, event.submitter); }
    if (form.dataset.fill) { event.preventDefault(); fill(form); }
  });

  document.addEventListener("change", (event) => {
    const { target } = event;
    if (target.matches("select[data-look]") && target.name !== "more_role") swap(target.form, null);
    if (target.dataset.mark !== undefined) {
      const box = document.getElementById("marked");
      const names = box.value.split("\n").filter((name) => name && name !== target.dataset.mark);
      box.value = [...names, ...(target.checked ? [target.dataset.mark] : [])].join("\n");
    }
    if (target.id === "level") {
      const address = `${target.form.dataset.run}/report?level=${target.value}`;
      document.getElementById("report").src = address;
      document.getElementById("alone").href = address;
    }
  });

  document.addEventListener("click", async (event) => {
    const asked = event.target.closest("[data-feature]");
    if (asked) {
      const name = document.getElementById("name");
      name.value = asked.dataset.feature;
      name.form.requestSubmit();
      name.form.scrollIntoView({ block: "nearest" });
    }
    const copied = event.target.closest("[data-copy]");
    if (copied) {
      const text = document.querySelector(copied.dataset.copy);
      try {
        await navigator.clipboard.writeText(text.textContent);
        say("Copied", true);
      } catch {
        getSelection().selectAllChildren(text); // not allowed here: leave it to the reader
        say("Selected: press Ctrl+C", true);
      }
    }
  });

  // the level: the list follows at once, the report when the slider is let go
  const level = document.getElementById("level");
  let waiting;
  level?.addEventListener("input", () => {
    document.getElementById("level-said").textContent = level.value;
    document.getElementById("level-note").hidden = Number(level.value) === Number(level.dataset.asked);
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const wanted = level.value;
      const place = document.getElementById("answer");
      try {
        const response = await ask(`${level.form.dataset.run}/answer?level=${wanted}`);
        if (level.value === wanted) place.replaceChildren(...parsed(await response.text()).body.childNodes);
      } catch (error) {
        place.replaceChildren(problem(error.message));
      }
      const marked = new Set(document.getElementById("marked")?.value.split("\n"));
      for (const box of place.querySelectorAll("[data-mark]")) box.checked = marked.has(box.dataset.mark);
    }, 150);
  });

  // a run at work
  const progress = document.querySelector("[data-poll]");
  let stage = "";
  async function poll() {
    try {
      const response = await ask(progress.dataset.poll);
      const state = response.headers.get("x-state");
      if (state === "done") return location.reload();
      const shown = parsed(await response.text()).body;
      const focused = progress.contains(document.activeElement);
      progress.replaceChildren(...shown.childNodes);
      if (focused) progress.querySelector("button")?.focus();
      const now = progress.querySelector(".stage")?.textContent.split(":")[0] ?? state;
      if (now !== stage) say(now, true);
      stage = now;
      if (state === "queued" || state === "running") setTimeout(poll, 700);
      else say("");
    } catch {
      say("smrmr app does not answer. If it has ended, start it again: the run goes on.");
      setTimeout(poll, 3000);
    }
  }
  if (progress && ["queued", "running"].includes(progress.dataset.state)) poll();
})();
