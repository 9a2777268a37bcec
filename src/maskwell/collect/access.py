"""Who may do what: tokens that are kept as hashes, sessions of the studio, and limits by address.

A token is 32 random bytes, so its plain hash is as good as a slow one. It travels in a header, or once in the body of
the request that opens a session; it never stands in an address, a log or a message.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import re
import threading
import time
from dataclasses import dataclass

from maskwell.sampling.entropy import fresh_key

_TOKEN = re.compile(r"mw_[A-Za-z0-9_-]{43}")
SURVEY_ID = re.compile("[a-z2-7]{16}")
_MOST_REMEMBERED = 100_000


def new_token() -> str:
    """A token that nobody can guess."""
    return "mw_" + base64.urlsafe_b64encode(fresh_key()).decode().rstrip("=")


def token_hash(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_token(token: str, stored_hash: str) -> bool:
    """Whether a token is the one whose hash is stored."""
    return hmac.compare_digest(token_hash(token), stored_hash)


def bearer(header: str | None) -> str | None:
    """The token of an ``Authorization`` header; None if there is none that could be one."""
    kind, _, token = (header or "").partition(" ")
    return token.strip() if kind.lower() == "bearer" and _TOKEN.fullmatch(token.strip()) else None


def new_survey_id() -> str:
    """An id that nobody meets by counting."""
    return base64.b32encode(fresh_key()[:10]).decode().lower()


@dataclass(frozen=True)
class Session:
    """What a session of the studio may do: administer, and own the surveys whose tokens were shown in it."""

    administrator: bool
    surveys: frozenset[str]
    ends: float


class Sessions:
    """Sessions of the studio, in memory: a restart ends them."""

    def __init__(self, hours: float) -> None:
        self._seconds = 3600 * hours
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def open(self, survey: str | None, before: str | None = None) -> str:
        """A new session for whoever has shown the token of a survey, or the administrator's for None.

        It takes the place of the session ``before`` it in the same browser, and may do what that one could.
        """
        secret = new_token()
        now = time.monotonic()
        with self._lock:
            self._sessions = {key: session for key, session in self._sessions.items() if session.ends > now}
            old = self._sessions.pop(token_hash(before), None) if before else None
            administrator = survey is None or (old is not None and old.administrator)
            surveys = (old.surveys if old else frozenset()) | ({survey} if survey else frozenset())
            self._sessions[token_hash(secret)] = Session(administrator, surveys, now + self._seconds)
        return secret

    def get(self, secret: str | None) -> Session | None:
        """The session of a cookie, if it has not ended."""
        session = self._sessions.get(token_hash(secret)) if secret else None
        return session if session is not None and session.ends > time.monotonic() else None

    def close(self, secret: str | None) -> None:
        """End a session."""
        if secret:
            with self._lock:
                self._sessions.pop(token_hash(secret), None)


class Limiter:
    """So many requests of one address at once, and so many a second afterwards.

    An address is known by a hash under a key that lives as long as the process; networks of IPv6 count as one address.
    """

    def __init__(self, burst: float, rate: float) -> None:
        self._burst, self._rate = burst, rate
        self._key = fresh_key()
        self._buckets: dict[bytes, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def allows(self, address: str | None, cost: float = 1.0) -> bool:
        """Whether one more is within the limit; if so, it is counted."""
        if not self._burst:
            return True
        key, now = self._hashed(address), time.monotonic()
        with self._lock:
            left, since = self._buckets.get(key, (float(self._burst), now))
            left = min(self._burst, left + (now - since) * self._rate)
            if left < max(cost, 1.0):
                return False
            if len(self._buckets) >= _MOST_REMEMBERED:
                self._forget(now)
            self._buckets[key] = (left - cost, now)
            return True

    def _forget(self, now: float) -> None:
        """Those whose bucket is full again; all of them if that is not enough."""
        full = {key for key, (left, since) in self._buckets.items() if left + (now - since) * self._rate >= self._burst}
        if len(full) < _MOST_REMEMBERED // 10:
            self._buckets.clear()
        for key in full:
            self._buckets.pop(key, None)

    def _hashed(self, address: str | None) -> bytes:
        return hmac.digest(self._key, _network(address).encode(), "sha256")[:16]


def _network(address: str | None) -> str:
    """An address as it is counted."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return ""
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
