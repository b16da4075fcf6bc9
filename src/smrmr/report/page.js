"use strict";
// Names are data: they reach the page through textContent and title only, never as HTML.
(() => {
  const BATCH = 100;
  const { columns, rows, labels, about, dangerous } = JSON.parse(document.getElementById("data").textContent);
  const isText = (column) => typeof rows[0]?.[column] === "string";
  const [body] = document.getElementById("features").tBodies;
  const head = document.querySelector("#features thead tr");
  const search = document.getElementById("search");
  const more = document.getElementById("more");
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const haystack = rows.map((row) => `${row[0]}\n${row[1]}`.toLowerCase());
  let order = rows.map((_, i) => i);
  let found = order;
  let drawn = 0;

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function written(value) {
    if (value === 0 || value === 1) return String(value);
    return Math.abs(value) < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  }

  function rowOf(i) {
    const line = make("tr", rows[i][1].startsWith("selected") ? "selected" : "");
    rows[i].forEach((value, column) => {
      const cell = make("td", isText(column) ? "text" : "");
      if (column === 0) {
        const name = make("bdi", "", value);
        name.title = value.slice(0, 500);
        cell.append(name);
      } else {
        cell.textContent = isText(column) ? value : written(value);
      }
      line.append(cell);
    });
    return line;
  }

  function drawMore() {
    body.append(...found.slice(drawn, drawn + BATCH).map(rowOf));
    drawn = Math.min(drawn + BATCH, found.length);
    more.hidden = drawn === found.length;
    document.getElementById("count").textContent =
      `${found.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
  }

  function redraw() {
    const wanted = search.value.trim().toLowerCase();
    found = order.filter((i) => haystack[i].includes(wanted));
    body.replaceChildren();
    drawn = 0;
    drawMore();
  }

  function sortBy(column, cell) {
    // numbers start with the largest, except p- and q-values, where small is good
    const smallFirst = isText(column) || /^[pq]_value/.test(columns[column]);
    const first = smallFirst ? "ascending" : "descending";
    const other = first === "ascending" ? "descending" : "ascending";
    const way = cell.getAttribute("aria-sort") === first ? other : first;
    const sign = way === "ascending" ? 1 : -1;
    const compare = isText(column) ? collator.compare : (a, b) => a - b;
    order = rows.map((_, i) => i);
    order.sort((a, b) => sign * compare(rows[a][column], rows[b][column]) || a - b);
    for (const each of head.cells) each.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", way);
    redraw();
  }

  function csvCell(value) {
    if (typeof value === "number") return String(value);
    const safe = new RegExp(dangerous).test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  function download() {
    const lines = [columns, ...found.map((i) => rows[i])].map((row) => row.map(csvCell).join(","));
    const link = make("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff", lines.join("\r\n"), "\r\n"], { type: "text/csv" }));
    link.download = "smrmr-features.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async function copy() {
    const paragraph = document.getElementById("paste");
    const button = document.getElementById("copy");
    try {
      await navigator.clipboard.writeText(paragraph.innerText);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(paragraph); // not allowed here: leave it to the reader
      button.textContent = "Selected: press Ctrl+C";
    }
  }

  // The browser shows <title> late, and on a phone never, so its text is taken over.
  for (const title of document.querySelectorAll("svg title")) {
    title.parentElement.dataset.tip = title.textContent;
    title.remove();
  }

  function showTip(event) {
    const tip = document.getElementById("tip");
    const told = event.target.closest?.("[data-tip]");
    tip.hidden = !told;
    if (!told) return;
    tip.textContent = told.dataset.tip;
    const { width, height } = tip.getBoundingClientRect();
    const box = told.getBoundingClientRect();
    const { x, y } = event.type === "focusin" ? { x: box.left, y: box.bottom } : { x: event.clientX, y: event.clientY };
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - width - 4))}px`;
    tip.style.top = `${y + height + 24 > innerHeight ? y - height - 12 : y + 16}px`;
  }

  columns.forEach((name, column) => {
    const cell = make("th", isText(column) ? "text" : "");
    cell.scope = "col";
    const button = make("button", "", labels[name]);
    button.type = "button";
    if (about[name]) {
      button.classList.add("term");
      button.dataset.tip = about[name];
    }
    button.addEventListener("click", () => sortBy(column, cell));
    cell.append(button);
    head.append(cell);
  });
  search.addEventListener("input", redraw);
  more.addEventListener("click", drawMore);
  document.getElementById("download").addEventListener("click", download);
  document.getElementById("copy").addEventListener("click", copy);
  document.addEventListener("pointerover", showTip);
  document.addEventListener("pointerdown", showTip);
  document.addEventListener("focusin", showTip);
  redraw();
})();
