"""A file that a page sends, and what is to be done with it: read from memory, by way of a private folder at most.

The body is four bytes with the length of a JSON object, the object, and the file. Options so never stand in an address,
and no part of a file is parsed to find where it ends.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import Request

from maskwell.collect.http.answers import Refusal, bounded_body
from maskwell.microdata import Microdata, read, write
from maskwell.microdata.files import suffix_of
from maskwell.strict_json import Refused, strict_value

# No packed text: a small file could unpack to more than memory holds.
ACCEPTED = (".csv", ".tsv", ".parquet", ".dta", ".sav")
_LENGTH = 4
_MOST_OPTIONS = 1 << 20


@dataclass(frozen=True, repr=False)
class Upload:
    """What a request brought. It has no text of its own, so that no message can show it."""

    suffix: str
    content: bytes
    options: dict[str, Any]

    def opened(self) -> Microdata:
        """The file as a table. Readers want a path: it is there while they read, open to this process alone."""
        with tempfile.TemporaryDirectory(prefix="maskwell-") as folder:
            path = Path(folder) / f"file{self.suffix}"
            path.touch(0o600)
            path.write_bytes(self.content)
            return read(path)


def as_bytes(file: Microdata, suffix: str) -> bytes:
    """A file in the format of a suffix; by way of a private folder, since some writers want a path."""
    with tempfile.TemporaryDirectory(prefix="maskwell-") as folder:
        path = Path(folder) / f"released{suffix}"
        write(file, path)
        return path.read_bytes()


async def uploaded(request: Request, most: int) -> Upload:
    """The file and the options of a request: 413 or 422 if they cannot be taken."""
    advice = "release it from the command line, or let the operator raise file_bytes."
    body = await bounded_body(request, most, advice)
    length = int.from_bytes(body[:_LENGTH], "big")
    if length > min(_MOST_OPTIONS, len(body) - _LENGTH):
        raise Refusal(422, "the request does not say what is to be done with the file.")
    try:
        options = strict_value(body[_LENGTH : _LENGTH + length].decode())
    except (Refused, ValueError, RecursionError):
        raise Refusal(422, "what is to be done with the file could not be read.") from None
    if not isinstance(options, dict) or not isinstance(options.get("name"), str):
        raise Refusal(422, "the request must name its file.")
    name = options.pop("name").lower()
    if not name.endswith(ACCEPTED):
        raise Refusal(422, f"the file's name must end in {', '.join(ACCEPTED)}.")
    return Upload(suffix_of(name), body[_LENGTH + length :], options)
