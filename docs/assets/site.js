// What a page does beyond being read: steps one at a time, a card for each
// quoted number, the ledger's filter and copy buttons. Without this file
// everything is still there: steps follow one another, numbers are links.
(() => {
  "use strict";
  const here = document.currentScript.src;

  function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // The element that the address points at, if the page has it.
  function hashTarget() {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return null; // a malformed % escape
    }
  }

  // ---- Steps ---------------------------------------------------------------

  const twoDigits = (number) => String(number).padStart(2, "0");

  function headingOf(step) {
    return document.getElementById(step.getAttribute("aria-labelledby")) || step.querySelector("h2, h3");
  }

  function titleOf(step) {
    const copy = headingOf(step).cloneNode(true);
    copy.querySelectorAll(".headerlink").forEach((link) => link.remove());
    return copy.textContent.trim();
  }

  // Whether a box holds more than it shows and lets the reader scroll to it: what is merely clipped by a pixel does not count.
  function scrolls(box, axes = ["Width", "Height"]) {
    const style = getComputedStyle(box);
    return axes.some((size) =>
      box[`scroll${size}`] > box[`client${size}`] && /auto|scroll/.test(size === "Width" ? style.overflowX : style.overflowY));
  }

  // Arrow keys belong to whatever has the focus and uses them itself.
  function usesArrows(node) {
    for (let at = node; at && at !== document.body; at = at.parentElement) {
      if (at.matches("input, select, textarea, [contenteditable], [popover], [role=slider], .js-plotly-plot, audio, video")) return true;
      if (scrolls(at, ["Width"])) return true;
    }
    return false;
  }

  function makeStepper(box) {
    const steps = [...box.querySelectorAll(":scope > .step")];
    if (steps.length < 2) return;
    const after = box.nextElementSibling?.matches(".after-steps") ? box.nextElementSibling : null; // questions, bridge
    let current = 0;

    const back = element("button", { type: "button", class: "step-button" },
      element("span", { "aria-hidden": "true" }, "← "), "Back");
    const next = element("button", { type: "button", class: "step-button step-next" },
      "Next", element("span", { "aria-hidden": "true" }, " →"));
    const count = element("p", { class: "step-count", "aria-hidden": "true" });
    const words = element("p", { class: "unseen" });
    steps.forEach((step, i) => { step.style.counterSet = `step ${i + 1}`; }); // hidden steps may not count
    const dots = steps.map((step, i) =>
      element("a", { href: `#${step.id}`, class: "step-dot", "aria-label": `Step ${i + 1}: ${titleOf(step)}` }));
    const bar = element("nav", { class: "step-bar", "aria-label": "Steps" }, back,
      element("div", { class: "step-where" }, count, words,
        element("ol", { class: "step-dots" }, ...dots.map((dot) => element("li", {}, dot)))),
      next);

    function show(index) {
      current = index;
      steps.forEach((step, i) => {
        if (i === index) step.removeAttribute("hidden");
        else step.setAttribute("hidden", "until-found"); // the browser's find still reaches it
        step.setAttribute("aria-hidden", String(i !== index)); // or it is listed, empty and without a name
      });
      dots.forEach((dot, i) => {
        if (i === index) dot.setAttribute("aria-current", "step");
        else dot.removeAttribute("aria-current");
      });
      if (index === steps.length - 1) after?.removeAttribute("hidden");
      else after?.setAttribute("hidden", "until-found");
      count.textContent = `${twoDigits(index + 1)}/${twoDigits(steps.length)}`;
      words.textContent = `Step ${index + 1} of ${steps.length}`;
      back.setAttribute("aria-disabled", String(index === 0));
      next.setAttribute("aria-disabled", String(index === steps.length - 1));
    }

    // Focus the heading; scroll only if the step's top is out of sight, so that
    // a figure stays where it was and what changed is seen to change.
    function arrive() {
      const step = steps[current];
      const heading = headingOf(step);
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
      const top = step.getBoundingClientRect().top;
      const header = document.querySelector(".md-header");
      if (top < (header ? header.offsetHeight : 0) || top > innerHeight / 3) step.scrollIntoView();
    }

    function go(index) {
      if (index < 0 || index >= steps.length) return;
      show(index);
      history.replaceState(history.state, "", `#${steps[index].id}`); // Back leaves the act
      arrive();
    }

    back.addEventListener("click", () => go(current - 1));
    next.addEventListener("click", () => go(current + 1));
    dots.forEach((dot, i) => dot.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      go(i);
    }));
    steps.forEach((step, i) => step.addEventListener("beforematch", () => show(i)));
    after?.addEventListener("beforematch", () => show(steps.length - 1));

    document.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!move || event.defaultPrevented) return;
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      if (usesArrows(event.target)) return;
      if (document.querySelectorAll(".step-bar").length > 1 && !box.contains(event.target)) return;
      const index = current + move;
      if (index < 0 || index >= steps.length) return;
      event.preventDefault();
      go(index);
    });

    // Follow the address: "#step-3", or anything inside a step.
    function follow(loading) {
      const target = hashTarget();
      const index = target ? steps.findIndex((step) => step.contains(target)) : -1;
      if (index >= 0) {
        show(index);
        if (!loading && target === steps[index]) arrive();
        else target.scrollIntoView();
      } else if (target && after?.contains(target)) {
        show(steps.length - 1);
        target.scrollIntoView();
      } else if (loading || location.hash === "") show(0);
    }
    addEventListener("hashchange", () => follow(false));

    box.classList.add("stepper");
    box.append(bar);
    follow(true);
  }

  // ---- Cards ---------------------------------------------------------------

  function makeCards() {
    if (!("popover" in HTMLElement.prototype)) return; // the links simply navigate
    const templates = new Map();
    for (const template of document.querySelectorAll("template.card")) templates.set(template.dataset.q, template);
    if (!templates.size) return;
    for (const link of document.querySelectorAll("a.q")) {
      if (templates.has(link.dataset.q)) link.setAttribute("aria-haspopup", "dialog");
    }

    const close = element("button", { type: "button", class: "card-close", "aria-label": "Close" }, "×");
    const body = element("div", { class: "card-body" });
    const more = element("a", {}, "Open in the ledger");
    const card = element("div", { id: "number-card", class: "number-card", popover: "auto", role: "dialog" },
      close, body, element("p", { class: "card-more" }, more));
    document.querySelector("article").append(card);
    let link = null;

    // Beside the link, inside the viewport; on a narrow screen the style sheet
    // makes it a sheet at the bottom instead.
    function place() {
      const gap = 8;
      card.style.removeProperty("left");
      card.style.removeProperty("top");
      if (matchMedia("(max-width: 599px)").matches) return;
      const at = link.getBoundingClientRect();
      const { offsetWidth: width, offsetHeight: height } = card;
      const { clientWidth: right, clientHeight: bottom } = document.documentElement;
      const left = Math.max(gap, Math.min(at.left, right - width - gap));
      let top = at.bottom + gap;
      if (top + height + gap > bottom) top = at.top - height - gap;
      if (top < gap) top = Math.max(gap, bottom - height - gap);
      card.style.left = `${left + scrollX}px`;
      card.style.top = `${top + scrollY}px`;
    }

    function open(from) {
      link = from;
      body.replaceChildren(templates.get(link.dataset.q).content.cloneNode(true));
      more.href = link.href;
      card.setAttribute("aria-label", `${link.textContent.trim()}: ${link.dataset.q}`);
      card.showPopover({ source: link });
      card.scrollTop = 0;
      place();
      watchScrollBoxes(body);
      close.focus({ preventScroll: true });
    }

    document.addEventListener("click", (event) => {
      const from = event.target.closest("a.q");
      if (!from || !templates.has(from.dataset.q)) return;
      if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      open(from);
    });
    close.addEventListener("click", () => card.hidePopover());
    card.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !card.contains(event.relatedTarget)) card.hidePopover();
    });
    card.addEventListener("toggle", (event) => {
      if (event.newState !== "closed") return;
      const lost = document.activeElement === document.body || card.contains(document.activeElement);
      if (lost) link.focus({ preventScroll: true });
    });
    addEventListener("resize", () => { if (card.matches(":popover-open")) place(); });
  }

  // ---- Ledger --------------------------------------------------------------

  // Clipboard access needs permission or a secure context; failing both, the
  // text is left selected for the reader to copy.
  async function copyText(node) {
    try {
      await navigator.clipboard.writeText(node.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(node);
      return document.execCommand("copy");
    }
  }

  function makeLedger() {
    const entries = [...document.querySelectorAll(".entry")];
    if (!entries.length) return;
    const status = element("p", { class: "ledger-count", role: "status" });

    for (const call of document.querySelectorAll(".entry code.call")) {
      const button = element("button", { type: "button", class: "copy", "aria-label": `Copy call ${call.textContent}` }, "Copy call");
      button.addEventListener("click", async () => {
        const said = (await copyText(call)) ? "Copied" : "Selected: press Ctrl+C";
        button.textContent = said;
        status.textContent = said;
        setTimeout(() => { button.textContent = "Copy call"; }, 2000);
      });
      call.after(" ", button);
    }

    const input = element("input", { type: "search", id: "ledger-filter", autocomplete: "off", spellcheck: "false" });
    const form = element("form", { class: "ledger-filter", role: "search", "aria-label": "Numbers" },
      element("label", { for: "ledger-filter" }, "Filter by name, kind or text"), input, status);
    const texts = entries.map((entry) => `${entry.id} ${entry.textContent}`.toLowerCase());

    function filter() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      entries.forEach((entry, i) => {
        entry.hidden = !words.every((word) => texts[i].includes(word));
        if (!entry.hidden) shown += 1;
      });
      document.body.classList.toggle("filtering", words.length > 0);
      status.textContent = words.length ? `${shown} of ${entries.length} numbers` : `${entries.length} numbers`;
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    input.addEventListener("input", filter);
    addEventListener("hashchange", () => { // a link to an entry that the filter hides
      const target = hashTarget();
      if (!target || !target.closest(".entry[hidden]")) return;
      input.value = "";
      filter();
      target.scrollIntoView();
    });

    const first = entries[0].closest(".group, .ledger > *") || entries[0];
    first.before(form);
    filter();
    if (hashTarget()) hashTarget().scrollIntoView(); // the filter pushed it down
  }

  // ---- The header --------------------------------------------------------------

  // Material makes buttons of labels, whose inputs are hidden: no key reaches them, and nobody hears what they are. Each gets a real one.
  function makeButton(label, name) {
    const button = element("button", { type: "button", class: "in-label", "aria-label": name }, ...label.childNodes);
    button.addEventListener("click", () => document.getElementById(label.htmlFor).click());
    label.append(button);
    return button;
  }

  // Material turns pages at "n" and "p" and goes to the search at "f": who speaks to a browser, or slips, is carried off (WCAG 2.1.4).
  document.addEventListener("keydown", (event) => {
    if (event.key.length === 1 && event.key !== " ") event.stopPropagation();
  });

  function makePalette() {
    const form = document.querySelector("[data-md-component=palette]");
    for (const input of form?.querySelectorAll("input") || []) {
      input.tabIndex = -1;
      input.setAttribute("aria-hidden", "true");
      const label = input.nextElementSibling; // leads to the other input
      makeButton(label, label.title);
      label.removeAttribute("title"); // or it is said twice
    }
    form?.addEventListener("change", () => requestAnimationFrame(() => { // what was pressed is hidden now
      if (document.activeElement === document.body || form.contains(document.activeElement)) form.querySelector("label:not([hidden]) button").focus();
    }));
  }

  // The menu of a narrow window. Closed, it is no stop of the Tab key (see the style sheet).
  function makeMenu() {
    const side = document.querySelector(".md-sidebar--primary");
    const label = document.querySelector(".md-header__button[for=__drawer]");
    const toggle = document.getElementById("__drawer");
    if (!side || !label || !toggle) return;
    const button = makeButton(label, "Menu");
    for (const one of side.querySelectorAll("label[for=__toc]")) {
      makeButton(one, one.matches(".md-nav__title") ? "Table of contents: back to the menu" : `On this page: ${one.textContent.trim()}`);
    }
    const tell = () => button.setAttribute("aria-expanded", String(toggle.checked));
    tell();
    toggle.addEventListener("change", () => {
      tell();
      if (toggle.checked) [...side.querySelectorAll("a, button")].find((one) => getComputedStyle(one).visibility === "visible").focus();
    });
    side.addEventListener("focusout", ({ relatedTarget }) => {
      if (toggle.checked && relatedTarget && !side.contains(relatedTarget)) toggle.click();
    });
    document.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape" || !toggle.checked) return;
      toggle.click();
      button.focus();
    });
  }

  // ---- Search ----------------------------------------------------------------

  // Material's search needs a web worker, which a page opened from disk may not
  // have. Material then hides the box; show it again, saying why it is idle.
  function explainSearch() {
    const box = document.querySelector(".md-search");
    if (!box) return;
    box.setAttribute("aria-label", "Search"); // a dialog wants a name
    if (location.protocol !== "file:") return;
    const toggle = document.getElementById("__search");
    const input = box.querySelector("input");
    const note = box.querySelector(".md-search-result__meta");
    box.hidden = false;
    note.id = "search-note";
    note.textContent =
      "Search needs the site to be served: run make serve and open the address it prints. " +
      "Here, the navigation, the filter on the Numbers page and your browser’s own find still work.";
    input.readOnly = true;
    input.setAttribute("aria-describedby", note.id);
    input.form.addEventListener("submit", (event) => event.preventDefault());
    input.addEventListener("focus", () => { toggle.checked = true; });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape" || event.key === "Tab") toggle.checked = false;
      if (event.key === "Escape") input.blur();
    });
    toggle.addEventListener("change", () => { if (toggle.checked) input.focus(); });
  }

  // ---- Boxes that scroll ------------------------------------------------------

  // A box that scrolls is a stop for the Tab key, so that arrow keys reach what
  // it hides; one that fits is not.
  const sizes = new ResizeObserver((changes) => {
    for (const { target } of changes) {
      if (!scrolls(target)) {
        target.removeAttribute("tabindex");
        continue;
      }
      target.tabIndex = 0;
      if (target.localName !== "div" || target.hasAttribute("role")) continue;
      target.setAttribute("role", "group"); // a stop has a name
      target.setAttribute("aria-label", target.matches(".formula") ? "Formula" : "Table");
    }
  });

  function watchScrollBoxes(root) {
    for (const box of root.querySelectorAll('.scroll, .md-typeset__scrollwrap, div.formula, math[display="block"]')) {
      sizes.observe(box);
    }
  }

  // ---- Labs --------------------------------------------------------------------

  // Their scripts come when the first lab comes near: a page that has one at its end does not wait for them.
  function wakeLabs() {
    if (document.querySelector('script[src$="/labs.js"]')) return;
    const near = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      for (const name of ["kernels.js", "labs.js"]) document.head.append(Object.assign(element("script", { src: new URL(name, here) }), { async: false }));
    }, { rootMargin: "600px" });
    document.querySelectorAll("[data-lab]").forEach((lab) => near.observe(lab));
  }

  document.querySelectorAll(".steps").forEach(makeStepper);
  makeCards();
  makeLedger();
  makePalette();
  makeMenu();
  explainSearch();
  watchScrollBoxes(document);
  wakeLabs();
})();
