/** What all pictures share: they are drawn anew for the room they have, with axes of round numbers. */

import { draw } from "../../respond/assets/dom.js";

/** Keep a picture in an element: `paint(width)` gives its SVG; it is painted again whenever the room changes. */
export class Picture {
  constructor(element, paint) {
    this.element = element;
    this.paint = paint;
    this.width = 0;
    new ResizeObserver(() => {
      const width = Math.floor(element.clientWidth);
      if (width > 0 && width !== this.width) this.repaint();
    }).observe(element);
  }

  repaint() {
    this.width = Math.floor(this.element.clientWidth);
    if (this.width > 0) this.element.replaceChildren(...[this.paint(this.width)].flat().filter(Boolean));
  }
}

/** An SVG of this size that says in words what it shows. */
export function picture(width, height, words, ...parts) {
  const box = `0 0 ${width} ${height}`;
  return draw("svg", { class: "picture", viewBox: box, width, height, role: "img", "aria-label": words }, ...parts);
}

/** From values to pixels; `log` for a logarithmic axis. */
export function scale(low, high, from, to, log = false) {
  const at = log ? Math.log : (value) => value;
  const factor = (to - from) / (at(high) - at(low));
  return (value) => from + (at(value) - at(low)) * factor;
}

/** A line through points. */
export function line(points, attributes) {
  return draw("polyline", { points: points.map(([x, y]) => `${round(x)},${round(y)}`).join(" "), fill: "none", ...attributes });
}

/** An area inside points. */
export function area(points, attributes) {
  return draw("polygon", { points: points.map(([x, y]) => `${round(x)},${round(y)}`).join(" "), ...attributes });
}

export function text(x, y, content, attributes = {}) {
  return draw("text", { x: round(x), y: round(y), ...attributes }, content);
}

export function round(value) {
  return Math.round(10 * value) / 10;
}

/** Round numbers from low to high, about as many as asked for. */
export function ticks(low, high, about) {
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) found.push(Number((i * step).toPrecision(12)));
  return found;
}

/** Round numbers on a logarithmic axis. */
export function logTicks(low, high, most) {
  const powers = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e += 1) powers.push(e);
  for (const leading of [[1, 2, 5], [1, 3], [1]]) {
    const found = powers.flatMap((e) => leading.map((m) => m * 10 ** e)).filter((v) => v >= low && v <= high);
    if (found.length <= most) return found;
  }
  return powers.filter((e, i) => i % 2 === 0).map((e) => 10 ** e).filter((v) => v >= low && v <= high);
}

/** Heights moved apart so that none is nearer than `gap` to the next, in their order, within low and high. */
export function apart(heights, gap, low, high) {
  const order = heights.map((_, i) => i).sort((a, b) => heights[a] - heights[b]);
  const placed = [...heights];
  let floor = low;
  for (const i of order) {
    placed[i] = Math.max(placed[i], floor);
    floor = placed[i] + gap;
  }
  let ceiling = high;
  for (const i of order.reverse()) {
    placed[i] = Math.min(placed[i], ceiling);
    ceiling = placed[i] - gap;
  }
  return placed;
}
