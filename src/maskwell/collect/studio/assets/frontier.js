/** Privacy against cost: a line for each design over all levels of privacy, and where the planned question stands. */

import { draw } from "../../respond/assets/dom.js";
import { digits, percent } from "./numbers.js";
import { apart, line, logTicks, picture, Picture, scale, text, ticks } from "./pictures.js";

const BEST = "minimax";
const ROOM = 1.2;
const GAP = 15;
const MOST_EPSILON = 6;

export class FrontierPicture {
  constructor(element) {
    this.curves = [];
    this.marks = [];
    this.byGuess = false;
    this.picture = new Picture(element, (width) => (this.curves.length ? this.paint(width) : null));
  }

  /** `marks` are designs with epsilon, guess and cost; `byGuess` where the demand sets no limit to ε. */
  show(curves, marks, byGuess) {
    this.curves = curves;
    this.byGuess = byGuess;
    this.move(marks);
  }

  move(marks) {
    this.marks = marks.filter((mark) => mark.cost !== null);
    this.picture.repaint();
  }

  paint(width) {
    const across = this.byGuess ? 1 : 0;
    const lines = this.curves
      .map(({ name, title, points }) => ({ name, title, points: points.filter((point) => point[across] !== null) }))
      .filter(({ points }) => points.length > 1);
    const marks = this.marks
      .map((mark) => ({ ...mark, at: this.byGuess ? mark.guess : mark.epsilon }))
      .filter((mark) => mark.at !== null);
    const right = width < 480 ? 120 : 130;
    const [left, top, height, bottom] = [52, 10, Math.min(340, Math.max(260, width * 0.6)), 44];
    const costs = [...lines.flatMap(({ points }) => points.map((point) => point[2])), ...marks.map((mark) => mark.cost)];
    const [least, most] = [Math.min(...costs) / ROOM, Math.max(...costs) * ROOM];
    const [low, high] = this.byGuess ? [0, 1] : [0, MOST_EPSILON];
    const x = scale(low, high, left, width - right);
    const y = scale(least, most, height - bottom, top, true);
    const parts = [
      ...ticks(low, high, width < 480 ? 4 : 6).flatMap((tick) => [
        draw("path", { class: "grid", d: `M${x(tick)} ${top}V${height - bottom}` }),
        text(x(tick), height - bottom + 16, this.byGuess ? percent(tick, 0) : String(tick), { "text-anchor": "middle", class: "faint" }),
      ]),
      ...logTicks(least, most, 8).flatMap((tick) => [
        draw("path", { class: "grid", d: `M${left} ${y(tick)}H${width - right}` }),
        text(left - 6, y(tick) + 4, `× ${digits(tick)}`, { "text-anchor": "end", class: "faint" }),
      ]),
      // The design that nothing beats is drawn last, above the others.
      ...[...lines]
        .sort((a, b) => (a.name === BEST) - (b.name === BEST))
        .map(({ name, points }) =>
          line(points.map((point) => [x(Math.min(point[across], high)), y(point[2])]), { class: name === BEST ? "best" : "other" }),
        ),
      ...this.names(lines, x, y, across, width - right, top, height - bottom),
      ...marks.map((mark) =>
        draw("circle", { class: mark.chosen ? "mark" : "rival", cx: x(Math.min(mark.at, high)), cy: y(mark.cost), r: mark.chosen ? 7 : 3.5 }),
      ),
      text(left + (width - right - left) / 2, height - 6, this.byGuess ? "right guesses by a stranger" : "ε: less private to the right", { "text-anchor": "middle" }),
    ];
    return picture(width, height, this.finding(marks), ...parts);
  }

  names(lines, x, y, across, edge, top, bottom) {
    const ends = lines.map(({ points }) => points.at(-1));
    const heights = apart(ends.map((end) => y(end[2])), GAP, top + 6, bottom);
    return lines.flatMap(({ name, title }, i) => [
      draw("path", { class: "grid", d: `M${x(Math.min(ends[i][across], this.byGuess ? 1 : MOST_EPSILON))} ${y(ends[i][2])}L${edge + 6} ${heights[i]}` }),
      text(edge + 8, heights[i] + 4, title, { class: name === BEST ? "strong" : "faint" }),
    ]);
  }

  finding(marks) {
    const mark = marks.find(({ chosen }) => chosen);
    return mark ? `The chosen design needs ${digits(mark.cost)} times the people of a direct question.` : "Privacy against cost of all designs.";
  }
}
