/** Estimates as dots with their intervals, one line for each answer, on one axis of percent. */

import { draw } from "../../respond/assets/dom.js";
import { decimal, percent } from "./numbers.js";
import { picture, Picture, scale, text, ticks } from "./pictures.js";

const LINE = 44;
const AXIS = 22;

/** Two digits of the median half-width decide how many decimals an estimate deserves. */
export function decimalsFor(rows) {
  const halves = rows.map(({ low, high }) => (100 * (high - low)) / 2).sort((a, b) => a - b);
  const half = halves[Math.floor(halves.length / 2)];
  return half > 0 ? Math.min(Math.max(1 - Math.floor(Math.log10(half)), 0), 3) : 1;
}

/** An interval in words. */
export function between({ low, high }, digits) {
  return `${decimal(100 * low, digits)} to ${decimal(100 * high, digits)}`;
}

export class IntervalsPicture {
  /** `limits` are the ends of the axis; without them it holds all intervals. */
  constructor(element, limits = null) {
    this.rows = [];
    this.limits = limits;
    this.picture = new Picture(element, (width) => (this.rows.length ? this.paint(width) : null));
  }

  show(rows) {
    this.rows = rows;
    this.picture.repaint();
  }

  paint(width) {
    const { rows } = this;
    const digits = decimalsFor(rows);
    const [left, right] = [10, 14];
    const height = rows.length * LINE + AXIS;
    const low = this.limits?.[0] ?? Math.min(0, ...rows.map((row) => row.low));
    const high = this.limits?.[1] ?? Math.max(...rows.map((row) => row.high));
    const x = scale(low, high, left, width - right);
    const inside = (value) => Math.min(Math.max(value, low), high);
    const shares = ticks(low, high, width < 480 ? 4 : 6);
    const step = shares.length > 1 ? shares[1] - shares[0] : 1;
    const parts = shares.flatMap((tick) => [
      draw("path", { class: tick === 0 ? "axis" : "grid", d: `M${x(tick)} 0V${height - AXIS}` }),
      text(x(tick), height - 6, percent(tick, step < 0.0099 ? 1 : 0), { "text-anchor": "middle", class: "faint" }),
    ]);
    rows.forEach((row, i) => {
      const y = i * LINE + 31;
      const shown = `${percent(row.estimate, digits)} (${between(row, digits)})`;
      parts.push(
        text(left + 5, i * LINE + 17, clipped(row.label, width - 190), { class: "strong" }),
        text(width - right, i * LINE + 17, shown, { "text-anchor": "end" }),
        draw("path", { class: "whole", d: `M${x(inside(row.low))} ${y}H${x(inside(row.high))}` }),
      );
      if (row.sampling !== undefined) {
        const ends = [inside(Math.max(row.estimate - row.sampling, row.low)), inside(Math.min(row.estimate + row.sampling, row.high))];
        parts.push(draw("path", { class: "sampling", d: `M${x(ends[0])} ${y}H${x(ends[1])}` }));
      }
      if (row.estimate >= low && row.estimate <= high) parts.push(draw("circle", { class: "dot", cx: x(row.estimate), cy: y, r: 4.5 }));
    });
    const words = rows.map((row) => `${row.label}: ${percent(row.estimate, digits)}, ${between(row, digits)}`).join("; ");
    return picture(width, height, words, ...parts);
  }
}

/** A label that fits into so many pixels. */
function clipped(label, room) {
  const most = Math.max(8, Math.floor(room / 7.5));
  return label.length <= most ? label : `${label.slice(0, most - 1)}…`;
}
