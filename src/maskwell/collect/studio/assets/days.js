/** Submissions by day, as bars. */

import { draw } from "../../respond/assets/dom.js";
import { count } from "./numbers.js";
import { picture, Picture, scale, text } from "./pictures.js";

const MOST_DAYS = 60;

export class DaysPicture {
  constructor(element) {
    this.days = [];
    this.picture = new Picture(element, (width) => this.paint(width));
  }

  show(byDay) {
    this.days = Object.entries(byDay).slice(-MOST_DAYS);
    this.picture.repaint();
  }

  paint(width) {
    if (this.days.length === 0) return document.createTextNode("None yet.");
    const [height, top, bottom] = [120, 18, 20];
    const most = Math.max(...this.days.map(([, received]) => received));
    const y = scale(0, most, height - bottom, top);
    const step = Math.min(width / this.days.length, 90);
    const room = Math.max(1, Math.ceil(80 / step));
    const parts = this.days.flatMap(([day, received], i) => [
      draw("rect", { class: "bar", x: i * step + 2, y: y(received), width: Math.max(1, step - 4), height: height - bottom - y(received) }),
      step > 40 ? text(i * step + step / 2, y(received) - 4, count(received), { "text-anchor": "middle" }) : null,
      i % room === 0 ? text(i * step + 2, height - 5, day, { class: "faint" }) : null,
    ]);
    const words = this.days.map(([day, received]) => `${day}: ${received}`).join("; ");
    return picture(width, height, words, ...parts);
  }
}
