// Asks the server of this page what is new, which answers when something is, and puts it in its place.
// Texts are escaped by the server.
"use strict";
const lost = document.querySelector(".lost"), changed = new Map(), shown = new Map();
const narrow = matchMedia("(max-width:84rem)");
let seen = "", misses = 0;

document.addEventListener("click", event => {  // a toggle comes also of what a script or the page itself unfolds
  const details = event.target.closest?.("summary")?.parentElement;
  if (details?.dataset.key) changed.set(details.dataset.key, !details.open);
});

function show(name, html) {
  const part = document.getElementById(name);
  if (shown.get(name) === html) return;
  shown.set(name, html);
  const focused = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
  part.innerHTML = html;
  for (const details of part.querySelectorAll("details[data-key]"))
    if (changed.has(details.dataset.key)) details.open = changed.get(details.dataset.key);
    else if (name === "graphs" && narrow.matches) details.open = false;  // it would stand before the list
  if (focused) [...part.querySelectorAll("a")].find(link => link.getAttribute("href") === focused)?.focus();
}

async function look() {
  try {
    const reply = await fetch("state?seen=" + seen, {cache: "no-store"});
    if (!reply.ok) throw new Error(reply.status);
    const state = await reply.json();
    misses = 0;
    for (const [name, html] of Object.entries(state.parts)) show(name, html);
    seen = state.seen;
    document.title = state.title;
    if (state.leads_to) return location.replace(state.leads_to);
  } catch {
    misses += 1;
  }
  lost.hidden = misses < 3;
  if (misses) setTimeout(look, misses > 2 ? 5000 : 1000); else look();
}

look();
