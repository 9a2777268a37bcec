"""What an invitation goes through: it is made for the owner, redeemed for a pass, and the pass is spent.

Making and redeeming see the invitation; spending sees the pass, with the submission. A blind signature lies in between,
so that nothing that is stored or sent links the two. Redeeming twice gives the same pass or none, spending twice none.
"""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import Connection, insert, select, update

from maskwell.collect.invitations.blind import BlindError, PublicKey, from_text, text
from maskwell.collect.service import Published, Service
from maskwell.collect.store.tables import invitations
from maskwell.errors import MaskwellError
from maskwell.sampling.entropy import fresh_key

MOST_AT_ONCE = 10_000
_CODE_BYTES = 16
_PASS_BYTES = 32


class InvitationError(MaskwellError):
    """An invitation or a pass that is not valid."""


class UsedError(InvitationError):
    """An invitation that was redeemed before, by another device."""


def invite(service: Service, published: Published, count: int) -> list[str]:
    """New invitations; only their hashes are stored."""
    codes = [text(fresh_key()[:_CODE_BYTES]) for _ in range(count)]
    rows = [{"survey": published.id, "invitation": _hash(code.encode()), "redeemed": None} for code in codes]

    def keep(connection: Connection) -> None:
        connection.execute(insert(invitations), rows)

    service.writer.change(keep)
    return codes


def redeem(service: Service, published: Published, code: str, blinded: bytes) -> bytes:
    """Sign the blinded pass of an invitation; again for the same pass, never for another one."""
    key = published.signing_key
    assert key is not None
    key.check(blinded)
    this = (invitations.c.survey == published.id) & (invitations.c.invitation == _hash(code.encode()))
    request = _hash(blinded)

    def note(connection: Connection) -> bytes | None:
        """What the invitation is redeemed for now; None if there is no such invitation."""
        row = connection.execute(select(invitations.c.redeemed).where(this)).first()
        if row is None:
            return None
        if row.redeemed is None:
            connection.execute(update(invitations).where(this).values(redeemed=request))
            return request
        return bytes(row.redeemed)

    redeemed = service.writer.change(note)
    if redeemed is None:
        raise InvitationError("this invitation is not valid.")
    if redeemed != request:
        raise UsedError("this invitation was used before.")
    return key.sign(blinded)


def pass_text(message: bytes, signature: bytes) -> str:
    """A pass as it stands in the header of a submission."""
    return f"{text(message)}.{text(signature)}"


def checked_pass(key: PublicKey, given: str) -> bytes:
    """What is stored of a pass once it is spent; an error unless it is signed for this survey."""
    message, _, signature = given.partition(".")
    try:
        parts = from_text(message), from_text(signature)
    except BlindError:
        raise InvitationError("this invitation is not valid.") from None
    if len(parts[0]) != _PASS_BYTES or not key.verify(*parts):
        raise InvitationError("this invitation is not valid.")
    return _hash(parts[0])


def read_request(document: Any) -> tuple[str, bytes]:
    """The invitation and the blinded pass of ``{"invitation": …, "blinded": …}``."""
    if not isinstance(document, dict) or document.keys() != {"invitation", "blinded"}:
        raise BlindError('send {"invitation": "…", "blinded": "…"}.')
    code = document["invitation"]
    if not isinstance(code, str) or not code.isascii() or len(code) > 100:
        raise BlindError("an invitation is a short text.")
    return code, from_text(document["blinded"])


def new_pass() -> bytes:
    """What is to be signed: random, and nobody's."""
    return fresh_key()


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
