// Figures of a page, drawn as SVG from {data, layout, frames}: a small part of the words that plotly knows.
// Traces: scatter (lines, markers, filled), bar, heatmap, box. Axes: linear, log, names; several in one figure, each with
// its domain. Text is only ever set as text, numbers that are none (null) leave gaps, colours are the page's own.
const dynarmPlot = (function () {
  "use strict";
  const FRAME = { l: 56, r: 14, t: 10, b: 44 }, LETTER = 6.4, NARROW = 500;
  let figures = 0;

  // ---- elements

  function element(parent, name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key of Object.keys(attributes || {})) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  }

  function block(parent, name, kind, text) {
    const made = document.createElement(name);
    made.className = kind;
    if (text !== undefined) made.textContent = text;
    parent.appendChild(made);
    return made;
  }

  const paint = (colour) => (typeof colour === "string" && colour.startsWith("--") ? `var(${colour})` : colour);
  const known = (v) => v !== null && v !== undefined && (typeof v !== "number" || Number.isFinite(v));
  const clamp = (v, low, high) => Math.min(Math.max(v, low), high);

  function shown(value, digits) {
    if (typeof value !== "number") return String(value);
    const text = String(Number(value.toPrecision(digits || 4))), [mantissa, exponent] = text.split("e");
    if (exponent !== undefined) return `${mantissa}\u00b7${power(Number(exponent))}`.replace("-", "\u2212");
    return (text === "-0" ? "0" : text).replace("-", "\u2212");
  }

  const SUPERSCRIPT = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
  function power(exponent) {
    const digits = String(Math.abs(exponent)).split("").map((d) => SUPERSCRIPT[Number(d)]).join("");
    return `10${exponent < 0 ? "\u207b" : ""}${digits}`;
  }

  // A tick's number: very large and very small ones with a power of ten, never with an e.
  function written(value, digits, step) {
    if (Math.abs(value) < 1e-9 * step) return "0";
    if (Math.abs(value) < 1e6 && step >= 1e-5) return value.toFixed(digits).replace("-", "\u2212");
    const exponent = Math.floor(Math.log10(Math.abs(value)) + 1e-9), more = Math.max(0, exponent - Math.floor(Math.log10(step) + 1e-9));
    return `${(value / 10 ** exponent).toFixed(more)}\u00b7${power(exponent)}`.replace("-", "\u2212");
  }

  // ---- axes: where a value lies, and which values are written

  function ticksOf(low, high, count) {
    const rough = (high - low) / Math.max(count, 1), unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find((m) => m * unit >= rough * 0.999);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
      ticks.push([k * step, written(k * step, digits, step)]);
    }
    return ticks;
  }

  function logTicks(low, high, count) {
    const first = Math.ceil(low - 1e-9), last = Math.floor(high + 1e-9), ticks = [];
    if (last - first < 1) {
      for (const [v, text] of ticksOf(10 ** low, 10 ** high, count)) if (v > 0) ticks.push([v, text]);
      return ticks;
    }
    const every = Math.max(1, Math.ceil((last - first) / Math.max(count, 1)));
    for (let e = first; e <= last; e += every) {
      ticks.push([10 ** e, e >= -3 && e <= 4 ? shown(10 ** e) : power(e)]);
    }
    return ticks;
  }

  // What the traces on an axis reach from and to; bars begin at zero.
  function extent(axis, letter, traces) {
    let low = Infinity, high = -Infinity, bars = false;
    const see = (v) => {
      if (typeof v !== "number" || !Number.isFinite(v) || (axis.log && v <= 0)) return;
      low = Math.min(low, v);
      high = Math.max(high, v);
    };
    for (const t of traces) {
      const along = t.orientation === "h" ? "x" : "y", measures = t.type === "bar" && letter === along;
      bars = bars || measures;
      (measures ? t.ends : t[letter] || []).forEach(see);
      if (t.type === "heatmap" && t[letter].length > 1) {
        const half = (t[letter][1] - t[letter][0]) / 2;
        see(t[letter][0] - half);
        see(t[letter][t[letter].length - 1] + half);
      }
    }
    if (bars && !axis.log) see(0);
    return [low, high, bars];
  }

  function fitted(axis, letter, traces) {
    if (axis.names) return [-0.5, axis.names.length - 0.5];
    if (axis.given.range) return axis.given.range.slice();
    let [low, high, bars] = extent(axis, letter, traces);
    if (low > high) [low, high] = axis.log ? [1, 10] : [0, 1];
    if (axis.log) {
      [low, high] = [Math.log10(low), Math.log10(high)];
      if (bars) low = Math.floor(low - 1e-9);
    }
    if (low === high) [low, high] = [low - (Math.abs(low) * 0.1 || 1), high + (Math.abs(high) * 0.1 || 1)];
    const still = letter === "x" && traces.every((t) => t.type === "heatmap" || t.mode === "lines");
    const room = traces.some((t) => t.type === "heatmap") || still ? 0 : 0.05 * (high - low);
    const from = bars && !axis.log && low === 0 ? 0 : low - room, to = bars && !axis.log && high === 0 ? 0 : high + room;
    return [from, to];
  }

  function axisOf(key, given, traces) {
    const letter = key[0], short = key.replace("axis", "");
    const own = traces.filter((t) => (t[`${letter}axis`] || letter) === short);
    const axis = { key, letter, short, given, own, log: given.type === "log", flipped: given.autorange === "reversed" };
    const values = own.flatMap((t) => (t[letter] ? Array.from(t[letter]) : t.type === "box" ? [t.name] : []));
    if (values.some((v) => typeof v === "string")) axis.names = [...new Set(values.map(String))];
    axis.full = fitted(axis, letter, own);
    axis.range = axis.full;
    axis.number = (v) => (axis.names ? axis.names.indexOf(String(v)) : axis.log ? Math.log10(v) : v);
    axis.at = (v) => {
      const share = (axis.number(v) - axis.range[0]) / (axis.range[1] - axis.range[0]);
      const whole = axis.flipped !== (letter === "y") ? 1 - share : share;
      return axis.start + whole * axis.length;
    };
    axis.back = (pixel) => {
      const whole = (pixel - axis.start) / axis.length, share = axis.flipped !== (letter === "y") ? 1 - whole : whole;
      return axis.range[0] + share * (axis.range[1] - axis.range[0]);
    };
    return axis;
  }

  function ticks(axis) {
    const [low, high] = axis.range, gap = axis.letter === "x" ? 75 : 34, count = Math.max(2, axis.length / gap);
    if (axis.given.tickvals) return axis.given.tickvals.map((v, k) => [v, String(axis.given.ticktext[k])]).filter(([v]) => v >= low && v <= high);
    if (!axis.names && axis.log) return logTicks(low, high, count);
    if (!axis.names) {
      const least = axis.length > 50 ? 3 : 2; // one number alone says no scale
      let made = ticksOf(low, high, count);
      for (let more = 1.5; made.length < least && more < 8; more *= 1.5) made = ticksOf(low, high, more * count);
      return made;
    }
    const turned = axis.letter === "y" || axis.turned, room = axis.length / (high - low);
    const every = turned ? Math.max(1, Math.ceil(11 / room)) : 1;
    return axis.names.map((n, k) => [n, n, k]).filter(([, , k]) => k % every === 0 && k >= low && k <= high);
  }

  // ---- a figure: its parts around the drawing, then the drawing itself, anew for every width

  function prepared(traces) {
    const sums = {}, beside = traces.filter((t) => t.type === "bar" && !t.stacked);
    beside.forEach((t, k) => { t.share = [k, beside.length]; });
    for (const t of traces) {
      if (t.type !== "bar") continue;
      const along = t.orientation === "h" ? "x" : "y", across = along === "x" ? "y" : "x";
      t.starts = t[along].map((v, k) => (t.stacked && sums[t[across][k]]) || 0);
      t.ends = t[along].map((v, k) => t.starts[k] + (known(v) ? v : 0));
      t[across].forEach((name, k) => { sums[name] = t.ends[k]; });
    }
  }

  function make(figure) {
    const place = figure.querySelector(".plot");
    const given = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    const layout = Object.assign({}, given.layout);
    if (place.clientWidth < NARROW && given.narrow) Object.assign(layout, given.narrow);
    const traces = given.data.map((t) => Object.assign({}, t, { stacked: layout.barmode === "stack" }));
    const self = { place, given, layout, traces, axes: {}, id: `plot${figures++}`, zoom: {} };
    self.svg = null;
    heading(self);
    self.stage = block(place, "div", "stage");
    self.tip = block(self.stage, "div", "tip");
    self.back = block(self.stage, "button", "back", "whole");
    self.back.type = "button";
    self.tip.hidden = self.back.hidden = true;
    self.back.addEventListener("click", () => { self.zoom = {}; draw(self); });
    draw(self);
    dynarmHands.watch(self, draw);
    let width = place.clientWidth;
    new ResizeObserver(() => {
      if (place.clientWidth === width || place.clientWidth === 0) return;
      width = place.clientWidth;
      draw(self);
    }).observe(place);
    if (given.frames) dynarmHands.play(figure, self, draw);
    return self;
  }

  // Title, the choice of a map, and the legend: above the drawing, never upon it.
  function heading(self) {
    const { layout, place, traces } = self;
    if (layout.title && layout.title.text) block(place, "div", "plot-title", layout.title.text);
    const menu = (layout.updatemenus || [])[0];
    if (menu) {
      const list = block(place, "select", "plot-choice");
      list.setAttribute("aria-label", "what is drawn");
      menu.buttons.forEach((b, k) => { block(list, "option", "", b.label).value = String(k); });
      list.addEventListener("change", () => {
        menu.buttons[Number(list.value)].args[0].visible.forEach((on, k) => { traces[k].visible = on; });
        draw(self);
      });
    }
    if (self.given.key) keyed(block(place, "div", "legend"), self.given.key);
    const listed = traces.filter((t) => t.name && t.showlegend !== false && t.type !== "heatmap");
    if (layout.showlegend === false || listed.length < 2) return;
    const legend = block(place, "div", "legend");
    for (const t of listed) legendEntry(self, legend, t);
  }

  // What colours within one trace mean.
  function keyed(legend, entries) {
    for (const { color, text } of entries) {
      const item = block(legend, "span", "key-entry");
      block(item, "i", "swatch").style.background = paint(color);
      block(item, "span", "", text);
    }
  }

  function legendEntry(self, legend, trace) {
    const button = block(legend, "button", "", "");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    const key = element(button, "svg", { width: 18, height: 10, viewBox: "0 0 18 10", "aria-hidden": "true" });
    const line = (trace.mode || "").includes("lines"), look = trace.line || {}, mark = trace.marker || {};
    if (line) stroked(element(key, "path", { d: "M0 5H18" }), look);
    else element(key, "rect", { x: 4, width: 10, height: 10, rx: 2 }).style.fill = paint(typeof mark.color === "string" ? mark.color : "--c1");
    block(button, "span", "", trace.name);
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      for (const t of self.traces) {
        if (t === trace || (trace.legendgroup !== undefined && t.legendgroup === trace.legendgroup)) t.visible = on;
      }
      draw(self);
    });
  }

  const DASHES = { dot: "2 3", dash: "7 4", dashdot: "7 3 2 3" };
  function stroked(path, look, opacity) {
    path.style.stroke = paint(look.color || "--c1");
    path.style.strokeWidth = look.width === undefined ? 1.5 : look.width;
    path.style.fill = "none";
    if (look.dash) path.style.strokeDasharray = DASHES[look.dash] || "";
    if (opacity !== undefined) path.style.opacity = opacity;
    return path;
  }

  function arranged(self, width) {
    const { layout } = self, height = layout.height || 320;
    prepared(self.traces.filter((t) => t.visible !== false));
    const on = self.traces.filter((t) => t.visible !== false);
    const keys = new Set(["xaxis", "yaxis", ...Object.keys(layout).filter((k) => /^[xy]axis\d*$/.test(k))]);
    self.axes = {};
    for (const key of keys) {
      const axis = axisOf(key, layout[key] || {}, on);
      axis.title = (axis.given.title || {}).text || "";
      if (self.zoom[axis.short]) axis.range = self.zoom[axis.short];
      self.axes[axis.short] = axis;
    }
    const ys = Object.values(self.axes).filter((a) => a.letter === "y"), xs = Object.values(self.axes).filter((a) => a.letter === "x");
    const longest = (axis) => Math.max(0, ...(axis.names || []).map((n) => n.length));
    const broad = (a) => {
      const [from, to] = a.given.domain || [0, 1];
      a.length = Math.max(10, (to - from) * (height - FRAME.t - FRAME.b)); // nearly: enough to know its numbers
      return Math.max(0, ...ticks(a).map(([, text]) => text.length));
    };
    const wanted = (a) => (a.names ? Math.min(LETTER * longest(a) + 14 + (a.title ? 20 : 0), 0.42 * width) : LETTER * broad(a) + 8 + (a.title ? 20 : 0));
    const left = Math.max(FRAME.l, ...ys.map(wanted));
    const bar = on.some((t) => t.type === "heatmap" || (t.marker || {}).colorbar) ? 62 : 0;
    for (const a of xs) {
      a.turned = Boolean(a.names) && (LETTER * longest(a) + 10) * a.names.length > width - left - FRAME.r;
      a.deep = a.turned ? Math.min(LETTER * 0.9 * longest(a), 110) + 8 : 18;
    }
    const bottom = Math.max(...xs.map((a) => a.deep + (a.title ? 20 : 4)));
    const room = { left, top: FRAME.t, width: width - left - FRAME.r - bar, height: height - FRAME.t - bottom };
    for (const a of [...xs, ...ys]) {
      const [from, to] = a.given.domain || [0, 1], whole = a.letter === "x" ? room.width : room.height;
      a.length = Math.max(10, (to - from) * whole);
      a.start = a.letter === "x" ? room.left + from * whole : room.top + (1 - to) * whole;
    }
    for (const a of ys.filter((y) => y.given.scaleanchor)) equal(a, self.axes[a.given.scaleanchor]);
    return { width, height, room, bar };
  }

  // One metre is as long upwards as sideways: the axis with too many pixels shows more.
  function equal(y, x) {
    const size = (a) => a.length / (a.range[1] - a.range[0]);
    const [tight, loose] = size(y) < size(x) ? [y, x] : [x, y];
    const middle = (loose.range[0] + loose.range[1]) / 2, half = loose.length / size(tight) / 2;
    loose.range = [middle - half, middle + half];
  }

  function draw(self) {
    const width = Math.max(self.place.clientWidth, 200), size = arranged(self, width);
    const svg = element(null, "svg", {
      class: "main", viewBox: `0 0 ${size.width} ${size.height}`, width: "100%", role: "img",
      "aria-label": (self.layout.title || {}).text || self.traces.map((t) => t.name).filter(Boolean).join(", ") || "figure",
    });
    self.size = size;
    self.back.hidden = Object.keys(self.zoom).length === 0;
    for (const x of Object.values(self.axes)) if (x.letter === "x") for (const y of paired(self, x)) panel(self, svg, x, y);
    self.stage.style.minHeight = "";
    if (self.svg) self.svg.replaceWith(svg);
    else self.stage.prepend(svg);
    self.svg = svg;
  }

  // The y axes that stand on an x axis.
  function paired(self, x) {
    const used = new Set(self.traces.filter((t) => (t.xaxis || "x") === x.short).map((t) => t.yaxis || "y"));
    if (used.size === 0 && x.short === "x") used.add("y");
    return Object.values(self.axes).filter((y) => y.letter === "y" && used.has(y.short));
  }

  function panel(self, svg, x, y) {
    const clip = `${self.id}-${x.short}${y.short}`, end = y.start + y.length;
    const lowest = Math.max(...paired(self, x).map((other) => other.start + other.length));
    element(element(svg, "clipPath", { id: clip }), "rect", { x: x.start, y: y.start, width: x.length, height: y.length });
    const grid = element(svg, "g", { class: "axes" });
    for (const [v, text] of ticks(x)) {
      const at = x.at(v);
      if (!x.names) element(grid, "path", { class: "gridline", d: `M${at} ${y.start}V${end}` });
      if (end === lowest) tickText(grid, x, at, end, text);
    }
    for (const [v, text] of ticks(y)) {
      const at = y.at(v), most = Math.floor((x.start - 8) / LETTER);
      if (!y.names) element(grid, "path", { class: "gridline", d: `M${x.start} ${at}H${x.start + x.length}` });
      const short = text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
      const made = element(grid, "text", { class: "ytick", x: x.start - 6, y: at + 4, "text-anchor": "end" }, short);
      if (short !== text) element(made, "title", {}, text);
    }
    if (!y.names && !y.log && y.range[0] < 0 && y.range[1] > 0) {
      const zero = element(grid, "path", { class: "zeroline", d: `M${x.start} ${y.at(0)}H${x.start + x.length}` });
      if (y.given.zerolinecolor) zero.style.stroke = paint(y.given.zerolinecolor);
    }
    const middle = y.start + y.length / 2;
    if (x.title && end === lowest) element(grid, "text", { class: "xtitle", x: x.start + x.length / 2, y: end + x.deep + 16, "text-anchor": "middle" }, x.title);
    if (y.title) element(grid, "text", { class: "ytitle", x: 12, y: middle, transform: `rotate(-90 12 ${middle})`, "text-anchor": "middle" }, y.title);
    const layer = element(svg, "g", { class: "traces", "clip-path": `url(#${clip})` });
    for (const t of self.traces) {
      if (t.visible !== false && (t.xaxis || "x") === x.short && (t.yaxis || "y") === y.short) KINDS[t.type || "scatter"](layer, t, x, y, self);
    }
    for (const s of self.layout.shapes || []) if ((s.yref || "y") === y.short || s.yref === "paper") shape(layer, s, x, y);
  }

  function tickText(grid, x, at, end, text) {
    if (!x.turned) {
      element(grid, "text", { class: "xtick", x: at, y: end + 16, "text-anchor": "middle" }, text);
      return;
    }
    const most = Math.floor(x.deep / (LETTER * 0.9)), short = text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
    const made = element(grid, "text", { class: "xtick", x: at + 3, y: end + 8, "text-anchor": "end", transform: `rotate(-62 ${at + 3} ${end + 8})` }, short);
    if (short !== text) element(made, "title", {}, text);
  }

  function shape(layer, s, x, y) {
    const along = (axis, ref, v) => (ref === "paper" ? axis.start + (axis.letter === "x" ? v : 1 - v) * axis.length : axis.at(v));
    const [x0, x1] = [along(x, s.xref, s.x0), along(x, s.xref, s.x1)], [y0, y1] = [along(y, s.yref, s.y0), along(y, s.yref, s.y1)];
    const d = s.type === "rect" ? `M${x0} ${y0}H${x1}V${y1}H${x0}Z` : `M${x0} ${y0}L${x1} ${y1}`;
    const made = stroked(element(layer, "path", { class: "shape", d }), s.line || {});
    if (s.fillcolor) made.style.fill = paint(s.fillcolor);
    if (s.opacity !== undefined) made.style.opacity = s.opacity;
  }

  // ---- traces

  const fixed = (v) => (Math.round(v * 10) / 10).toString();

  function points(t, x, y) {
    return t.x.map((v, k) => {
      const w = t.y[k], fits = known(v) && known(w) && !(x.log && v <= 0) && !(y.log && w <= 0);
      return fits ? [x.at(v), y.at(w)] : null;
    });
  }

  function scatter(layer, t, x, y) {
    const where = points(t, x, y), mode = t.mode || "lines";
    if (mode.includes("lines")) {
      let d = "", pen = "M";
      for (const p of where) {
        if (p) d += `${pen}${fixed(clamp(p[0], -1e5, 1e5))} ${fixed(clamp(p[1], -1e5, 1e5))}`;
        pen = p ? "L" : "M";
      }
      const path = stroked(element(layer, "path", { class: "line", d }), t.line || {}, t.opacity);
      if (t.fill) {
        path.style.fill = paint(t.fillcolor || (t.line || {}).color || "--c1");
        path.style.fillOpacity = t.fillcolor ? 1 : 0.15;
      }
    }
    if (mode.includes("markers")) marks(layer, t, where);
    const look = t.marker || {};
    if (look.colorbar) scaleBar(layer.parentNode, look, look.cmin, look.cmax, x.start + x.length + 14, y.start, y.length);
  }

  // Dots of one colour are one path of lines without length.
  function marks(layer, t, where) {
    const look = t.marker || {}, size = look.size || 6, groups = new Map();
    where.forEach((p, k) => {
      if (!p) return;
      const colour = shade(look, k, (t.line || {}).color);
      groups.set(colour, `${groups.get(colour) || ""}M${fixed(p[0])} ${fixed(p[1])}h0`);
    });
    for (const [colour, d] of groups) {
      const path = stroked(element(layer, "path", { class: "dots", d }), { color: colour, width: size }, look.opacity === undefined ? t.opacity : look.opacity);
      path.style.strokeLinecap = look.symbol === "diamond" || look.symbol === "square" ? "square" : "round";
    }
  }

  function shade(look, k, otherwise) {
    if (!Array.isArray(look.color)) return look.color || otherwise || "--c1";
    if (typeof look.color[k] !== "number") return look.color[k] || "--faint";
    return blend(look.colorscale, (look.color[k] - look.cmin) / (look.cmax - look.cmin));
  }

  function blend(scale, share) {
    const at = clamp(Number.isFinite(share) ? share : 0, 0, 1), k = Math.max(1, scale.findIndex(([s]) => s >= at));
    const [low, first] = scale[k - 1], [high, second] = scale[k], part = (at - low) / (high - low);
    const rgb = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
    const [a, b] = [rgb(first), rgb(second)];
    return `#${a.map((v, i) => Math.round(v + part * (b[i] - v)).toString(16).padStart(2, "0")).join("")}`;
  }

  function bars(layer, t, x, y) {
    const lying = t.orientation === "h", [along, across] = lying ? [x, y] : [y, x];
    const slot = across.length / (across.range[1] - across.range[0]), [place, many] = t.share || [0, 1], thick = Math.max(1, (slot * 0.74) / many), colour = (t.marker || {}).color;
    const names = lying ? t.y : t.x;
    names.forEach((name, k) => {
      if (!known((lying ? t.x : t.y)[k])) return;
      const foot = along.log ? along.start + (lying ? 0 : along.length) : along.at(t.starts[k]), head = along.at(t.ends[k]);
      const at = across.at(name) + (place - many / 2) * thick, low = Math.min(foot, head), size = Math.abs(head - foot);
      const box = lying ? { x: low, y: at, width: size, height: thick } : { x: at, y: low, width: thick, height: size };
      const made = element(layer, "rect", Object.assign({ class: "bar" }, box));
      made.style.fill = paint(Array.isArray(colour) ? colour[k] : colour || "--c1");
    });
  }

  // A map is one image whose pixels are its cells, stretched; beside it what the colours mean.
  function heatmap(layer, t, x, y, self) {
    const flat = t.z.flat().filter(known), low = t.zmin === undefined ? Math.min(...flat) : t.zmin, high = t.zmax === undefined ? Math.max(...flat) : t.zmax;
    const rows = t.z.length, columns = t.z[0].length, canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [columns, rows];
    const pen = canvas.getContext("2d");
    t.z.forEach((row, j) => row.forEach((v, i) => {
      if (!known(v)) return;
      pen.fillStyle = blend(t.colorscale, high > low ? (v - low) / (high - low) : 0.5);
      pen.fillRect(i, rows - 1 - j, 1, 1);
    }));
    const edge = (axis, values) => {
      const [a, b] = [axis.at(values[0]), axis.at(values[values.length - 1])];
      const half = values.length > 1 ? Math.abs(b - a) / (values.length - 1) / 2 : axis.length / 2;
      return [Math.min(a, b) - half, Math.abs(b - a) + 2 * half];
    };
    const [left, width] = edge(x, t.x), [top, height] = edge(y, t.y);
    const flip = y.flipped ? ` translate(0 ${2 * top + height}) scale(1 -1)` : "";
    const image = element(layer, "image", { class: "map", x: left, y: top, width, height, preserveAspectRatio: "none", transform: flip, href: canvas.toDataURL() });
    image.style.imageRendering = t.zsmooth ? "auto" : "pixelated";
    scaleBar(layer.parentNode, t, low, high, x.start + x.length + 14, y.start, y.length);
    self.map = { trace: t, low, high };
  }

  function scaleBar(svg, t, low, high, left, top, height) {
    const steps = 40;
    for (let k = 0; k < steps; k++) {
      const made = element(svg, "rect", { x: left, y: top + (height * k) / steps, width: 12, height: height / steps + 0.6 });
      made.style.fill = blend(t.colorscale, 1 - (k + 0.5) / steps);
    }
    for (const share of [0, 0.5, 1]) {
      const value = low + share * (high - low), small = Math.abs(value) < 1e-6 * Math.max(Math.abs(low), Math.abs(high)) ? 0 : value;
      const unit = share === 1 && t.colorbar && t.colorbar.title ? ` ${t.colorbar.title.text}` : "";
      element(svg, "text", { class: "ytick", x: left + 16, y: top + height * (1 - share) + 4 + 6 * (share - 0.5) }, shown(small, 3) + unit);
    }
  }

  function box(layer, t, x, y) {
    const sorted = t.x.filter(known).slice().sort((a, b) => a - b);
    if (!sorted.length) return;
    const part = (p) => {
      const at = p * (sorted.length - 1), k = Math.floor(at);
      return sorted[k] + (at - k) * ((sorted[k + 1] === undefined ? sorted[k] : sorted[k + 1]) - sorted[k]);
    };
    const middle = y.at(t.name), half = Math.min(14, 0.3 * y.length), colour = (t.marker || {}).color || "--c8";
    const [low, q1, q2, q3, high] = [0, 0.25, 0.5, 0.75, 1].map((p) => x.at(part(p)));
    const d = `M${low} ${middle}H${q1}M${q3} ${middle}H${high}M${q1} ${middle - half}H${q3}V${middle + half}H${q1}ZM${q2} ${middle - half}V${middle + half}`;
    stroked(element(layer, "path", { class: "box", d }), { color: colour });
    const dots = sorted.map((v) => `M${fixed(x.at(v))} ${fixed(middle)}h0`).join("");
    const path = stroked(element(layer, "path", { class: "dots", d: dots }), { color: colour, width: 5 }, 0.5);
    path.style.strokeLinecap = "round";
  }

  const KINDS = { scatter, bar: bars, heatmap, box };

  return {
    /** Draw every figure of the page. */
    all() { return Array.from(document.querySelectorAll("figure.drawn")).map(make); },
    make,
    draw,
    shown,
  };
})();
