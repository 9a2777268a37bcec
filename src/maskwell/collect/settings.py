"""What an operator may set, with defaults that suit one survey team on one machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Limits are counted in memory, by a keyed hash of the sender's address that is never stored or logged.

    ``rate`` and ``burst`` bound the requests of one address: so many at once, and so many a second afterwards. Many
    respondents may share one address (a school, a clinic), so they are generous; invitations are what stops one
    person from answering often. ``failures`` bounds wrong tokens in the same way, strictly. 0 for no limit.
    ``file_bytes`` bounds a file that the studio is given for risk and release, which is worked on in memory.
    """

    administrator_token: str | None = None
    public_url: str = ""
    rate: float = 100.0
    burst: int = 10_000
    failures: int = 20
    submission_bytes: int = 1 << 18
    survey_bytes: int = 1 << 22
    file_bytes: int = 1 << 26
    waiting: int = 10_000
    session_hours: float = 12.0

    @property
    def seen_by_https(self) -> bool:
        """Whether the address that people see is one of https, whatever this service itself is asked by."""
        return self.public_url.lower().startswith("https://")
