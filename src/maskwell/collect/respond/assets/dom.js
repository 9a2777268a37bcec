/** Elements made by hand: text only ever enters as text, so nothing in a survey can become markup or script. */

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element of the page with its attributes and children. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of a picture. */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Text of the survey itself, such as a label: it may run in another direction than the page. */
export function ownText(tag, text, attributes = {}) {
  return make(tag, { dir: "auto", ...attributes }, String(text));
}

let made = 0;

/** A name that no other element of this page has. */
export function freshId(about) {
  made += 1;
  return `${about}-${made}`;
}
