(function () {
  "use strict";
  const root = document.documentElement;

  // ---- figures: drawn from the JSON beside them, in the colours of the page

  function colour(name) {
    return getComputedStyle(root).getPropertyValue(name).trim();
  }

  function colours() {
    return ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"].map(colour);
  }

  // names of the page's colours stand in the figures; Plotly knows values only
  function painted(value) {
    if (typeof value === "string") return value.startsWith("--") ? colour(value) : value;
    if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map(painted);
    if (value && typeof value === "object") {
      const copy = {};
      for (const key of Object.keys(value)) copy[key] = painted(value[key]);
      return copy;
    }
    return value;
  }

  function dressed(layout) {
    const ink = colour("--ink"), faint = colour("--faint"), line = colour("--line"), card = colour("--card");
    const look = Object.assign({
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", colorway: colours(),
      font: { color: ink, size: 12, family: "system-ui, 'Segoe UI', Roboto, Arial, sans-serif" },
      hoverlabel: { bgcolor: card, bordercolor: line, font: { color: ink } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: faint, activecolor: colour("--accent") },
    }, painted(layout));
    for (const key of Object.keys(look)) {
      if (/^[xy]axis\d*$/.test(key)) {
        look[key] = Object.assign({
          gridcolor: line, zerolinecolor: line, linecolor: line, tickcolor: line, automargin: true, exponentformat: "power",
        }, look[key]);
      }
    }
    return look;
  }

  const drawn = [];

  function draw(figure) {
    const place = figure.querySelector(".plot");
    const given = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const narrow = place.clientWidth < 500;
    if (narrow && given.narrow) Object.assign(given.layout, given.narrow);
    const config = { displaylogo: false, displayModeBar: narrow ? false : "hover", modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]] };
    window.Plotly.newPlot(place, painted(given.data), dressed(given.layout), config);
    drawn.push([place, given]);
    fit(place);
    if (given.frames) {
      window.Plotly.addFrames(place, painted(given.frames));
      play(figure, place, given);
    }
  }

  // a figure is as wide as its place, also where that changes without the window
  function fit(place) {
    let width = place.clientWidth;
    new ResizeObserver(function () {
      if (place.clientWidth === width || place.clientWidth === 0) return;
      width = place.clientWidth;
      window.Plotly.relayout(place, { width: width });
    }).observe(place);
  }

  function redraw() {
    for (const [place, given] of drawn) {
      window.Plotly.react(place, painted(given.data), dressed(given.layout));
    }
  }

  // ---- animations: a button, a slider and the time

  function play(figure, place, given) {
    const button = figure.querySelector(".player button"), slider = figure.querySelector(".player input");
    const time = figure.querySelector(".player output");
    const stop = { mode: "immediate", transition: { duration: 0 }, frame: { duration: 0, redraw: false } };
    let running = null;

    function show(k) {
      slider.value = k;
      time.textContent = given.frames[k].label;
      window.Plotly.animate(place, [given.frames[k].name], stop);
    }

    function pause() {
      clearInterval(running);
      running = null;
      button.textContent = "Play";
    }

    button.addEventListener("click", function () {
      if (running !== null) return pause();
      if (Number(slider.value) >= given.frames.length - 1) show(0);
      button.textContent = "Pause";
      running = setInterval(function () {
        const next = Number(slider.value) + 1;
        if (next >= given.frames.length) return pause();
        show(next);
      }, given.interval);
    });
    slider.addEventListener("input", function () { pause(); show(Number(slider.value)); });
    slider.max = given.frames.length - 1;
    show(0);
  }

  // ---- tables: a click on a heading sorts by that column

  function value(cell) {
    const text = cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
    const number = Number(text);
    return text === "" || Number.isNaN(number) ? text : number;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === typeof b) return a.localeCompare(b, undefined, { numeric: true });
    return typeof a === "number" ? -1 : 1;
  }

  function sort(head) {
    const table = head.closest("table"), body = table.tBodies[0];
    const column = Array.prototype.indexOf.call(head.parentNode.children, head);
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = Array.from(body.rows).map((row) => [value(row.cells[column]), row]);
    rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
    for (const [, row] of rows) body.appendChild(row);
  }

  // ---- sketches: dragging turns them; every element carries its points in space

  function turnable(svg) {
    let azimuth = Number(svg.dataset.azimuth), elevation = Number(svg.dataset.elevation), last = null;
    const scale = Number(svg.dataset.scale), x0 = Number(svg.dataset.x), y0 = Number(svg.dataset.y);
    const centre = svg.dataset.centre.split(" ").map(Number);

    function flat(text) {
      const [x, y, z] = text.split(" ").map((v, i) => Number(v) - centre[i]);
      const ca = Math.cos(azimuth), sa = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
      return [x0 + scale * (ca * y - sa * x), y0 - scale * (ce * z - se * (ca * x + sa * y))];
    }

    function show() {
      for (const item of svg.querySelectorAll("[data-p]")) {
        const points = item.dataset.p.split(",").map(flat);
        if (item.tagName === "polyline" || item.tagName === "polygon") {
          item.setAttribute("points", points.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "));
        } else if (item.tagName === "circle") {
          item.setAttribute("cx", points[0][0].toFixed(1));
          item.setAttribute("cy", points[0][1].toFixed(1));
        } else {
          item.setAttribute("x", (points[0][0] + 10).toFixed(1));
          item.setAttribute("y", (points[0][1] - 8 + Number(item.dataset.down)).toFixed(1));
        }
      }
    }

    svg.addEventListener("pointerdown", function (e) { last = [e.clientX, e.clientY]; svg.setPointerCapture(e.pointerId); });
    svg.addEventListener("pointerup", function () { last = null; });
    svg.addEventListener("pointermove", function (e) {
      if (last === null) return;
      azimuth -= (e.clientX - last[0]) / 150;
      elevation = Math.max(-1.55, Math.min(1.55, elevation + (e.clientY - last[1]) / 150));
      last = [e.clientX, e.clientY];
      show();
    });
  }

  document.querySelectorAll("figure.drawn").forEach(draw);
  document.querySelectorAll("th button").forEach(function (b) {
    b.addEventListener("click", function () { sort(b.parentNode); });
  });
  document.querySelectorAll("svg.sketch").forEach(turnable);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("beforeprint", function () { root.classList.add("paper"); redraw(); });
  window.addEventListener("afterprint", function () { root.classList.remove("paper"); redraw(); });
})();
