"use strict";
const list = document.querySelector(".list"), body = list.querySelector(".rows tbody"), form = list.querySelector(".filters");
const heads = [...list.querySelectorAll(".rows thead th")], packed = [...list.querySelectorAll(":scope > .packed")];
const rows = [...body.rows].map((tr, place) => ({ tr, place, unfolded: null }));
const of = new Map(rows.map(row => [row.tr, row])), anchored = new Map(rows.map(row => [row.tr.dataset.anchor, row]));
const more = list.querySelector(".more"), atOnce = Number(more.dataset.atOnce);
const labelled = JSON.parse(list.querySelector(":scope > .labelled")?.textContent ?? "[]"), disputes = new Map([...(form.elements.disputed?.options ?? [])].map(option => [Number(option.value), option.text]));
labelled.forEach(label => { label.of = new Map(label.rows.map(([row, ...said]) => [row, said])); });
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
  const { search, column, least, most, rejections, label, value: of, disputed } = form.elements;
  const asked = label?.value ? [labelled[label.value]] : disputed?.value ? labelled : [];
  const sought = search.value.trim().toLowerCase();
  if (sought && !texts) texts = JSON.parse(list.querySelector('[type="application/json"]').textContent).map(text => text.toLowerCase());
  const chosen = [...form.querySelectorAll("select")].filter(select => ![column, label, of, disputed].includes(select) && select.value);
  fitting = order.filter(row => {
    const figure = value(row, Number(column.value));
    return chosen.every(select => row.tr.dataset[select.name] === select.value)
      && (least.value === "" || (figure !== null && figure >= Number(least.value)))
      && (most.value === "" || (figure !== null && figure <= Number(most.value)))
      && (!rejections || !rejections.checked || value(row, Number(rejections.value)) > 0)
      && (!asked.length || asked.some(each => says(each, row, of.value, disputed?.value)))
      && (!sought || texts[row.place].includes(sought));
  });
  form.querySelector("output").textContent = `${fitting.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
  show(atOnce);
}

function says(label, row, value, dispute) {
  const [values, bits] = label.of.get(row.place) ?? [[], 0];
  return (!value || values.some(([place]) => place === Number(value))) && (!dispute || (bits & Number(dispute)) > 0);
}

// What the chosen label says is a column of its own, how far to trust it stands above. Without a label, but with a dispute,
// the column names the labels that are disputed. All of it is text, never markup.
function choose() {
  const label = labelled[form.elements.label.value || -1], dispute = Number(form.elements.disputed?.value ?? 0);
  const of = form.elements.value, told = list.querySelector(".chosen"), column = heads.length - 1, head = heads[column];
  const name = label?.name ?? (dispute ? "disagreement" : "");
  if (of.length - 1 !== (label?.values.length ?? 0) || told.dataset.label !== name) {
    of.replaceChildren(new Option("any", ""), ...(label?.values ?? []).map((value, place) => new Option(value, place)));
    head.removeAttribute("aria-sort");
  }
  of.disabled = told.hidden = !label;
  head.hidden = !name;
  head.querySelector("button").textContent = head.querySelector("button").title = told.dataset.label = name;
  told.textContent = label ? `${name}: ${label.trust}` : "";
  for (const row of rows) {
    const cell = row.tr.cells[column];
    cell.hidden = !name;
    cell.dataset.label = name;
    cell.replaceChildren(...(label ? saidOf(label, row) : [labelled.filter(each => says(each, row, "", dispute)).map(each => each.name).join(", ")]));
  }
}

function saidOf(label, row) {
  const [values, bits, messages, people] = label.of.get(row.place) ?? [[], 0, [], ""];
  const text = values.map(([place, count]) => label.values[place] + (count > 1 ? ` ×${count}` : "")).join(", ");
  const words = [...disputes].filter(([bit]) => bits & bit).map(([, word]) => word).join(", ");
  if (!words) return [text];
  const small = document.createElement("small"), page = row.tr.querySelector(".clip a")?.getAttribute("href") ?? "";
  small.append(` ${words}${people && `: ${people}`}`, ...messages.flatMap((message, place) => {
    const link = document.createElement("a");
    link.href = `${page}#${encodeURIComponent(row.tr.dataset.anchor)}/${message}`;
    link.textContent = `message ${message}`;
    return [place ? ", " : ": ", link];
  }));
  return [text, small];
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
  const link = row.tr.querySelector(".clip a");
  if (link) { link.click(); return; }
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
  const link = row.tr.querySelector(".clip a");
  if (link) { location.replace(link.getAttribute("href") + location.hash); return true; }
  if (!fitting.includes(row)) { form.reset(); if (labelled.length) choose(); filter(); }
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
  if (["label", "disputed"].includes(event.target.name)) choose();
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
  if (!rows[0].tr.querySelector(".clip a")) unfold(rows[0]);
});
