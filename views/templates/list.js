"use strict";
const list = document.querySelector(".list"), body = list.querySelector(".rows tbody"), form = list.querySelector(".filters");
const heads = [...list.querySelectorAll(".rows thead th")], packed = [...list.querySelectorAll(":scope > .packed")];
const rows = [...body.rows].map((tr, place) => ({ tr, place, unfolded: null }));
const of = new Map(rows.map(row => [row.tr, row])), anchored = new Map(rows.map(row => [row.tr.dataset.anchor, row]));
const more = list.querySelector(".more"), atOnce = Number(more.dataset.atOnce);
const labelled = JSON.parse(list.querySelector(":scope > .labelled").textContent);  // of each row, label: values
let texts = null, order = rows, fitting = rows, shown = atOnce;

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
  filter();
}

// Rows are laid out as they are scrolled to: a thousand at once would keep the page waiting.
function show(count) {
  shown = count;
  const visible = new Set(fitting.slice(0, shown));
  for (const row of rows) {
    row.tr.hidden = !visible.has(row);
    if (row.unfolded) row.unfolded.hidden = row.tr.hidden;
  }
  more.hidden = shown >= fitting.length;
  const reached = rows.find(row => row.tr.tabIndex === 0);
  if (!reached || reached.tr.hidden) focusable(fitting[0]);
}

function filter() {
  const { search, column, least, most, label, value: said } = form.elements;
  const sought = search.value.trim().toLowerCase();
  if (sought && !texts) texts = JSON.parse(list.querySelector('[type="application/json"]').textContent).map(text => text.toLowerCase());
  const chosen = [...form.querySelectorAll(".choice")].filter(select => select.value);
  fitting = order.filter(row => {
    const figure = value(row, Number(column.value));
    return chosen.every(select => row.tr.dataset[select.name] === select.value)
      && (least.value === "" || (figure !== null && figure >= Number(least.value)))
      && (most.value === "" || (figure !== null && figure <= Number(most.value)))
      && (!label?.value || saidOf(label.value, row).some(text => !said.value || text === said.value))
      && (!sought || texts[row.place].includes(sought));
  });
  form.querySelector("output").textContent = `${fitting.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
  show(atOnce);
}

function saidOf(label, row) {
  const said = labelled[row.place];
  return Object.hasOwn(said, label) ? said[label] : [];
}

// What the chosen label says is a column of its own. All of it is text, never markup.
function choose() {
  const name = form.elements.label.value, said = form.elements.value, head = heads[heads.length - 1];
  if (said.dataset.label !== name) {
    const values = [...new Set(name ? rows.flatMap(row => saidOf(name, row)) : [])];
    values.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    said.replaceChildren(new Option("any", ""), ...values.map(text => new Option(text, text)));
    said.dataset.label = name;
    head.removeAttribute("aria-sort");
  }
  said.disabled = head.hidden = !name;
  head.querySelector("button").textContent = head.querySelector("button").title = name;
  for (const row of rows) {
    const cell = row.tr.cells[heads.length - 1];
    cell.hidden = !name;
    cell.dataset.label = name;
    cell.textContent = name ? saidOf(name, row).join(", ") : "";
  }
}

function focusable(row) {
  if (!row) return;
  rows.forEach(other => { if (other.tr.tabIndex === 0) other.tr.tabIndex = -1; });
  row.tr.tabIndex = 0;
}

async function conversation(place) {
  const bytes = Uint8Array.from(atob(packed[place].textContent), character => character.charCodeAt(0));
  const template = document.createElement("template");
  template.innerHTML = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  return template.content;
}

async function unfold(row) {
  if (!packed[row.place].textContent) return;
  const open = row.unfolded !== null;
  row.tr.setAttribute("aria-expanded", String(!open));
  if (open) { row.unfolded.remove(); row.unfolded = null; return; }
  row.unfolded = document.createElement("tr");
  row.unfolded.className = "unfolded";
  row.unfolded.hidden = row.tr.hidden;
  const cell = row.unfolded.insertCell();
  cell.colSpan = heads.length;
  row.tr.after(row.unfolded);
  cell.append(await conversation(row.place));
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

// An address ends with `#ID`, or with `#ID/3` for a message and `#ID@57` for a place of the section.
async function arrive() {
  const hash = location.hash.slice(1), part = hash.match(/^(.*)[/@]\d+$/);
  const row = (part && anchored.get(decoded(part[1]))) || anchored.get(decoded(hash));
  if (!hash || !row) return false;
  if (!fitting.includes(row)) { form.reset(); if (form.elements.label) choose(); filter(); }
  if (fitting.indexOf(row) >= shown) show(fitting.indexOf(row) + atOnce);
  reach(row);
  if (!row.unfolded) await unfold(row);
  location.replace(location.hash);  // now that its target is there
  document.getElementById(decoded(hash))?.scrollIntoView();
  return true;
}

function reach(row) {
  focusable(row);
  if (window === top) row?.tr.focus({ preventScroll: true });  // keys work at once, but a page in a frame takes none from its host
}

function move(row, step) {
  const place = step === Infinity ? fitting.length - 1 : step === -Infinity ? 0 : fitting.indexOf(row) + step;
  if (!fitting[place]) return;
  if (place >= shown) show(place + atOnce);
  focusable(fitting[place]);
  fitting[place].tr.focus();
}

new IntersectionObserver(seen => { if (seen.some(entry => entry.isIntersecting)) show(shown + atOnce); }).observe(more);
// Where there is no room beside the list, the list comes first.
for (const [width, place] of [["48rem", ".facts:not(.groups)"], ["84rem", ".graphs"]]) {
  if (matchMedia(`(max-width: ${width})`).matches) list.querySelectorAll(place).forEach(details => { details.open = false; });
}
more.hidden = rows.length <= atOnce;
heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => sort(column)));
form.addEventListener("input", event => {
  if (event.target.name === "label") choose();
  filter();
});
form.addEventListener("submit", event => event.preventDefault());
body.addEventListener("click", event => {
  const row = of.get(event.target.closest(".row"));
  if (row && !event.target.closest("a")) { focusable(row); unfold(row); }
});
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "/" && !typing) { event.preventDefault(); form.elements.search.focus(); return; }
  if (event.key === "Escape" && typing) { body.querySelector("[tabindex='0']")?.focus(); return; }
  const row = of.get(event.target);
  if (!row) return;
  const steps = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  if (event.key in steps) { event.preventDefault(); move(row, steps[event.key]); }
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); unfold(row); }
});
addEventListener("hashchange", arrive);
arrive().then(arrived => {
  if (arrived || !rows.length) return;
  reach(rows[0]);
  unfold(rows[0]);
});
