// Draws every chart of the page to the width that the reader has: narrower or wider plots, fewer columns if need be.
"use strict";
(() => {
  const NARROWEST = 90;
  const WIDEST = 560;

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

  const draw = async (figure) => {
    const place = figure.querySelector(".chart");
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const room = figure.clientWidth;
    for (let attempt = 0; attempt < 8; attempt += 1) {
      await vegaEmbed(place, spec, { mode: "vega-lite", renderer: "svg", actions: false });
      const wide = Number(place.querySelector("svg").getAttribute("width"));
      if (typeof plots(spec)[0].width !== "number") break;
      const before = JSON.stringify([spec.columns, plots(spec)[0].width]);
      if (wide <= room && wide > room - 12) break;
      adapt(spec, wide, room - 4);
      if (JSON.stringify([spec.columns, plots(spec)[0].width]) === before) break;
    }
    figure.dataset.drawn = room;
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
