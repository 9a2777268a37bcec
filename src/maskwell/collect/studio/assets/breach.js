/**
 * The breach region: a point of the square is a change of belief about a respondent, to the right what somebody held
 * before the report, upwards what they hold after it. Shaded is what no report can do at this parity; the dashed line
 * is what the demand forbids.
 */

import { draw } from "../../respond/assets/dom.js";
import { percent } from "./numbers.js";
import { area, line, picture, Picture, scale, text, ticks } from "./pictures.js";

const STEPS = 80;
const EXAMPLE = 0.1;
const MOST_WIDTH = 440;

/** The largest belief to which a report can lift this one. */
export function upper(parity, belief) {
  return belief === 0 ? 0 : belief / (belief + (1 - belief) / parity);
}

/** The smallest belief to which a report can push this one. */
export function lower(parity, belief) {
  return belief === 1 ? 1 : belief / (belief + parity * (1 - belief));
}

export class BreachPicture {
  constructor(element) {
    this.parity = null;
    this.curves = null;
    this.picture = new Picture(element, (width) => this.paint(Math.min(width, MOST_WIDTH)));
  }

  /** `parity` is null where a design has no limit; `curves` are rows of a belief and the limits that a demand sets. */
  show(parity, curves) {
    this.parity = parity;
    this.curves = curves;
    this.picture.repaint();
  }

  paint(width) {
    const left = 60;
    const top = 8;
    const side = width - left - 22;
    const height = side + top + 40;
    const x = scale(0, 1, left, left + side);
    const y = scale(0, 1, top + side, top);
    const beliefs = Array.from({ length: STEPS + 1 }, (_, i) => i / STEPS);
    const parts = ticks(0, 1, 5).flatMap((tick) => [
      draw("path", { class: "grid", d: `M${x(tick)} ${y(0)}V${y(1)}M${x(0)} ${y(tick)}H${x(1)}` }),
      text(x(tick), y(0) + 16, percent(tick, 0), { "text-anchor": "middle", class: "faint" }),
      text(x(0) - 6, y(tick) + 4, percent(tick, 0), { "text-anchor": "end", class: "faint" }),
    ]);
    if (this.parity !== null) {
      const up = beliefs.map((p) => [x(p), y(upper(this.parity, p))]);
      const down = beliefs.map((p) => [x(p), y(lower(this.parity, p))]);
      parts.push(
        area([...up, [x(0), y(1)]], { class: "region" }),
        area([...down, [x(1), y(0)]], { class: "region" }),
        line(up, { class: "edge" }),
        line(down, { class: "edge" }),
      );
      const reached = upper(this.parity, EXAMPLE);
      parts.push(
        draw("path", { class: "other", d: `M${x(EXAMPLE)} ${y(lower(this.parity, EXAMPLE))}V${y(reached)}` }),
        draw("circle", { class: "mark", cx: x(EXAMPLE), cy: y(reached), r: 5 }),
      );
      if (reached < 0.8) parts.push(text(x(0.02), y(0.95), "ruled out"), text(x(0.98), y(0.03), "ruled out", { "text-anchor": "end" }));
    }
    parts.push(line([[x(0), y(0)], [x(1), y(1)]], { class: "axis" }));
    if (this.curves) {
      parts.push(
        line(this.curves.map(([p, , high]) => [x(p), y(high)]), { class: "demand" }),
        line(this.curves.map(([p, low]) => [x(p), y(low)]), { class: "demand" }),
      );
    }
    parts.push(text(left + side / 2, height - 4, "belief before the report", { "text-anchor": "middle" }));
    parts.push(text(12, top + side / 2, "belief after it", { "text-anchor": "middle", transform: `rotate(-90 12 ${top + side / 2})` }));
    return picture(width, height, finding(this.parity), ...parts);
  }
}

/** A limit to the next tenth of a percent: rounded up, so that it is not promised too strongly. */
function atMost(share) {
  return Math.ceil(1000 * share - 1e-9) / 1000;
}

/** What the picture shows, in one sentence. */
export function finding(parity) {
  if (parity === null) return "No change of belief is ruled out: a report can be proof.";
  const reached = upper(parity, EXAMPLE);
  if (reached > 0.9995) return `A report can turn a belief of ${percent(EXAMPLE, 0)} into near certainty.`;
  return `No report lifts a belief of ${percent(EXAMPLE, 0)} above ${percent(atMost(reached), 1)}, whatever else is known.`;
}
