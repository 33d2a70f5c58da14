// What is seen of a robot that computes: sliders, a table of forces, the mass matrix, energy, simulation, files.
(function () {
  "use strict";
  const STEP = 2.5e-4, SECONDS = 10, SHOWN = 12; // of the simulation [s], [s]; joints whose whole matrix is written
  const LONG = 5e6, LARGEST = 200e6; // bytes of a file that is read with a word before, of one that is refused
  const MODES = { q: ["position", "\u00b0", "m"], qd: ["speed", "\u00b0/s", "m/s"], qdd: ["acceleration", "\u00b0/s\u00b2", "m/s\u00b2"] };
  const { block, shown, aligned, forces, massAndBias, kinetic, energies, released, step, motion, sketch, plotted, whole } = dynarmLive;
  const FRESH = { radius: 0, low: Infinity, high: -Infinity, middle: 0, floor: 0 }; // of a view that has seen nothing
  const factor = (joint) => (joint.revolute ? 180 / Math.PI : 1);
  const unit = (joint) => (joint.revolute ? "N m" : "N");

  // How far a slider goes in each mode.
  function reach(joint, mode) {
    if (mode === "q") return [joint.low, joint.high];
    const most = mode === "qd" ? joint.speed || (joint.revolute ? 3 : 1) : joint.revolute ? 10 : 5;
    return [-most, most];
  }

  function button(parent, text, act) {
    const made = block(parent, "button", "", text);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  function layout(root, robot) {
    const at = { root, top: block(root, "div", "live-top") };
    at.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    at.svg.setAttribute("class", "sketch live-sketch");
    at.svg.setAttribute("viewBox", "0 0 640 400");
    at.svg.setAttribute("role", "img");
    at.svg.setAttribute("aria-label", `${robot.data.name} as it stands now; drag to turn`);
    at.top.appendChild(at.svg);
    const side = block(at.top, "div", "live-side");
    at.tools = block(side, "div", "player");
    at.mode = block(at.tools, "select");
    at.mode.setAttribute("aria-label", "what sliders change");
    for (const [key, [word]] of Object.entries(MODES)) block(at.mode, "option", "", word).value = key;
    at.list = block(side, "div", "live-joints");
    at.energy = block(root, "p", "note live-energy");
    at.details = block(root, "details");
    block(at.details, "summary", "", "Mass matrix here");
    at.matrix = block(at.details, "div", "scroll");
    at.note = block(root, "p", "live-note");
    at.note.setAttribute("role", "status");
    at.plots = block(root, "div", "grid live-plots");
    return at;
  }

  // Letters that all names begin with, up to the last sign between words: no need to read them again and again.
  function shared(names) {
    let same = 0;
    while (names.length > 1 && names.every((name) => name[same] !== undefined && name[same] === names[0][same])) same += 1;
    return Math.max(0, ...["_", "-", "/", " "].map((sign) => names[0].slice(0, same).lastIndexOf(sign) + 1));
  }

  function sliders(at, robot, changed) {
    const head = block(at.list, "div", "live-joint live-head");
    for (const word of ["joint", "", "", "force", "gravity", "of limit"]) block(head, "span", word, word);
    const common = shared(robot.data.joints.map((joint) => joint.name));
    const longest = Math.max(...robot.data.joints.map((joint) => joint.name.length - common));
    at.list.style.setProperty("--name", `${Math.min(longest, 20) * 0.46 + 0.3}rem`);
    return robot.data.joints.map((joint, j) => {
      const row = block(at.list, "label", "live-joint"), name = block(row, "span", "name", joint.name.slice(common));
      name.title = joint.name;
      const range = block(row, "input");
      range.type = "range";
      range.setAttribute("aria-label", joint.name);
      const cells = ["value", "force", "gravity", "share"].map((kind) => block(row, "span", kind));
      range.addEventListener("input", () => {
        robot.state[at.mode.value][j] = Number(range.value);
        changed();
      });
      return { range, cells };
    });
  }

  function place(at, robot, rows) {
    const mode = at.mode.value;
    robot.data.joints.forEach((joint, j) => {
      const [low, high] = reach(joint, mode), { range } = rows[j];
      range.min = low;
      range.max = high;
      range.step = "any";
      range.value = robot.state[mode][j];
    });
  }

  function show(at, robot, rows) {
    const { q, qd, qdd } = robot.state, tau = forces(robot, q, qd, qdd), mode = at.mode.value;
    const rest = q.map(() => 0), gravity = robot.gravity ? Array.from(robot.gravity(whole(robot, q))).slice(robot.data.speeds) : forces(robot, q, rest, rest);
    const told = aligned(tau), held = aligned(gravity);
    robot.data.joints.forEach((joint, j) => {
      const [value, force, still, share] = rows[j].cells;
      value.textContent = `${shown(Number((robot.state[mode][j] * factor(joint)).toFixed(joint.revolute ? 1 : 3)), 4)} ${MODES[mode][joint.revolute ? 1 : 2]}`;
      force.textContent = `${told[j]} ${unit(joint)}`;
      force.dataset.value = tau[j];
      still.textContent = `${held[j]} ${unit(joint)}`;
      still.dataset.value = gravity[j];
      const part = joint.force ? Math.abs(tau[j]) / joint.force : NaN;
      share.textContent = joint.force ? `${(100 * part).toFixed(part < 0.0995 ? 1 : 0)} %` : "\u2013";
      share.classList.toggle("bad", part > 1);
    });
    sketch(robot, at.svg, q);
    at.details.hidden = !robot.mass_matrix_and_bias;
    if (at.details.hidden) return;
    const U = robot.potential_energy(whole(robot, q))[0];
    const { M } = massAndBias(robot, q, qd), T = kinetic(M, qd);
    at.energy.textContent = `Kinetic energy ${shown(T)} J, potential ${shown(U)} J, total ${shown(T + U)} J.`;
    Object.assign(at.energy.dataset, { kinetic: T, potential: U });
    if (at.details.open) matrix(at, robot, M);
  }

  function matrix(at, robot, M) {
    const names = robot.data.joints.map((j) => j.name), few = names.length <= SHOWN;
    at.matrix.replaceChildren();
    const table = block(at.matrix, "table");
    if (few) {
      const head = block(block(table, "thead"), "tr");
      for (const word of ["", ...names]) block(head, "th", "number", word);
    }
    const body = block(table, "tbody");
    M.forEach((row, i) => {
      const line = block(body, "tr");
      block(line, "td", "", names[i]);
      (few ? row : [row[i]]).forEach((v) => { block(line, "td", "number", shown(v, 3)).dataset.value = v; });
    });
  }

  // ---- simulation: let go, without drive

  // Steps from where the robot stands: times, states and energies, ten milliseconds apart.
  function simulation(robot, friction) {
    let { q, qd } = robot.state, t = 0;
    const run = { t: [], q: [], qd: [], energy: [] };
    const keep = () => {
      run.t.push(t);
      run.q.push(q);
      run.qd.push(qd);
      run.energy.push(energies(robot, q, qd));
    };
    keep();
    return {
      run,
      advance(seconds) {
        const end = Math.round((t + seconds) / STEP);
        for (let k = Math.round(t / STEP); k < end; k++) {
          [q, qd] = step(robot, q, qd, STEP, friction);
          t = (k + 1) * STEP;
          if ((k + 1) % 40 === 0) keep();
        }
        return { t, q, qd };
      },
    };
  }

  function told(run, friction) {
    const total = run.energy.map((e) => e[2]), moved = Math.max(...run.energy.map((e) => e[0])) || 1;
    const change = Math.max(...total.map((e) => Math.abs(e - total[0])));
    if (friction) return `After ${shown(run.t[run.t.length - 1])} s friction has taken ${shown(total[0] - total[total.length - 1])} J.`;
    return `Runge-Kutta of fourth order, steps of ${1e3 * STEP} ms, without friction and stops: total energy stays within ${shown(change / moved, 2)} of the largest kinetic energy.`;
  }

  function played(at, robot, rows) {
    let frame = null;
    const toggle = button(at.tools, "Let go", () => (frame === null ? start() : stop()));
    const check = robot.data.friction ? block(block(at.tools, "label", "live-check", "friction "), "input") : null;
    if (check) check.type = "checkbox";

    function stop() {
      cancelAnimationFrame(frame);
      frame = null;
      toggle.textContent = "Let go";
    }

    function start() {
      const friction = Boolean(check && check.checked), sim = simulation(robot, friction);
      let last = performance.now();
      toggle.textContent = "Stop";
      at.plots.replaceChildren();
      const turn = (now) => {
        const { t, q, qd } = sim.advance(Math.min((now - last) / 1000, 0.05));
        last = now;
        Object.assign(robot.state, { q, qd, qdd: released(robot, q, qd, friction) });
        show(at, robot, rows);
        place(at, robot, rows);
        if (t < SECONDS && q.every(Number.isFinite)) frame = requestAnimationFrame(turn);
        else stop();
        if (frame === null) finish(sim.run, friction);
      };
      robot.finish = () => finish(sim.run, friction);
      frame = requestAnimationFrame(turn);
    }

    function finish(run, friction) {
      at.note.textContent = told(run, friction);
      drawRun(at, robot, run);
    }
    toggle.addEventListener("click", () => { if (frame === null && robot.finish) robot.finish(); });
  }

  function drawRun(at, robot, run) {
    at.plots.replaceChildren();
    const words = ["kinetic", "potential", "total"];
    plotted(at.plots, "Energy", words.map((name, k) => ({ name, t: run.t, y: run.energy.map((e) => e[k]) })), "energy [J]");
    positions(at, robot, run.t, run.q);
  }

  function positions(at, robot, t, q) {
    for (const [turning, words] of [[true, "position [\u00b0]"], [false, "position [m]"]]) {
      const series = robot.data.joints.map((joint, j) => ({ joint, j })).filter(({ joint }) => joint.revolute === turning).map(({ joint, j }) => ({
        name: joint.name, t, y: q.map((row) => row[j] * factor(joint)), limits: (joint.limits || []).map((v) => v * factor(joint)),
      }));
      if (series.length) plotted(at.plots, "Positions", series, words);
    }
  }

  // ---- files

  function beyond(robot, made) {
    const lines = [];
    robot.data.joints.forEach((joint, j) => {
      const worst = (rows) => rows.reduce((best, row, k) => (Math.abs(row[j]) > Math.abs(rows[best][j]) ? k : best), 0);
      const [force, speed] = [worst(made.tau), worst(made.qd)];
      if (joint.force && Math.abs(made.tau[force][j]) > joint.force) lines.push(`${joint.name}: ${shown(made.tau[force][j], 3)} ${unit(joint)} at ${shown(made.t[force], 3)} s is ${shown((100 * Math.abs(made.tau[force][j])) / joint.force, 3)} % of its limit`);
      if (joint.speed && Math.abs(made.qd[speed][j]) > joint.speed) lines.push(`${joint.name}: too fast at ${shown(made.t[speed], 3)} s, ${shown((100 * Math.abs(made.qd[speed][j])) / joint.speed, 3)} % of its limit`);
      const out = joint.limits ? made.q.findIndex((row) => row[j] < joint.limits[0] || row[j] > joint.limits[1]) : -1;
      if (out >= 0) lines.push(`${joint.name}: beyond its positions at ${shown(made.t[out], 3)} s`);
    });
    return lines;
  }

  function read(at, robot, name, text) {
    at.plots.replaceChildren();
    at.note.classList.remove("bad");
    try {
      const made = motion(robot, text), over = beyond(robot, made);
      for (const [turning, words] of [[true, "torque [N m]"], [false, "force [N]"]]) {
        const series = robot.data.joints.map((joint, j) => ({ joint, j })).filter(({ joint }) => joint.revolute === turning).map(({ joint, j }) => ({
          name: joint.name, t: made.t, y: made.tau.map((row) => row[j]), limits: joint.force ? [-joint.force, joint.force] : [],
        }));
        if (series.length) plotted(at.plots, `Forces of ${name}`, series, words);
      }
      positions(at, robot, made.t, made.q);
      const doubt = made.degrees ? " Positions turn more than twice around: if these are degrees, name the columns q1 [deg], q2 [deg] ..." : "";
      const derived = made.derived.length ? ` ${made.derived.join(" and ")} by differences.` : "";
      const verdict = over.length ? `Beyond limits: ${over.join("; ")}.` : "Within all limits that the robot states.";
      at.note.textContent = `${name}: ${made.t.length} samples, ${shown(made.t[made.t.length - 1])} s.${derived}${doubt} ${verdict}`;
      robot.last = made;
    } catch (error) {
      at.note.textContent = `${name}: ${error.message}`;
      at.note.classList.add("bad");
    }
  }

  function files(at, robot) {
    const label = block(at.tools, "label", "live-file", "Motion (CSV) "), input = block(label, "input");
    input.type = "file";
    input.accept = ".csv,.txt,text/csv";
    const take = async (file) => {
      if (!file) return;
      if (file.size > LARGEST) {
        at.note.classList.add("bad");
        at.note.textContent = `${file.name}: ${Math.round(file.size / 1e6)} MB are too much for a page; give at most ${LARGEST / 1e6} MB, for example every tenth sample`;
        return;
      }
      if (file.size > LONG) {
        at.note.textContent = `Reading ${file.name} ...`;
        await new Promise((done) => { setTimeout(done, 30); }); // the words are seen before the work begins
      }
      read(at, robot, file.name, await file.text());
    };
    input.addEventListener("change", () => take(input.files[0]));
    at.root.addEventListener("dragover", (event) => { event.preventDefault(); at.root.classList.add("over"); });
    at.root.addEventListener("dragleave", () => at.root.classList.remove("over"));
    at.root.addEventListener("drop", (event) => {
      event.preventDefault();
      at.root.classList.remove("over");
      take(event.dataTransfer.files[0]);
    });
  }

  function turning(at, robot) {
    let last = null;
    at.svg.addEventListener("pointerdown", (e) => { last = [e.clientX, e.clientY]; at.svg.setPointerCapture(e.pointerId); });
    at.svg.addEventListener("pointerup", () => { last = null; });
    at.svg.addEventListener("pointermove", (e) => {
      if (!last) return;
      robot.view.azimuth -= (e.clientX - last[0]) / 150;
      robot.view.elevation = Math.max(-1.55, Math.min(1.55, robot.view.elevation + (e.clientY - last[1]) / 150));
      last = [e.clientX, e.clientY];
      sketch(robot, at.svg, robot.state.q);
    });
  }

  async function begin(root) {
    const data = JSON.parse(root.querySelector("script").textContent);
    const robot = await dynarmRobot(data.spec);
    robot.batch = data.batch ? await dynarmRobot(data.batch) : robot;
    robot.data = data;
    const zero = data.joints.map(() => 0);
    robot.state = { q: data.start.slice(), qd: zero.slice(), qdd: zero.slice() };
    robot.view = { azimuth: 0.7, elevation: 0.3, ...FRESH };
    robot.simulation = (friction) => simulation(robot, friction);
    const at = layout(root, robot), rows = sliders(at, robot, () => show(at, robot, rows));
    at.mode.addEventListener("change", () => { place(at, robot, rows); show(at, robot, rows); });
    at.details.addEventListener("toggle", () => show(at, robot, rows));
    if (robot.mass_matrix_and_bias && !data.base.length) played(at, robot, rows);
    button(at.tools, "Start pose", () => {
      robot.state = { q: data.start.slice(), qd: zero.slice(), qdd: zero.slice() };
      Object.assign(robot.view, FRESH);
      place(at, robot, rows);
      show(at, robot, rows);
    });
    files(at, robot);
    turning(at, robot);
    place(at, robot, rows);
    show(at, robot, rows);
    root.robot = robot;
  }

  document.querySelectorAll(".live").forEach((root) => {
    begin(root).catch((error) => block(root, "p", "note", `This browser cannot run the robot: ${error.message}`));
  });
})();
