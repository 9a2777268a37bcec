"""Blind RSA signatures: RFC 9474, variant RSABSSA-SHA384-PSS-Deterministic.

The sender draws a pass (random bytes), blinds it, and has it signed without showing it. What comes out after unblinding
is an ordinary RSA-PSS signature of the pass, and any pass fits any blinded message equally well: the signer cannot tell
which one it signed. The message is random by itself, so the variant without a random prefix is the right one.
"""

from __future__ import annotations

import base64
import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from maskwell.errors import MaskwellError
from maskwell.sampling.entropy import fresh_key

BITS = 2048
_HASH_BYTES = 48
_SALT_BYTES = 48
_PADDING = padding.PSS(padding.MGF1(hashes.SHA384()), _SALT_BYTES)


class BlindError(MaskwellError):
    """A blinded message, a signature or a key that is none."""


@dataclass(frozen=True)
class PublicKey:
    """What everybody knows: the modulus and the exponent."""

    n: int
    e: int

    @property
    def length(self) -> int:
        """How many bytes a signature has."""
        return (self.n.bit_length() + 7) // 8

    def to_document(self) -> dict[str, str]:
        """As browsers import it (a JSON Web Key)."""
        exponent = self.e.to_bytes((self.e.bit_length() + 7) // 8, "big")
        return {"kty": "RSA", "alg": "PS384", "n": text(self.n.to_bytes(self.length, "big")), "e": text(exponent)}

    @classmethod
    def from_document(cls, document: Any) -> PublicKey:
        """The key of such a document."""
        try:
            return cls(*(int.from_bytes(from_text(document[name]), "big") for name in ("n", "e")))
        except (KeyError, TypeError, BlindError):
            raise BlindError("the survey's invitation key cannot be read.") from None

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether a signature is that of a message."""
        try:
            self._key.verify(signature, message, _PADDING, hashes.SHA384())
        except InvalidSignature:
            return False
        return True

    @cached_property
    def _key(self) -> rsa.RSAPublicKey:
        return rsa.RSAPublicNumbers(self.e, self.n).public_key()


@dataclass(frozen=True)
class Blinded:
    """A message that is to be signed unseen, and what takes the blinding off again."""

    message: bytes
    blinded: bytes
    inverse: int


def blind(key: PublicKey, message: bytes) -> Blinded:
    """Blind a message with fresh randomness."""
    salt = (fresh_key() + fresh_key())[:_SALT_BYTES]
    while True:
        factor = int.from_bytes(b"".join(fresh_key() for _ in range(key.length // 32 + 1))[: key.length], "big")
        if 1 < factor < key.n and math.gcd(factor, key.n) == 1:
            return blind_with(key, message, salt, factor)


def blind_with(key: PublicKey, message: bytes, salt: bytes, factor: int) -> Blinded:
    """Blind a message by a given salt and factor; for anything but a test both are drawn."""
    encoded = int.from_bytes(_encoded(message, salt, key.n.bit_length() - 1), "big")
    blinded = encoded * pow(factor, key.e, key.n) % key.n
    return Blinded(message, blinded.to_bytes(key.length, "big"), pow(factor, -1, key.n))


def finish(key: PublicKey, blinded: Blinded, signed: bytes) -> bytes:
    """The signature of the message, from that of the blinded one; an error if the signer did not sign it."""
    if len(signed) != key.length:
        raise BlindError("the service did not sign the pass.")
    signature = (int.from_bytes(signed, "big") * blinded.inverse % key.n).to_bytes(key.length, "big")
    if not key.verify(blinded.message, signature):
        raise BlindError("the service did not sign the pass.")
    return signature


class SigningKey:
    """The signer's key."""

    def __init__(self, pem: str) -> None:
        key = load_pem_private_key(pem.encode(), None)
        assert isinstance(key, rsa.RSAPrivateKey)
        numbers = key.private_numbers()
        self.public = PublicKey(numbers.public_numbers.n, numbers.public_numbers.e)
        self._d = numbers.d

    def check(self, blinded: bytes) -> None:
        """An error unless this can be signed."""
        if len(blinded) != self.public.length or not 0 < int.from_bytes(blinded, "big") < self.public.n:
            raise BlindError("the blinded pass is none for this survey.")

    def sign(self, blinded: bytes) -> bytes:
        """Sign a blinded message that was checked."""
        n, e = self.public.n, self.public.e
        message = int.from_bytes(blinded, "big")
        # Under a factor of our own, so that how long it takes says nothing about the key.
        factor = int.from_bytes(fresh_key(), "big")
        signed = pow(message * pow(factor, e, n) % n, self._d, n) * pow(factor, -1, n) % n
        # A signature that a fault made wrong would give the key away.
        if pow(signed, e, n) != message:
            raise BlindError("the signature did not come out right; try again.")
        return signed.to_bytes(self.public.length, "big")


def new_signing_key() -> str:
    """A new key, as it is stored."""
    key = rsa.generate_private_key(65537, BITS)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _encoded(message: bytes, salt: bytes, bits: int) -> bytes:
    """EMSA-PSS (RFC 8017, section 9.1.1) with SHA-384."""
    length = (bits + 7) // 8
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    data = bytes(length - len(salt) - _HASH_BYTES - 2) + b"\x01" + salt
    mask = b"".join(
        hashlib.sha384(digest + counter.to_bytes(4, "big")).digest() for counter in range(len(data) // _HASH_BYTES + 1)
    )
    masked = bytearray(a ^ b for a, b in zip(data, mask, strict=False))
    masked[0] &= 0xFF >> (8 * length - bits)
    return bytes(masked) + digest + b"\xbc"


def text(content: bytes) -> str:
    """Bytes as text that may stand in a header."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def from_text(given: object) -> bytes:
    """The bytes of such a text."""
    if not isinstance(given, str) or not given.isascii():
        raise BlindError("this is not base64url.")
    try:
        return base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise BlindError("this is not base64url.") from None
