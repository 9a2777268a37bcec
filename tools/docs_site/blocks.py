"""The code blocks of a page: what each is, what stands below it as its output, and why it is not run if it is not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

PICTURE = "{picture}"
RUN = {"python", "sh", PICTURE}
# What is read and not run: outputs and diagrams, and the parts of pages that the site's own directives make.
READ = {"text", "{toctree}", "{names}", "{commands}"}

_EXCUSE = re.compile(r"<!--\s*(?:not run|run by):\s*(.*?)\s*-->\s*", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A code block. ``output`` is the text block directly below it, ``excuse`` the comment directly above it.

    ``lines`` are those of the block with its output, from 0, the last one excluded.
    """

    lines: tuple[int, int]
    language: str
    code: str
    output: str | None
    excuse: str | None


def blocks(text: str) -> list[Block]:
    """All code blocks of a Markdown text, fenced and indented ones."""
    tokens = [token for token in MarkdownIt().parse(text) if token.map is not None or token.type == "html_block"]
    found = []
    for place, token in enumerate(tokens):
        if token.type not in ("fence", "code_block"):
            continue
        before = tokens[place - 1] if place else None
        excuse = _EXCUSE.fullmatch(before.content) if before is not None and before.type == "html_block" else None
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        shown = after is not None and after.type == "fence" and after.info.strip() == "text"
        last = after if after is not None and shown else token
        assert token.map is not None
        assert last.map is not None
        found.append(
            Block(
                lines=(token.map[0], last.map[1]),
                language=(token.info.split() or [""])[0],
                code=token.content,
                output=after.content if after is not None and shown else None,
                excuse=excuse[1] if excuse else None,
            )
        )
    return found


def unexcused(text: str) -> list[Block]:
    """The blocks that are neither run nor read and do not say why."""
    return [block for block in blocks(text) if block.language not in RUN | READ and not block.excuse]
