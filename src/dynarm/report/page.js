(function () {
  "use strict";
  const root = document.documentElement;

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

  // on a phone many chapters would fill the first screen
  const contents = document.querySelector("details.contents");
  if (contents && window.innerWidth <= 600 && contents.querySelectorAll("a").length > 5) contents.open = false;
  if (typeof dynarmPlot !== "undefined") dynarmPlot.all();
  document.querySelectorAll("th button").forEach(function (b) {
    b.addEventListener("click", function () { sort(b.parentNode); });
  });
  document.querySelectorAll("svg.sketch[data-centre]").forEach(turnable);
  window.addEventListener("beforeprint", function () { root.classList.add("paper"); });
  window.addEventListener("afterprint", function () { root.classList.remove("paper"); });
})();
