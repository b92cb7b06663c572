"use strict";
const list = document.querySelector(".list"), body = list.querySelector(".rows tbody"), form = list.querySelector(".filters");
const heads = [...list.querySelectorAll(".rows thead th")], templates = [...list.querySelectorAll(":scope > template")];
const rows = [...body.rows].map((tr, place) => ({ tr, place, unfolded: null }));
const of = new Map(rows.map(row => [row.tr, row]));
let texts = null, order = rows;

function value(row, column) {
  const cell = row.tr.cells[column];
  if (cell.dataset.v === undefined) return cell.textContent.trim().toLowerCase();
  return cell.dataset.v === "" ? null : Number(cell.dataset.v);
}

function sort(column) {
  const head = heads[column], numeric = head.classList.contains("n");
  const before = head.getAttribute("aria-sort");
  const down = before ? before === "ascending" : numeric;  // figures begin with the greatest
  heads.forEach(other => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const keyed = rows.map(row => [value(row, column), row]);
  keyed.sort(([a, x], [b, y]) => {
    if (a === null || b === null) return (a === null) - (b === null) || x.place - y.place;  // unknown ones stand last
    const way = numeric ? a - b : a.localeCompare(b);
    return (down ? -way : way) || x.place - y.place;
  });
  order = keyed.map(([, row]) => row);
  const sorted = document.createDocumentFragment();
  for (const row of order) sorted.append(row.tr, ...(row.unfolded ? [row.unfolded] : []));
  body.append(sorted);
}

function filter() {
  const { search, column, least, most, rejections } = form.elements;
  const sought = search.value.trim().toLowerCase();
  if (sought && !texts) texts = JSON.parse(list.querySelector('[type="application/json"]').textContent).map(text => text.toLowerCase());
  const chosen = [...form.querySelectorAll("select")].filter(select => select !== column && select.value);
  let shown = 0;
  for (const row of rows) {
    const figure = value(row, Number(column.value));
    const fits = chosen.every(select => row.tr.dataset[select.name] === select.value)
      && (least.value === "" || (figure !== null && figure >= Number(least.value)))
      && (most.value === "" || (figure !== null && figure <= Number(most.value)))
      && (!rejections || !rejections.checked || value(row, Number(rejections.value)) > 0)
      && (!sought || texts[row.place].includes(sought));
    row.tr.hidden = !fits;
    if (row.unfolded) row.unfolded.hidden = !fits;
    shown += fits;
  }
  form.querySelector("output").textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
  const reached = rows.find(row => row.tr.tabIndex === 0);
  if (reached && reached.tr.hidden) focusable(order.find(row => !row.tr.hidden));
}

function focusable(row) {
  if (!row) return;
  rows.forEach(other => { if (other.tr.tabIndex === 0) other.tr.tabIndex = -1; });
  row.tr.tabIndex = 0;
}

function unfold(row) {
  const link = row.tr.querySelector("a");
  if (link) { link.click(); return; }
  const open = row.tr.getAttribute("aria-expanded") === "true";
  row.tr.setAttribute("aria-expanded", String(!open));
  if (open) { row.unfolded.remove(); row.unfolded = null; return; }
  row.unfolded = document.createElement("tr");
  row.unfolded.className = "unfolded";
  const cell = row.unfolded.insertCell();
  cell.colSpan = heads.length;
  cell.append(templates[row.place].content.cloneNode(true));
  row.tr.after(row.unfolded);
}

function move(row, step) {
  const visible = order.filter(other => !other.tr.hidden);
  const at = step === Infinity ? visible.length - 1 : step === -Infinity ? 0 : visible.indexOf(row) + step;
  if (!visible[at]) return;
  focusable(visible[at]);
  visible[at].tr.focus();
}

heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => sort(column)));
form.addEventListener("input", filter);
form.addEventListener("submit", event => event.preventDefault());
body.addEventListener("click", event => {
  const row = of.get(event.target.closest(".row"));
  if (row && !event.target.closest("a")) { focusable(row); unfold(row); }
});
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "/" && !typing) { event.preventDefault(); form.elements.search.focus(); return; }
  if (event.key === "Escape" && typing) { focusable(order.find(row => !row.tr.hidden)); body.querySelector("[tabindex='0']")?.focus(); return; }
  const row = of.get(event.target);
  if (!row) return;
  const steps = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  if (event.key in steps) { event.preventDefault(); move(row, steps[event.key]); }
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); unfold(row); }
});
