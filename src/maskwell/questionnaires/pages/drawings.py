"""Spinners and cards as SVG, in millimetres, with the exact proportions of the design."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from html import escape

from maskwell.questionnaires.devices import Device

RADIUS = 78.0
_LABEL_AT = 0.62
_MARKED_PARTS = 100
# Light enough to write on, dark enough to tell apart on grey paper as well: parts are told apart by their words too.
_FILLS = ("#ffffff", "#dbe7f3", "#f6e3c5", "#e0eddc", "#f1dcea", "#e4e0f2")
_LINE = 34


def spinner(device: Device, words: Sequence[str]) -> str:
    """A disc cut into sectors whose angles are the chances; ``words`` stand in them, in the order of the parts."""
    size = 2 * RADIUS + 4
    parts, start = [], Fraction(0)
    for i, (part, text) in enumerate(zip(device.parts, words, strict=True)):
        end = start + Fraction(part.count, device.base)
        parts.append(_sector(start, end, _FILLS[i % len(_FILLS)]))
        middle = float(start + end) / 2
        parts.append(_text(*_at(middle, _LABEL_AT * RADIUS), text, _width(end - start)))
        start = end
    if device.base <= _MARKED_PARTS:
        parts += [_mark(Fraction(i, device.base)) for i in range(device.base)]
    parts.append('<circle r="1.2" fill="#000"/>')
    half = size / 2
    return (
        f'<svg class="spinner" xmlns="http://www.w3.org/2000/svg" width="{size:g}mm" height="{size:g}mm" '
        f'viewBox="{-half:g} {-half:g} {size:g} {size:g}" role="img" aria-label="{escape("; ".join(words))}">'
        f"{''.join(parts)}</svg>"
    )


def card(text: str, colour: str | None = None) -> str:
    """One card, 60 by 42 mm; a coloured one has a broad frame and a word in its colour, which costs little ink."""
    ink = {"red": "#c8102e", "black": "#000"}.get(colour or "", "#000")
    frame = f'<rect x="4" y="4" width="52" height="34" fill="none" stroke="{ink}" stroke-width="4"/>' if colour else ""
    return (
        '<svg class="card" xmlns="http://www.w3.org/2000/svg" width="60mm" height="42mm" viewBox="0 0 60 42" '
        f'role="img" aria-label="{escape(text)}">'
        '<rect x="0.2" y="0.2" width="59.6" height="41.6" fill="#fff" stroke="#000" stroke-width="0.3"/>'
        f'{frame}<g fill="{ink}">{_text(30, 21, text, 26)}</g></svg>'
    )


def _at(turn: float, radius: float) -> tuple[float, float]:
    """A point on a circle, by parts of a full turn, clockwise from the top."""
    angle = 2 * math.pi * turn
    return radius * math.sin(angle), -radius * math.cos(angle)


def _sector(start: Fraction, end: Fraction, fill: str) -> str:
    (x0, y0), (x1, y1) = _at(float(start), RADIUS), _at(float(end), RADIUS)
    large = int(end - start > Fraction(1, 2))
    return (
        f'<path class="part" d="M0 0L{x0:.5f} {y0:.5f}A{RADIUS:g} {RADIUS:g} 0 {large} 1 {x1:.5f} {y1:.5f}Z" '
        f'fill="{fill}" stroke="#000" stroke-width="0.5"/>'
    )


def _mark(turn: Fraction) -> str:
    (x0, y0), (x1, y1) = _at(float(turn), RADIUS - 3), _at(float(turn), RADIUS)
    return f'<path class="mark" d="M{x0:.4f} {y0:.4f}L{x1:.4f} {y1:.4f}" stroke="#000" stroke-width="0.2"/>'


def _width(share: Fraction) -> int:
    """Letters to a line where a sector is narrow."""
    return max(10, min(_LINE, int(2 * _LINE * share)))


def _text(x: float, y: float, text: str, letters: int) -> str:
    lines = _wrapped(text, letters)
    size = 4.2 if len(lines) <= 4 else 3.2
    top = y - (len(lines) - 1) * size * 0.6
    spans = "".join(
        f'<tspan x="{x:.3f}" y="{top + i * size * 1.2:.3f}">{escape(line)}</tspan>' for i, line in enumerate(lines)
    )
    return (
        f'<text font-size="{size:g}" font-family="sans-serif" text-anchor="middle" dominant-baseline="central">'
        f"{spans}</text>"
    )


def _wrapped(text: str, letters: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > letters:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
