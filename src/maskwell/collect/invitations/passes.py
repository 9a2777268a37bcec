"""What an invitation goes through: it is made for the owner, redeemed for a pass, and the pass is spent.

Making and redeeming see the invitation; spending sees the pass, with the submission. A blind signature lies in between,
so that nothing that is stored or sent links the two. Redeeming twice gives the same pass or none, spending twice none.
"""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import Connection, LargeBinary, case, func, insert, literal, select, update

from maskwell.collect.invitations.blind import BlindError, PublicKey, from_text, text
from maskwell.collect.service import Published, Service
from maskwell.collect.store.tables import NOT_REDEEMED, invitations
from maskwell.errors import MaskwellError
from maskwell.sampling.entropy import fresh_key

MOST_AT_ONCE = 10_000
_CODE_BYTES = 16
_PASS_BYTES = 32
_LEAST_CROWD = 256  # of so many invitations or, by chance, a few less


class InvitationError(MaskwellError):
    """An invitation or a pass that is not valid."""


class UsedError(InvitationError):
    """An invitation that was redeemed before, by another device."""


def invite(service: Service, published: Published, count: int) -> list[str]:
    """New invitations; only their hashes are stored."""
    codes = [text(fresh_key()[:_CODE_BYTES]) for _ in range(count)]
    hashes = sorted(_hash(code.encode()) for code in codes)
    rows = [{"survey": published.id, "invitation": one, "redeemed": NOT_REDEEMED} for one in hashes]

    def keep(connection: Connection) -> None:
        connection.execute(insert(invitations), rows)

    service.writer.change(keep)
    return codes


def redeem(service: Service, published: Published, code: str, blinded: bytes) -> bytes:
    """Sign the blinded pass of an invitation; again for the same pass, never for another one."""
    key = published.signing_key
    assert key is not None
    key.check(blinded)
    invitation, request = _hash(code.encode()), _hash(blinded)
    own = invitations.c.survey == published.id

    def note(connection: Connection) -> bytes | None:
        """What the invitation is redeemed for now; None if there is no such invitation."""
        this = own & (invitations.c.invitation == invitation)
        row = connection.execute(select(invitations.c.redeemed).where(this)).first()
        if row is None:
            return None
        if bytes(row.redeemed) != NOT_REDEEMED:
            return bytes(row.redeemed)
        made = connection.execute(select(func.count()).select_from(invitations).where(own)).scalar_one()
        first, last = _crowd(invitation, made)
        mark = case((this, literal(request, LargeBinary)), else_=invitations.c.redeemed)
        crowd = own & invitations.c.invitation.between(first, last)
        connection.execute(update(invitations).where(crowd).values(redeemed=mark))
        return request

    redeemed = service.writer.change(note)
    if redeemed is None:
        raise InvitationError("this invitation is not valid.")
    if redeemed != request:
        raise UsedError("this invitation was used before.")
    return key.sign(blinded)


def _crowd(invitation: bytes, made: int) -> tuple[bytes, bytes]:
    """The first and the last of the invitations that are written together with this one: all, or some hundreds.

    What a database notes of a row that changes, it then notes of all of them, and the order of redemptions is gone.
    """
    alike = max(0, (made // _LEAST_CROWD).bit_length() - 1)  # leading bits; hashes are spread evenly
    rest = (1 << (8 * len(invitation) - alike)) - 1
    first = int.from_bytes(invitation, "big") & ~rest
    return first.to_bytes(len(invitation), "big"), (first | rest).to_bytes(len(invitation), "big")


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
