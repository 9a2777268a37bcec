/** The page of a question's audit: its breach region. */

import { BreachPicture, finding } from "./breach.js";

const element = document.getElementById("breach");
const { parity, curves } = JSON.parse(element.dataset.breach);
document.getElementById("breach-title").textContent = finding(parity);
new BreachPicture(element).show(parity, curves);
