/* Turns the drawn figures (SVG) into live ones (Plotly): when in view where the device hovers, on tap elsewhere.
   If Plotly does not load, the SVG stays as it is. */
(() => {
  "use strict";
  const library = new URL("vendor/plotly-basic.min.js", document.currentScript.src).href;
  const drawn = new Map(); // figure -> its box's width when last drawn; 0 while loading, -1 while hidden
  let loading = null;

  function plotly() {
    loading ||= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = library;
      script.onload = () => (window.Plotly ? resolve() : reject(new Error("no Plotly in " + library)));
      script.onerror = reject;
      document.head.append(script);
    });
    return loading;
  }

  const colour = (name) => getComputedStyle(document.body).getPropertyValue("--" + name).trim();
  const faint = (hex) => hex + "33"; // a fifth, as .muted in figures.css
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const short = (number) => String(Number(number.toPrecision(10))).replace("-", "−");

  const MARKERS = { transfer: ["square", 8], update: ["triangle-up", 12], fetch: ["diamond", 11], host: ["triangle-down", 12] }; // as in macros/svg.py

  function trace(given, index, svg, text) {
    const halo = [-2, 0, 2].flatMap((x) => [-2, 0, 2].map((y) => `${x}px ${y}px 2px ${colour("fig-bg")}`)).join(", ");
    const { role, muted } = given.meta;
    const own = colour("role-" + role);
    const made = { ...given, hoverlabel: { align: "left", namelength: -1 } };
    if (given.type === "bar") {
      const hollow = muted || role === "idle";
      made.marker = { color: muted ? faint(own) : own, line: { width: 1, color: hollow ? own : colour("fig-bg") } };
      if (role === "idle") made.marker.pattern = { shape: "/", size: 6, solidity: 0.2, fgcolor: own, bgcolor: "rgba(0,0,0,0)" };
      made.textfont = { color: hollow || given.textposition === "outside" ? text : colour("on-role") };
      if (role === "idle") made.textfont.shadow = halo;
      Object.assign(made, { textangle: 0, insidetextanchor: "middle", constraintext: "none", cliponaxis: false });
      if (given.text) { // the labels that the SVG has room for
        made.texttemplate = given.text.map((_, i) => (svg.querySelector(`[data-bar="${index}-${i}"]`) ? "%{text}" : ""));
      }
      if (given.base && !given.hovertemplate) {
        const lanes = given.orientation === "h" ? given.y : given.x;
        const lengths = given.orientation === "h" ? given.x : given.y;
        const wrap = (words) => (svg.matches(".fig-narrow") // where one line would be cut off
          ? words.split(" · ").flatMap((part) => part.match(/\S.{0,15}\S*/g)).join("<br>") : words);
        made.hoverinfo = "text"; // without the place on the axes, which may mean nothing
        made.hovertext = lengths.map((length, i) => `${lanes[i]}<br>` + wrap(given.hovertext?.[i] ||
          `${given.text?.[i] || given.name || ""}: ${short(given.base[i])} to ${short(given.base[i] + length)}`));
        if (!given.text) made.textposition = "none"; // else Plotly would not know one text from the other
      }
    } else {
      made.line = { ...given.line, color: own, width: 2.5 };
      const [shape, size] = MARKERS[role] || ["circle", 8];
      const marker = { symbol: shape + (muted ? "-open" : ""), size, color: own, line: { width: muted ? 1.5 : 0 } };
      Object.assign(made, { marker, cliponaxis: false });
    }
    return made;
  }

  function axis(given, letter, svg, grid, line) {
    const labels = [...svg.querySelectorAll(`[data-${letter}]`)]; // ticks as the SVG wraps and thins them
    const value = (label) => label.dataset[letter];
    return {
      ...given, title: { text: "" }, fixedrange: true, automargin: false, zeroline: false, showgrid: grid, showline: line,
      gridcolor: colour("fig-grid"), linecolor: colour("fig-text"), ticks: "", tickangle: 0, tickmode: "array",
      ticklabelstandoff: letter === "x" ? 2 : 5,
      tickvals: labels.map((label) => (given.type === "category" ? escape(value(label)) : Number(value(label)))),
      ticktext: labels.map((label) => [...label.childNodes].map((row) => escape(row.textContent)).join("<br>")),
    };
  }

  function draw(figure) {
    const svg = [...figure.querySelectorAll(".fig-svg svg")].find((one) => one.getBoundingClientRect().width > 0);
    if (!svg) { // in a closed tab or step: the resize observer draws it once it has a width
      drawn.set(figure, -1);
      return Promise.resolve();
    }
    const { width, height } = svg.getBoundingClientRect();
    drawn.set(figure, figure.querySelector(".fig-box").getBoundingClientRect().width);
    const { data, layout } = JSON.parse(figure.querySelector(".fig-json").content.textContent);
    const scale = width / svg.viewBox.baseVal.width;
    const [l, t, r, b] = svg.dataset.margin.split(" ").map((px) => px * scale);
    const text = colour("fig-text");
    const lanes = layout.yaxis.type === "category";
    const size = 13 * scale;
    const notes = [...svg.querySelectorAll(".note")];
    const full = {
      ...layout, width, height, margin: { l, t, r, b, pad: 0 }, showlegend: false, dragmode: false, hovermode: "closest",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { size, color: text, family: getComputedStyle(figure).fontFamily },
      hoverlabel: { bgcolor: colour("fig-bg"), bordercolor: text, font: { color: text, size } },
      xaxis: axis(layout.xaxis, "x", svg, lanes || layout.xaxis.type === "log", !lanes),
      yaxis: axis(layout.yaxis, "y", svg, !lanes, lanes),
      shapes: layout.shapes.map((shape) => ({
        ...shape, layer: "above", line: { ...shape.line, width: 1.5, color: shape.name === "total" ? text : colour("role-" + shape.name) },
      })),
      annotations: layout.annotations.map((note, i) => ({
        ...note, borderpad: 2, xshift: scale * Number(notes[i].dataset.shift || 0),
        yshift: scale * Number(notes[i].dataset.lift || 0),
        font: { weight: 600, color: note.name === "total" ? text : colour("role-" + note.name) }, // <b> would break the CSP
      })),
    };
    // No mode bar: it would cover the legend, put buttons inside an image, and offer to send the data to Plotly's cloud.
    const config = { displayModeBar: false, plotlyServerURL: "", scrollZoom: false, doubleClick: false, showTips: false };
    const plot = figure.querySelector(".fig-plot");
    const first = !plot.on;
    const done = window.Plotly.react(plot, data.map((one, i) => trace(one, i, svg, text)), full, config);
    if (first) keepLabel(plot);
    return done.then(() => figure.classList.add("is-live"));
  }

  function start(figure) {
    if (drawn.has(figure)) return;
    drawn.set(figure, 0);
    const hint = figure.querySelector(".fig-hint");
    plotly().then(() => draw(figure)).then(
      () => hint && (hint.textContent = "Tap a mark for its values"),
      () => { figure.classList.remove("is-live"); hint?.remove(); });
    hint?.setAttribute("aria-disabled", "true");
  }

  const redraw = () => drawn.forEach((width, figure) => width && draw(figure));
  new MutationObserver(redraw).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
  addEventListener("pageshow", (event) => event.persisted && redraw()); // the palette may have changed meanwhile

  // The label of a mark stays while the pointer is on it or on the straight way to it; Escape hides it until the next mark (WCAG 1.4.13).
  const hovers = matchMedia("(hover: hover)").matches;
  const labels = document.getElementsByClassName("hovertext");
  const shown = () => [...labels].filter((label) => label.checkVisibility({ visibilityProperty: true }));
  const plotOf = (label) => label.closest(".fig-plot");
  let at = {}; // the pointer
  let from = {}; // the pointer when Plotly was last let answer
  let answered = null; // what it answered

  function stays(label) {
    const { left, top, right, bottom } = label.getBoundingClientRect();
    const [x, y] = [from.pageX - scrollX, from.pageY - scrollY];
    const [dx, dy] = [at.clientX - x, at.clientY - y];
    // A box of 6 px, for a hand that trembles, moves there and grows into the label. Each side says from when or until when the pointer is in it.
    const sides = [[dx + 3, left - x], [3 - dx, x - right], [dy + 3, top - y], [3 - dy, y - bottom]];
    const since = Math.max(hovers ? 0 : 1, ...sides.map(([room, way]) => (way < 0 ? room / way : 0))); // a finger goes no way
    const until = Math.min(1, ...sides.map(([room, way]) => (way < 0 ? 1 : room / way)));
    return since <= until;
  }

  function keepLabel(plot) {
    plot.on("plotly_beforehover", (event) => { // false keeps what is there; where there is no mark, an event asks twice
      if (event !== answered && shown().some(stays)) return false;
      [answered, from] = [event, at];
    });
    plot.on("plotly_hover", () => plot.classList.remove("is-quiet")); // never twice in a row for the same mark
  }

  function move(event, pointer) {
    at = pointer;
    if (event.target.closest(".draglayer")) return; // Plotly sees it there, but not beside its axes, where a label may reach
    [...labels].forEach((label) => window.Plotly.Fx.unhover(plotOf(label), event));
  }
  for (const type of ["pointermove", "pointerdown"]) addEventListener(type, (event) => move(event, event), true);
  document.documentElement.addEventListener("mouseleave", (event) => move(event, {}));

  addEventListener("keydown", (event) => {
    const now = shown();
    if (event.key !== "Escape" || !now.length) return;
    now.forEach((label) => plotOf(label).classList.add("is-quiet"));
    event.preventDefault(); // it closes nothing else
    event.stopPropagation();
  }, true);

  const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    const figure = target.closest(".fig");
    const width = target.getBoundingClientRect().width;
    if (window.Plotly && drawn.has(figure) && width > 0 && width !== drawn.get(figure)) draw(figure);
  }));
  const idle = window.requestIdleCallback || ((work) => setTimeout(work, 200));
  const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (!entry.isIntersecting) return;
    seen.unobserve(entry.target);
    idle(() => start(entry.target.closest(".fig")), { timeout: 2000 });
  }));

  document.querySelectorAll(".fig > .fig-box").forEach((box) => { // a drawing has no box, and stays as it is
    const figure = box.parentElement;
    resized.observe(box);
    if (hovers) return seen.observe(box);
    const hint = document.createElement("button");
    hint.type = "button";
    hint.className = "fig-hint";
    hint.textContent = "Tap to explore";
    box.after(hint);
    [box, hint].forEach((one) => one.addEventListener("click", () => start(figure)));
  });
})();
