// What hands do with a figure: pointing at values, dragging a stretch to see it larger, playing an animation.
const dynarmHands = (function () {
  "use strict";
  const NEAR = 40, LEAST = 6; // pixels: of a point that is meant, of a drag that is one
  const known = (v) => v !== null && v !== undefined && (typeof v !== "number" || Number.isFinite(v));

  const shown = (value) => dynarmPlot.shown(value, 5);

  function panelAt(self, px, py) {
    for (const t of self.traces) {
      const x = self.axes[t.xaxis || "x"], y = self.axes[t.yaxis || "y"];
      const inside = px >= x.start && px <= x.start + x.length && py >= y.start && py <= y.start + y.length;
      if (inside) return [x, y];
    }
    return null;
  }

  // The text of a template such as "%{x}: %{y} %"; values are text, never markup.
  function filled(template, values) {
    const plain = template.replace(/<extra>.*?<\/extra>/g, "").replace(/<br>/g, "\n");
    return plain.replace(/%\{([^}]+)\}/g, (_, key) => (known(values[key]) ? shown(values[key]) : ""));
  }

  function nearest(t, x, y, px, py, byTime) {
    let best = null;
    (t.x || []).forEach((v, k) => {
      if (!known(v) || !known((t.y || [])[k])) return;
      const dx = x.at(v) - px, dy = y.at(t.y[k]) - py, far = byTime ? Math.abs(dx) : Math.hypot(dx, dy);
      if (best === null || far < best.far) best = { far, k, t };
    });
    return best;
  }

  function barAt(t, x, y, px, py) {
    const across = t.orientation === "h" ? y : x, name = across.names && across.names[Math.round(across.back(across === x ? px : py))];
    const k = (t.orientation === "h" ? t.y : t.x).map(String).indexOf(String(name));
    if (k < 0) return null;
    const [place, many] = t.share || [0, 1], slot = across.length / (across.range[1] - across.range[0]);
    const middle = across.at(name) + ((place + 0.5 - many / 2) * 0.74 * slot) / many; // of bars side by side the nearest
    return { far: many > 1 ? Math.abs((across === x ? px : py) - middle) : 0, k, t };
  }

  function described({ t, k }, x) {
    const values = { x: t.x[k], y: t.y[k], "marker.color": t.marker && Array.isArray(t.marker.color) ? t.marker.color[k] : undefined };
    if (t.hovertemplate) return filled(t.hovertemplate, values);
    return `${t.name ? `${t.name}: ` : ""}${shown(t.y[k])}`;
  }

  function mapped(self, x, y, px, py) {
    const { trace } = self.map, cell = (axis, values, pixel) => {
      let best = 0;
      values.forEach((v, k) => { if (Math.abs(axis.at(v) - pixel) < Math.abs(axis.at(values[best]) - pixel)) best = k; });
      return best;
    };
    const i = cell(x, trace.x, px), j = cell(y, trace.y, py);
    return filled(trace.hovertemplate || "%{z}", { x: trace.x[i], y: trace.y[j], z: trace.z[j][i] });
  }

  // The lines to show for a place, and the pixel they belong to.
  function told(self, px, py) {
    const panel = panelAt(self, px, py);
    if (!panel) return null;
    const [x, y] = panel, mode = self.layout.hovermode || "closest";
    const own = self.traces.filter((t) => t.visible !== false && t.hoverinfo !== "skip" && self.axes[t.xaxis || "x"] === x && self.axes[t.yaxis || "y"] === y);
    if (self.map && own.some((t) => t.type === "heatmap")) return { lines: [mapped(self, x, y, px, py)], at: px };
    const hits = own.map((t) => (t.type === "bar" ? barAt(t, x, y, px, py) : nearest(t, x, y, px, py, mode !== "closest"))).filter(Boolean);
    if (!hits.length) return null;
    const first = hits.reduce((a, b) => (b.far < a.far ? b : a));
    if (first.far > NEAR) return null;
    const bars = hits.some((h) => h.t.type === "bar");
    if (mode === "closest" && !bars) {
      const value = first.t.hovertemplate ? "" : `${x.title || "x"} ${shown(first.t.x[first.k])}\n`;
      return { lines: [value + described(first, x)], at: x.at(first.t.x[first.k]) };
    }
    const where = bars ? [] : [`${x.title || "x"} ${shown(first.t.x[first.k])}`];
    return { lines: [...where, ...hits.filter((h) => h.far <= NEAR).map((h) => described(h, x))], at: x.at(first.t.x[first.k]) };
  }

  function place(self, event) {
    const box = self.svg.getBoundingClientRect(), scale = self.size.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  }

  function point(self, px, py) {
    const answer = told(self, px, py);
    self.tip.hidden = answer === null;
    if (answer === null) return;
    self.tip.textContent = answer.lines.join("\n");
    const room = self.stage.clientWidth, wide = self.tip.offsetWidth;
    self.tip.style.left = `${px + 14 + wide > room ? Math.max(0, px - 14 - wide) : px + 14}px`;
    self.tip.style.top = `${Math.max(0, py - 10)}px`;
  }

  function zoomed(self, panel, from, to) {
    const [x, y] = panel, ends = [from[0], to[0]].map((p) => Math.min(Math.max(p, x.start), x.start + x.length));
    const range = ends.map(x.back).sort((a, b) => a - b);
    if (!x.names && range[1] > range[0]) self.zoom[x.short] = range;
    if (Math.abs(to[1] - from[1]) > 3 * LEAST && !y.names) {
      const heights = [from[1], to[1]].map((p) => Math.min(Math.max(p, y.start), y.start + y.length));
      self.zoom[y.short] = heights.map(y.back).sort((a, b) => a - b);
    }
  }

  function watch(self, draw) {
    let start = null, band = null;
    const stop = () => {
      if (band) band.remove();
      start = band = null;
    };
    self.stage.addEventListener("pointerdown", (event) => {
      const at = place(self, event), panel = panelAt(self, ...at);
      if (event.target.tagName === "BUTTON" || event.button !== 0 || !panel || self.map || event.pointerType === "touch") return;
      start = { at, panel };
      event.preventDefault();
    });
    self.stage.addEventListener("pointermove", (event) => {
      const at = place(self, event);
      point(self, ...at);
      if (!start) return;
      const [x, y] = start.panel, [a, b] = [Math.min(start.at[0], at[0]), Math.max(start.at[0], at[0])];
      if (!band) {
        band = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        band.setAttribute("class", "chosen");
        self.svg.appendChild(band);
      }
      const high = Math.abs(at[1] - start.at[1]) > 3 * LEAST;
      band.setAttribute("x", a);
      band.setAttribute("width", b - a);
      band.setAttribute("y", high ? Math.min(start.at[1], at[1]) : y.start);
      band.setAttribute("height", high ? Math.abs(at[1] - start.at[1]) : y.length);
    });
    self.stage.addEventListener("pointerup", (event) => {
      if (!start) return;
      const at = place(self, event), { at: from, panel } = start;
      stop();
      if (Math.abs(at[0] - from[0]) < LEAST) return;
      zoomed(self, panel, from, at);
      draw(self);
    });
    self.stage.addEventListener("pointerleave", () => { self.tip.hidden = true; stop(); });
    self.stage.addEventListener("dblclick", () => { self.zoom = {}; draw(self); });
  }

  // ---- animations: a button, a slider and the time

  function play(figure, self, draw) {
    const button = figure.querySelector(".player button"), slider = figure.querySelector(".player input");
    const time = figure.querySelector(".player output"), { frames, interval } = self.given;
    let running = null;

    function show(k) {
      slider.value = k;
      time.textContent = frames[k].label;
      frames[k].traces.forEach((t, i) => Object.assign(self.traces[t], frames[k].data[i]));
      draw(self);
    }

    function pause() {
      clearInterval(running);
      running = null;
      button.textContent = "Play";
    }

    button.addEventListener("click", () => {
      if (running !== null) return pause();
      if (Number(slider.value) >= frames.length - 1) show(0);
      button.textContent = "Pause";
      running = setInterval(() => {
        const next = Number(slider.value) + 1;
        if (next >= frames.length) pause();
        else show(next);
      }, interval);
      return undefined;
    });
    slider.addEventListener("input", () => { pause(); show(Number(slider.value)); });
    slider.max = frames.length - 1;
    if (frames.length) show(0);
  }

  return { watch, play };
})();
