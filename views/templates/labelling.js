(() => {
  const item = "{item}", question = "{question}", shown = item + " " + question;
  if (!window.duologueKeys) {
    window.duologueKeys = true;
    // Enter is for the control that has the focus, if one has it: it must not save as well.
    addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.closest?.("button,summary,a,[role=combobox],[role=option]")) event.stopImmediatePropagation();
    }, true);
  }
  if (window.duologueShown === shown) return;
  const begun = window.duologueShown?.split(" ")[0] === item;
  window.duologueShown = shown;
  // What was shown before may have been scrolled: the next begins at its marked message, or at its begin.
  let tries = 0;
  const scroll = () => {
    const frame = document.querySelector(".st-key-conversation");
    frame?.querySelectorAll("[data-question]").forEach((each) => each.classList.toggle("asked", each.dataset.question === question));
    const asked = frame?.querySelector(".asked");
    // A text that all questions are about is read before the first one; what is asked last is about all of them.
    if (frame && !(begun && !asked)) frame.scrollTop = asked && (begun || !question) ? asked.getBoundingClientRect().top - frame.getBoundingClientRect().top + frame.scrollTop - 80 : 0;
    if (++tries < 5) setTimeout(scroll, 60);
  };
  scroll();
})();
