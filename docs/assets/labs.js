// The labs. Each is declared in macros/labs.py and drawn by a view of macros/views/, both in kernels.js; here is only what
// connects them with sliders, fields and the address. Without this file a lab stands still in the state it was built with.
(() => {
  "use strict";

  // What an address says about a lab: "?ring.gpus=8&ring.step=3".
  const key = (lab, control) => `${lab}.${control.name}`;

  // What is set again to what it was makes a browser work all the same.
  function assign(node, name, value) {
    if (node[name] !== String(value)) node[name] = String(value);
  }

  function attribute(node, name, value) {
    if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
  }

  // Make a node's children those of another. What is as it was is left alone: it keeps its layout, its paint and the focus.
  function become(node, next) {
    let has = node.firstChild;
    let want = next.firstChild;
    while (has || want) {
      const [hadNext, wantNext] = [has?.nextSibling, want?.nextSibling];
      if (!want) has.remove();
      else if (!has) node.append(want);
      else if (has.nodeName !== want.nodeName) has.replaceWith(want);
      else if (has.nodeType === Node.TEXT_NODE) assign(has, "data", want.data);
      else {
        for (const name of has.getAttributeNames()) if (!want.hasAttribute(name)) has.removeAttribute(name);
        for (const name of want.getAttributeNames()) attribute(has, name, want.getAttribute(name));
        become(has, want);
      }
      [has, want] = [hadNext, wantNext];
    }
  }

  const mould = document.createElement("template");

  function make(root) {
    const name = root.dataset.lab;
    const { view, highs, names, numbers, controls, presets } = labs[name];
    const values = controls.map((control) => control.value);
    const at = (control) => controls.findIndex((one) => one.name === control);
    const find = (selector) => root.querySelector(selector);
    const part = (one) => find(`[data-part=${one}]`);
    const said = find(".lab-said");
    const heard = find(".lab-heard");
    const preset = find("[data-preset]");
    const answers = [...root.querySelectorAll(".lab-answer")];
    const predict = find("[data-do=predict]");
    const parts = controls.map((control) => ({
      choice: find(`[data-choice=${control.name}]`),
      field: find(`[data-field=${control.name}]`),
      slide: find(`[data-slide=${control.name}]`),
      unit: find(`[data-unit=${control.name}]`),
      walk: [...root.querySelectorAll(`[data-walk=${control.name}]`)],
    }));
    let frame = 0; // the frame that is to come, once something was drawn for it
    let stale = false; // more has changed since
    let writing = 0;
    let wide = 0; // the room for the drawing, told by an observer: to ask for it would make the browser lay out the page twice
    let seen = 0; // the width that is drawn
    let shown = []; // the parts that are drawn

    const limits = () => {
      const own = controls.map((control) => control.high);
      return highs ? kernels[highs](values, own) : own;
    };
    const words = (control, value) => kernels.said(value, control.unit, control.zero);

    // Take a value for a control; returns what is wrong with it, in words, "" when nothing is.
    function take(i, value, shown) {
      const control = controls[i];
      const { low, step, options } = control;
      const high = limits()[i];
      if (!Number.isFinite(value) || (options.length && !options.includes(value))) {
        const right = options.length ? options.join(", ") : `a number from ${low} to ${high}`;
        return `${control.label}: must be ${right}, got “${shown}”. It stays at ${words(control, values[i])}.`;
      }
      values[i] = options.length ? value : kernels.clamped(value, low, high, step);
      narrow();
      if (options.length || Math.abs(values[i] - value) < 1e-9) return "";
      return `${control.label}: ${shown} ${value < low || value > high ? `is not between ${low} and ${high}` : `is not a multiple of ${step}`}; ` +
        `${words(control, values[i])} is used.`;
    }

    // What another control has ruled out comes back into its range.
    function narrow() {
      limits().forEach((high, i) => { values[i] = Math.min(values[i], high); });
    }

    function state() {
      const params = new URLSearchParams(location.search);
      for (const one of [...params.keys()]) if (one.startsWith(`${name}.`)) params.delete(one);
      controls.forEach((control, i) => { if (values[i] !== control.value) params.set(key(name, control), values[i]); });
      return params.size ? `?${params}` : "";
    }

    // Once the hand rests, the result is said aloud, and the address follows: browsers refuse to change it a hundred times in a row.
    function write() {
      clearTimeout(writing);
      writing = setTimeout(() => {
        heard.textContent = part("result").textContent;
        try {
          history.replaceState(history.state, "", `${location.pathname}${state()}${location.hash}`);
        } catch { /* a file may not change its address: Copy link still has it */ }
      }, 300);
    }

    const room = () => Math.min(Math.max(wide, 320), 760);

    function draw() {
      stale = false;
      seen = room();
      const made = kernels[view](values, names, numbers, seen);
      ["result", "figure", "formula", "notes"].forEach((one, i) => {
        if (shown[i] === made[i]) return;
        mould.innerHTML = made[i];
        become(part(one), mould.content);
      });
      shown = made;
      const high = limits();
      controls.forEach((control, i) => {
        const { choice, field, slide, unit, walk } = parts[i];
        if (choice) { assign(choice, "value", values[i]); return; }
        assign(field, "max", high[i]);
        if (document.activeElement !== field) assign(field, "value", values[i]);
        const stop = control.stops.findLastIndex((one) => one <= values[i]);
        if (!control.stops.length) assign(slide, "max", high[i]);
        assign(slide, "value", control.stops.length ? Math.max(stop, 0) : values[i]);
        if (unit) assign(unit, "textContent", values[i] === 0 && control.zero ? control.zero : control.unit);
        attribute(slide, "aria-valuetext", words(control, values[i]));
        for (const button of walk) {
          const next = values[i] + button.dataset.by * control.step;
          attribute(button, "aria-disabled", next < control.low || next > high[i]);
        }
      });
      if (preset) {
        const fits = ([, setting]) => Object.entries(setting).every(([one, value]) => values[at(one)] === value);
        const found = presets.findIndex(fits);
        preset.selectedIndex = found < 0 ? presets.length : found;
      }
    }

    // The first move of a hand since the last frame is drawn at once; all that come before the next frame are one more drawing.
    function redraw() {
      stale = true;
      if (frame) return;
      draw();
      frame = requestAnimationFrame(() => {
        frame = 0;
        if (stale) draw();
      });
    }

    function changed(message) {
      root.classList.add("driven");
      assign(said, "textContent", message);
      redraw();
      write();
    }

    function set(i, value, shown = String(value)) {
      changed(take(i, value, shown));
    }

    function cover(covered) {
      answers.forEach((one) => { one.inert = covered; one.classList.toggle("covered", covered); });
      root.classList.toggle("predicting", covered);
      predict.textContent = covered ? "Show the answer" : "Predict first";
    }

    const doings = {
      reset() {
        controls.forEach((control, i) => { values[i] = control.value; });
        controls.forEach((control) => { const field = find(`[data-field=${control.name}]`); if (field) field.value = control.value; });
        changed("Everything is back where it began.");
      },
      async copy() {
        const address = `${location.href.split(/[?#]/)[0]}${state()}#${root.id}`;
        try {
          await navigator.clipboard.writeText(address);
          said.textContent = "The link is copied.";
        } catch { // no permission, or a page from disk
          const field = document.createElement("input");
          Object.assign(field, { readOnly: true, value: address, className: "lab-link" });
          field.setAttribute("aria-label", "Link to this state");
          said.replaceChildren("Copy this: ", field);
          field.select();
        }
      },
      predict() {
        cover(!root.classList.contains("predicting"));
      },
    };

    root.addEventListener("input", ({ target }) => {
      if (target.dataset.slide) {
        const i = at(target.dataset.slide);
        const { stops } = controls[i];
        set(i, stops.length ? stops[target.value] : Number(target.value));
      } else if (target.dataset.field) { // while typing, take what is right and wait with the rest
        const i = at(target.dataset.field);
        const value = target.valueAsNumber;
        if (kernels.clamped(value, controls[i].low, limits()[i], controls[i].step) === value) set(i, value);
      }
    });
    root.addEventListener("change", ({ target }) => {
      if (target.dataset.field) {
        const i = at(target.dataset.field);
        const typed = target.validity.badInput ? "no number" : target.value;
        set(i, target.value === "" ? NaN : target.valueAsNumber, typed);
        target.value = values[i];
      } else if (target.dataset.choice) set(at(target.dataset.choice), Number(target.value));
      else if (target === preset && presets[preset.selectedIndex]) {
        for (const [one, value] of Object.entries(presets[preset.selectedIndex][1])) values[at(one)] = value;
        changed("");
      }
    });
    root.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (!button) return;
      const { walk, by, to, do: doing } = button.dataset;
      if (walk && button.getAttribute("aria-disabled") !== "true") set(at(walk), values[at(walk)] + by * controls[at(walk)].step);
      else if (button.dataset.set) set(at(button.dataset.set), Number(to));
      else if (doing) doings[doing]();
    });
    find("form").addEventListener("submit", (event) => event.preventDefault());

    // What the address asks for. Nonsense is said, and does no harm.
    const params = new URLSearchParams(location.search);
    const wrong = [...params.keys()].filter((one) => one.startsWith(`${name}.`) && !controls.some((control) => key(name, control) === one))
      .map((one) => `${one}: this lab has no such control.`);
    controls.forEach((control, i) => { // in the order of the controls: an earlier one may narrow the range of a later one
      const text = params.get(key(name, control));
      if (text !== null) wrong.push(take(i, text.trim() === "" ? NaN : Number(text), text));
    });

    for (const one of root.querySelectorAll("[disabled]")) one.disabled = false;
    for (const one of root.querySelectorAll("[readonly]")) one.readOnly = false;
    root.classList.add("is-live");
    wide = part("figure").clientWidth;
    const sizes = new Map(); // of what is in words: it keeps the most room it took, so that the page stays put under a hand that drags
    const watch = new ResizeObserver((entries) => {
      for (const { target, contentRect: { width, height } } of entries) {
        if (target === part("figure")) {
          wide = Math.round(width);
          if (wide && room() !== seen) requestAnimationFrame(redraw);
        } else {
          const had = sizes.get(target) ?? { width, most: 0 };
          const most = had.width === width ? Math.max(had.most, height) : 0; // 0: the page has been turned, and all begins anew
          sizes.set(target, { width, most });
          target.style.minHeight = most ? `${most}px` : "";
        }
      }
    });
    for (const one of [part("result"), part("figure"), find(".lab-more")]) watch.observe(one);
    draw();
    said.textContent = wrong.filter(Boolean).join(" ");
  }

  document.querySelectorAll("[data-lab]").forEach(make);
})();
