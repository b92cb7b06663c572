(() => {
  const item = "{item}";
  if (!window.duologueKeys) {
    window.duologueKeys = true;
    // Enter is for the control that has the focus, if one has it: it must not save as well.
    addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.closest?.("button,summary,a,[role=combobox],[role=option]")) event.stopImmediatePropagation();
    }, true);
  }
  if (window.duologueItem === item) return;
  window.duologueItem = item;
  // What was shown before may have been scrolled: the next begins at its marked message, or at its begin.
  let tries = 0;
  const scroll = () => {
    const frame = document.querySelector(".st-key-conversation"), asked = frame?.querySelector(".asked");
    if (frame) frame.scrollTop = asked ? asked.getBoundingClientRect().top - frame.getBoundingClientRect().top + frame.scrollTop - 80 : 0;
    if (++tries < 5) setTimeout(scroll, 60);
  };
  scroll();
})();
