// What a reader would stumble over on a page with charts: texts that lie on one another or outside their drawing.
() => {
  const corners = (text) => {
    const box = text.getBBox();
    const place = text.getScreenCTM();
    const at = (x, y) => [place.a * x + place.c * y + place.e, place.b * x + place.d * y + place.f];
    const [right, bottom] = [box.x + box.width, box.y + box.height];
    return [at(box.x, box.y), at(right, box.y), at(right, bottom), at(box.x, bottom)];
  };
  // Boxes of letters have some air, above and below all.
  const AIR = 2;
  const apart = (one, other) =>
    [one, other].some((box) =>
      box.some(([x, y], i) => {
        const [nextX, nextY] = box[(i + 1) % 4];
        const [normalX, normalY] = [nextY - y, x - nextX];
        const long = Math.hypot(normalX, normalY) || 1;
        const along = (points) => points.map(([px, py]) => (px * normalX + py * normalY) / long);
        const [a, b] = [along(one), along(other)];
        return Math.max(...a) < Math.min(...b) + AIR || Math.max(...b) < Math.min(...a) + AIR;
      }),
    );
  const found = [];
  for (const drawing of document.querySelectorAll(".chart svg")) {
    const frame = drawing.getBoundingClientRect();
    const texts = [...drawing.querySelectorAll("text")]
      .filter((text) => text.textContent.trim() && text.getAttribute("opacity") !== "0")
      .map((text) => ({ words: text.textContent, box: corners(text) }));
    texts.forEach(({ words, box }, i) => {
      if (
        box.some(([x, y]) => x < frame.left - 1 || x > frame.right + 1 || y < frame.top - 1 || y > frame.bottom + 1)
      ) {
        found.push(`outside: ${words}`);
      }
      for (const other of texts.slice(i + 1)) {
        if (!apart(box, other.box)) found.push(`${words} on ${other.words}`);
      }
    });
  }
  return found;
};
