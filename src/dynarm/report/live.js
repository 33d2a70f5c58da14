// A robot that computes inside its page: sliders, forces, mass matrix, energy, a simulation, motions dropped in as CSV.
// The element with class "live" keeps it as `robot`: functions of the compiled model, state, simulate, motion.
const dynarmLive = (function () {
  "use strict";
  const MOST = 1200, CHUNK = 20000; // points of a line, samples computed at once

  function block(parent, name, kind, text) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    parent.appendChild(made);
    return made;
  }

  function drawn(parent, name, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key of Object.keys(attributes)) made.setAttribute(key, attributes[key]);
    parent.appendChild(made);
    return made;
  }

  function shown(value, digits) {
    if (!Number.isFinite(value)) return "\u2013";
    return dynarmPlot.shown(Math.abs(value) < 5e-10 ? 0 : value, digits);
  }

  // Numbers of one column with the same places, as many as the largest of them needs; zero has no sign.
  function aligned(values) {
    const most = Math.max(...values.map(Math.abs).filter(Number.isFinite), 0);
    const places = most >= 1000 ? 1 : most >= 0.1 ? 3 : most >= 1e-4 ? 6 : 9;
    return values.map((v) => (Number.isFinite(v) ? v.toFixed(places).replace(/^-(?=0\.?0*$)/, "").replace("-", "\u2212") : "\u2013"));
  }

  // ---- what is computed

  // q of the model from the positions of the joints: a free base stands as the page holds it.
  const whole = (robot, x) => [...robot.data.base, ...x];
  const padded = (robot, x) => [...new Array(robot.data.speeds).fill(0), ...x];
  const ownPart = (robot, x) => Array.from(x).slice(robot.data.speeds);

  function forces(robot, q, qd, qdd) {
    return ownPart(robot, robot.inverse_dynamics(whole(robot, q), padded(robot, qd), padded(robot, qdd)));
  }

  function massAndBias(robot, q, qd) {
    const n = q.length, first = robot.data.speeds, all = n + first;
    const { M, b } = robot.mass_matrix_and_bias(whole(robot, q), padded(robot, qd));
    const rows = q.map((_, i) => Array.from(M.slice((first + i) * all + first, (first + i + 1) * all)));
    return { M: rows, b: ownPart(robot, b) };
  }

  function kinetic(M, qd) {
    return 0.5 * qd.reduce((sum, v, i) => sum + v * M[i].reduce((s, m, j) => s + m * qd[j], 0), 0);
  }

  // M x = y by L D L'.
  function solved(M, y) {
    const n = y.length, L = M.map((row) => row.slice()), D = new Array(n), x = y.slice();
    for (let j = 0; j < n; j++) {
      D[j] = L[j][j];
      for (let k = 0; k < j; k++) D[j] -= L[j][k] * L[j][k] * D[k];
      for (let i = j + 1; i < n; i++) {
        for (let k = 0; k < j; k++) L[i][j] -= L[i][k] * L[j][k] * D[k];
        L[i][j] /= D[j];
      }
    }
    for (let i = 0; i < n; i++) for (let k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
    for (let i = 0; i < n; i++) x[i] /= D[i];
    for (let i = n - 1; i >= 0; i--) for (let k = i + 1; k < n; k++) x[i] -= L[k][i] * x[k];
    return x;
  }

  // Accelerations without drive; with friction it is what inverse dynamics has more than the bias.
  function released(robot, q, qd, friction) {
    const { M, b } = massAndBias(robot, q, qd), rest = q.map(() => 0);
    const held = friction ? forces(robot, q, qd, rest) : b;
    return solved(M, held.map((v) => -v));
  }

  const plus = (x, h, y) => x.map((v, i) => v + h * y[i]);

  function step(robot, q, qd, h, friction) {
    const a1 = released(robot, q, qd, friction);
    const q2 = plus(q, h / 2, qd), v2 = plus(qd, h / 2, a1), a2 = released(robot, q2, v2, friction);
    const q3 = plus(q, h / 2, v2), v3 = plus(qd, h / 2, a2), a3 = released(robot, q3, v3, friction);
    const q4 = plus(q, h, v3), v4 = plus(qd, h, a3), a4 = released(robot, q4, v4, friction);
    return [
      q.map((v, i) => v + (h / 6) * (qd[i] + 2 * v2[i] + 2 * v3[i] + v4[i])),
      qd.map((v, i) => v + (h / 6) * (a1[i] + 2 * a2[i] + 2 * a3[i] + a4[i])),
    ];
  }

  function energies(robot, q, qd) {
    const T = kinetic(massAndBias(robot, q, qd).M, qd), U = robot.potential_energy(whole(robot, q))[0];
    return [T, U, T + U];
  }

  // ---- motions of files

  function numbersOf(text) {
    const rows = text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
    if (!rows.length) throw new Error("the file is empty; give time and positions, one sample a line");
    const sign = [";", "\t", ","].find((one) => rows[0].includes(one)) || /\s+/;
    const comma = sign === ";" || sign === "\t"; // where columns are parted otherwise, 0,5 is a half
    const cut = (line) => line.split(sign).map((word) => word.trim().replace(/^"|"$/g, ""));
    const value = (word) => (word === "" ? NaN : Number(comma ? word.replace(",", ".") : word));
    const head = cut(rows[0]), named = head.some((word) => Number.isNaN(value(word)) && word.toLowerCase() !== "nan");
    const body = rows.slice(named ? 1 : 0).map((line, k) => {
      const values = cut(line).map(value);
      if (values.some((v) => !Number.isFinite(v)) || values.length !== head.length) {
        throw new Error(`line ${k + 1 + named} does not hold ${head.length} finite numbers: ${line.slice(0, 60)}`);
      }
      return values;
    });
    if (body.length < 3) throw new Error(`${body.length} samples came; a motion has at least 3`);
    return { head: named ? head : null, body };
  }

  // A column's name without its unit, and what its numbers are to be multiplied by.
  function unitOf(word) {
    const match = word.toLowerCase().match(/^(.*?)[\s_]*[[(]?(deg(?:rees)?|\u00b0|rad|mm|ms|m|sec|s)(?:\/s(?:\^?2|\u00b2)?)?[\])]?$/);
    if (!match || !match[1] || !/[\s_[(]/.test(word)) return [word.toLowerCase(), 1];
    const factor = /^(deg|\u00b0)/.test(match[2]) ? Math.PI / 180 : match[2] === "mm" || match[2] === "ms" ? 1e-3 : 1;
    return [match[1].trim(), factor];
  }

  // Columns by their names where these are the robot's, else in order: time, positions, speeds, accelerations.
  function columnsOf(robot, head, width) {
    const joints = robot.data.joints, n = joints.length, lower = (head || []).map((word) => unitOf(word)[0]);
    const place = (prefix, j) => lower.findIndex((word) => [`${prefix}${j + 1}`, `${prefix}_${j + 1}`, `${prefix}_${joints[j].name}`.toLowerCase(), `${prefix}[${j}]`].includes(word));
    const group = (prefix) => joints.map((_, j) => place(prefix, j));
    const byName = { q: group("q"), qd: group("qd"), qdd: group("qdd") }, complete = (list) => list.every((k) => k >= 0);
    const time = lower.findIndex((word) => /^(t|time|times|timestamp|seconds?)\b/.test(word));
    if (complete(byName.q) && time >= 0) {
      return { t: time, q: byName.q, qd: complete(byName.qd) ? byName.qd : null, qdd: complete(byName.qdd) ? byName.qdd : null };
    }
    const range = (from) => joints.map((_, j) => from + j);
    if (![1 + n, 1 + 2 * n, 1 + 3 * n].includes(width)) {
      throw new Error(`the file has ${width} columns; give time and ${n} positions, if known ${n} speeds and ${n} accelerations (${1 + n}, ${1 + 2 * n} or ${1 + 3 * n} columns), or name them t, q1 ... q${n}, qd1 ..., qdd1 ...`);
    }
    return { t: 0, q: range(1), qd: width > 1 + n ? range(1 + n) : null, qdd: width > 1 + 2 * n ? range(1 + 2 * n) : null };
  }

  // Slopes through three points, exact for parabolas also where times are uneven.
  function slopes(t, rows) {
    return rows.map((row, k) => {
      const c = Math.min(Math.max(k, 1), rows.length - 2), a = t[c] - t[c - 1], b = t[c + 1] - t[c], x = t[k] - t[c];
      return row.map((_, j) => {
        const left = (rows[c][j] - rows[c - 1][j]) / a, right = (rows[c + 1][j] - rows[c][j]) / b, bend = (right - left) / (a + b);
        return (left * b + right * a) / (a + b) + 2 * bend * x;
      });
    });
  }

  // A motion of a CSV file: times from zero, states, forces.
  function motion(robot, text) {
    const { head, body } = numbersOf(text), columns = columnsOf(robot, head, body[0].length);
    const factor = (head || body[0]).map((word) => (head ? unitOf(word)[1] : 1));
    const pick = (places) => body.map((row) => places.map((k) => factor[k] * row[k]));
    const t = body.map((row) => factor[columns.t] * (row[columns.t] - body[0][columns.t]));
    const back = t.findIndex((v, k) => k > 0 && !(v > t[k - 1]));
    if (back > 0) throw new Error(`time does not grow at sample ${back + 1}; sort the file by time`);
    const q = pick(columns.q), qd = columns.qd ? pick(columns.qd) : slopes(t, q), qdd = columns.qdd ? pick(columns.qdd) : slopes(t, qd);
    const size = robot.data.joints.length + robot.data.speeds, tau = [];
    for (let k = 0; k < t.length; k += CHUNK) {
      const part = (rows, widen) => rows.slice(k, k + CHUNK).flatMap((row) => widen(robot, row));
      const out = robot.batch.inverse_dynamics(part(q, whole), part(qd, padded), part(qdd, padded));
      for (let i = 0; i < out.length; i += size) tau.push(ownPart(robot, out.slice(i, i + size)));
    }
    const degrees = factor.every((f) => Math.abs(f - Math.PI / 180) > 1e-9) && robot.data.joints.some((joint, j) => joint.revolute && q.some((row) => Math.abs(row[j]) > 4 * Math.PI));
    return { t, q, qd, qdd, tau, degrees, derived: [!columns.qd && "speeds", !columns.qdd && "accelerations"].filter(Boolean) };
  }

  // ---- pictures

  function times(A, B) {
    const C = new Array(16).fill(0);
    for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) for (let k = 0; k < 4; k++) C[4 * i + j] += A[4 * i + k] * B[4 * k + j];
    return C;
  }

  function poses(data, q) {
    const made = [];
    for (const link of data.links) {
      const [of, factor, offset] = link.follows, x = factor * q[of] + offset, [c, s] = [Math.cos(x), Math.sin(x)];
      const move = link.revolute ? [c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] : [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, x, 0, 0, 0, 1];
      made.push(times(link.parent < 0 ? data.root : made[link.parent], times(link.at, move)));
    }
    return made;
  }

  const origin = (T) => [T[3], T[7], T[11]];
  const along = (T, p) => [0, 1, 2].map((i) => T[4 * i] * p[0] + T[4 * i + 1] * p[1] + T[4 * i + 2] * p[2] + T[4 * i + 3]);

  // Last links of a robot that branches, on which nothing hangs: they are drawn as far as their masses.
  function bare(data) {
    const carries = new Set([...data.links.map((link) => link.parent), ...data.tools.map((t) => t.on)]);
    return data.serial ? [] : data.links.map((_, k) => k).filter((k) => !carries.has(k));
  }

  // The view holds all that was ever drawn, and the floor lies below it.
  function seen(data, view, points) {
    const heights = points.map((p) => p[2]), lowest = Math.min(...heights);
    view.low = Math.min(view.low, lowest);
    view.high = Math.max(view.high, ...heights);
    view.floor = data.base.length ? view.low : Math.min(0, view.low);
    const middle = (view.low + view.high) / 2, far = Math.max(...points.map((p) => Math.hypot(p[0], p[1], p[2] - middle)));
    view.radius = Math.max(far, 0.02, view.radius + Math.abs(middle - view.middle) * (view.radius > 0));
    view.middle = middle;
  }

  function sketch(robot, svg, q) {
    const { data, view } = robot, links = poses(data, q), places = links.map(origin);
    const tools = data.tools.map((t) => times(t.on < 0 ? data.root : links[t.on], t.at));
    const masses = links.map((T, k) => along(T, data.links[k].com)), ends = bare(data);
    seen(data, view, [[0, 0, 0], origin(data.root), ...places, ...tools.map(origin), ...masses.filter((_, k) => data.links[k].mass > 0)]);
    const flat = ([x, y, z]) => {
      const [ca, sa, ce, se] = [Math.cos(view.azimuth), Math.sin(view.azimuth), Math.cos(view.elevation), Math.sin(view.elevation)];
      const scale = 185 / view.radius, up = z - view.middle;
      return [320 + scale * (ca * y - sa * x), 200 - scale * (ce * up - se * (ca * x + sa * y))];
    };
    const path = (points) => points.map((p) => flat(p).map((v) => v.toFixed(1)).join(",")).join(" ");
    svg.replaceChildren();
    const r = 0.6 * view.radius, floor = view.floor;
    drawn(svg, "polygon", { class: "floor", points: path([[-r, -r, floor], [r, -r, floor], [r, r, floor], [-r, r, floor]]) });
    if (!data.base.length) drawn(svg, "polyline", { class: "pedestal", points: path([[0, 0, 0], origin(data.root)]) });
    links.forEach((T, k) => {
      const parent = data.links[k].parent, before = parent < 0 ? data.root : links[parent], corner = along(before, [data.links[k].at[3], 0, 0]);
      drawn(svg, "polyline", { class: "link", points: path(data.serial ? [origin(before), corner, origin(T)] : [origin(before), origin(T)]) });
    });
    ends.forEach((k) => drawn(svg, "polyline", { class: "link", points: path([places[k], masses[k]]) }));
    tools.forEach((T, k) => {
      const on = data.tools[k].on;
      drawn(svg, "polyline", { class: "link", points: path([on < 0 ? origin(data.root) : places[on], origin(T)]) });
      ["x", "y", "z"].forEach((axis, i) => drawn(svg, "polyline", { class: axis, points: path([origin(T), along(T, [0, 1, 2].map((j) => (i === j ? 0.1 * view.radius : 0)))]) }));
    });
    const heaviest = Math.max(1e-12, ...data.links.map((l) => l.mass));
    links.forEach((T, k) => {
      const link = data.links[k], half = 0.05 * view.radius;
      drawn(svg, "polyline", { class: link.revolute ? "revolute" : "prismatic", points: path([along(T, [0, 0, -half]), along(T, [0, 0, half])]) });
      if (!(link.mass > 0)) return;
      const [cx, cy] = flat(masses[k]);
      drawn(svg, "circle", { class: "mass", cx: cx.toFixed(1), cy: cy.toFixed(1), r: (2 + 7 * Math.sqrt(link.mass / heaviest)).toFixed(1) });
    });
  }

  function thinned(t, y) {
    if (t.length <= MOST) return [t, y];
    const size = Math.ceil(t.length / (MOST / 2)), keep = [];
    for (let start = 0; start < t.length; start += size) {
      let low = start, high = start;
      for (let k = start; k < Math.min(start + size, t.length); k++) {
        if (y[k] < y[low]) low = k;
        if (y[k] > y[high]) high = k;
      }
      keep.push(...new Set([Math.min(low, high), Math.max(low, high)]));
    }
    return [keep.map((k) => t[k]), keep.map((k) => y[k])];
  }

  // A figure of curves over time, some with limits as dotted lines, in its place.
  function plotted(place, title, series, unit) {
    const figure = block(place, "figure", "drawn"), levels = [];
    block(figure, "div", "plot");
    const data = series.map(({ name, t, y, limits }, k) => {
      const [x, v] = thinned(t, y), color = `--c${(k % 8) + 1}`;
      (limits || []).forEach((level) => levels.push({ type: "scatter", mode: "lines", x: [t[0], t[t.length - 1]], y: [level, level], name: `limit of ${name}`, showlegend: false, hoverinfo: "skip", line: { color, width: 1, dash: "dot" } }));
      return { type: "scatter", mode: "lines", x, y: v, name, line: { color, dash: ["", "dash", "dot"][Math.floor(k / 8) % 3] } };
    });
    const layout = { height: 280, title: { text: title }, xaxis: { title: { text: "time [s]" } }, yaxis: { title: { text: unit } }, hovermode: "x unified" };
    const script = block(figure, "script");
    script.type = "application/json";
    script.textContent = JSON.stringify({ data: [...data, ...levels], layout });
    if (Math.max(...series.map(({ t }) => t.length)) > MOST) block(figure, "figcaption", "", `Of ${series[0].t.length} samples the lowest and highest of each short stretch.`);
    dynarmPlot.make(figure);
    return figure;
  }

  return { block, shown, aligned, forces, massAndBias, kinetic, released, step, energies, motion, sketch, plotted, whole };
})();
