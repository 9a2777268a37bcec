// Draws every chart of the page to the width that the reader has: narrower or wider plots, fewer columns if need be.
"use strict";
(() => {
  const NARROWEST = 90;
  const WIDEST = 720;
  const LEAST_SIDE = 180;
  const LEAST_STEP = 30;
  const PHONE = 480;
  const LONG_NAME = 15;

  const plots = (spec) => (spec.concat ? spec.concat : [spec.spec || spec]);

  // Labels beside a plot keep their size, so all that a drawing has too much or too little goes to its plots.
  const widen = (spec, change) => {
    for (const plot of plots(spec)) {
      plot.width = Math.min(WIDEST, Math.max(NARROWEST, Math.floor(plot.width + change)));
    }
  };

  const adapt = (spec, wide, room) => {
    const columns = spec.columns || 1;
    const change = (room - wide) / columns;
    if (columns > 1 && plots(spec)[0].width + change < NARROWEST) {
      spec.columns = columns - 1;
    } else {
      widen(spec, change);
    }
  };

  // A square stays one, and the cells of a matrix keep room for their numbers; both only ever shrink.
  const shrink = (spec, wide, room) => {
    if (spec.hconcat) {
      const square = spec.hconcat[0];
      square.width = square.height = Math.max(LEAST_SIDE, Math.floor(square.width - (wide - room)));
    } else {
      spec.width.step = Math.max(Math.min(LEAST_STEP, spec.width.step), Math.floor((spec.width.step * room) / wide));
    }
  };

  // A name in two lines, broken where both are about as long.
  const twoLines = (name) => {
    const spaces = [...name.matchAll(/ /g)].map((found) => found.index);
    if (name.length <= LONG_NAME || !spaces.length) return name;
    const middle = spaces.reduce((a, b) => (Math.abs(b - name.length / 2) < Math.abs(a - name.length / 2) ? b : a));
    return [name.slice(0, middle), name.slice(middle + 1)];
  };

  // On a phone the entries of a key stand under each other, and long names beside a plot take two lines.
  const fold = (spec) => {
    spec.config.legend.columns = 1;
    const visit = (node) => {
      if (!node || typeof node !== "object") return;
      const { axis, sort } = node.y || {};
      if (axis && Array.isArray(sort) && sort.some((name) => name.length > LONG_NAME)) {
        const lines = Object.fromEntries(sort.map((name) => [name, twoLines(name)]));
        const broken = JSON.stringify(sort.filter((name) => Array.isArray(lines[name])));
        const inTwo = { test: `indexof(${broken}, datum.value) >= 0`, value: "line-bottom" };
        axis.labelExpr = `${JSON.stringify(lines)}[datum.label]`;
        axis.labelBaseline = { condition: inTwo, value: "middle" };
        Object.assign(axis, { labelFontSize: 9, labelLineHeight: 9.5, labelLimit: 110 });
      }
      Object.values(node).forEach(visit);
    };
    visit(spec);
  };

  const sizes = (spec) => JSON.stringify([spec.columns, (spec.hconcat || plots(spec))[0].width]);

  const draw = async (figure) => {
    const place = figure.querySelector(".chart");
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const room = figure.clientWidth;
    let fixed, wide;
    if (room < PHONE) fold(spec);
    for (let attempt = 0; attempt < 8; attempt += 1) {
      await vegaEmbed(place, spec, { mode: "vega-lite", renderer: "svg", actions: false });
      wide = Number(place.querySelector("svg").getAttribute("width"));
      fixed = spec.hconcat || typeof plots(spec)[0].width !== "number";
      if (wide <= room && (fixed || wide > room - 12)) break;
      const before = sizes(spec);
      if (fixed) shrink(spec, wide, room);
      else adapt(spec, wide, room - 4);
      if (sizes(spec) === before) break;
    }
    // A square or a matrix has its words beside it if it leaves the room.
    figure.classList.toggle("narrow", Boolean(fixed) && wide < 0.6 * room);
    const drawing = place.querySelector("svg");
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", figure.querySelector("figcaption").textContent);
    // Read aloud, a chart is what its words say; every number is in the tables.
    for (const part of drawing.children) part.setAttribute("aria-hidden", "true");
    if (place.scrollWidth > place.clientWidth) place.tabIndex = 0;
    figure.dataset.drawn = figure.clientWidth;
  };

  const drawAll = async () => {
    for (const figure of document.querySelectorAll("figure")) {
      if (Number(figure.dataset.drawn) !== figure.clientWidth) await draw(figure);
    }
  };

  let waiting;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 200);
  });
  drawAll();
})();
