"""What the service can do, apart from HTTP: the routes of the API, the page and the studio all go through this."""

from __future__ import annotations

import datetime
import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, insert

from maskwell.collect.access import SURVEY_ID, Limiter, Sessions, is_token, new_survey_id, new_token, token_hash
from maskwell.collect.invitations.blind import SigningKey, new_signing_key
from maskwell.collect.settings import Settings
from maskwell.collect.store import Database, Writer
from maskwell.collect.store.database import SurveyRow
from maskwell.collect.store.tables import service as service_table
from maskwell.collect.store.tables import surveys as surveys_table
from maskwell.collect.surveys.document import State, Survey, read_survey
from maskwell.collect.surveys.sizes import refuse_unsendable
from maskwell.collect.surveys.submissions import Layout

_ADMINISTRATOR = "administrator_hash"
_MOST_LOADED = 200


@dataclass(frozen=True)
class Published:
    """A published survey: what never changes about it."""

    id: str
    owner_hash: str
    survey: Survey
    created: datetime.date
    signing_key: SigningKey | None = None

    @cached_property
    def layout(self) -> Layout:
        """How its reports are packed."""
        return Layout(self.survey)

    @cached_property
    def public_text(self) -> dict[State, bytes]:
        """What everybody may read of it, as JSON, by its state."""
        states: tuple[State, ...] = ("waiting", "open", "closed")
        shown = dict(self.survey.public)
        if self.signing_key is not None:
            shown["invitation_key"] = self.signing_key.public.to_document()
        return {
            state: json.dumps({"id": self.id, "state": state, **shown}, ensure_ascii=False).encode() for state in states
        }


@dataclass(frozen=True)
class Opened:
    """What a token opens; no survey for the administrator's."""

    survey: str | None


@dataclass
class Service:
    """The parts of a running service."""

    database: Database
    settings: Settings
    new_administrator_token: str | None = None
    closed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.writer = Writer(self.database, self.settings.waiting, self._least_batch)
        self.requests = Limiter(self.settings.burst, self.settings.rate)
        self.failures = Limiter(self.settings.failures, self.settings.failures / 60)
        self.sessions = Sessions(self.settings.session_hours)
        self._loaded: OrderedDict[str, Published] = OrderedDict()
        self._loading = threading.Lock()
        self._set_administrator()

    def _set_administrator(self) -> None:
        """The token that was given, or a new one if the database has none yet; only its hash is kept."""
        given = self.settings.administrator_token
        if given is None and self.database.fact(_ADMINISTRATOR) is not None:
            return
        token = given or new_token()
        self.new_administrator_token = None if given else token

        def keep(connection: Connection) -> None:
            connection.execute(service_table.delete().where(service_table.c.name == _ADMINISTRATOR))
            connection.execute(insert(service_table).values(name=_ADMINISTRATOR, value=token_hash(token)))

        self.writer.change(keep)

    def stop(self) -> None:
        """Write what waits, and give the database back."""
        self.writer.stop()
        self.database.close()

    # Surveys.

    def publish(self, document: object) -> tuple[Published, str]:
        """Publish a survey document; with it comes the owner's token, which is nowhere else."""
        survey = read_survey(document)
        refuse_unsendable(survey, self.settings.submission_bytes)
        survey_id, token = new_survey_id(), new_token()
        values = {
            "id": survey_id,
            "document": json.dumps(survey.to_document(), ensure_ascii=False),
            "owner_hash": token_hash(token),
            "created": today(),
            "closed": False,
            "received": 0,
            "signing_key": new_signing_key() if survey.invitations else None,
        }

        def keep(connection: Connection) -> None:
            connection.execute(insert(surveys_table).values(**values))

        self.writer.change(keep)
        published = self.published(survey_id)
        assert published is not None
        return published, token

    def loaded(self, survey: str) -> Published | None:
        """A published survey, if it is in memory."""
        return self._loaded.get(survey)

    def published(self, survey: str) -> Published | None:
        """A published survey; None if there is none of this id."""
        found = self.loaded(survey)
        if found is not None:
            return found
        row = self.database.survey(survey) if SURVEY_ID.fullmatch(survey) else None
        return None if row is None else self._load(row)

    def _load(self, row: SurveyRow) -> Published:
        key = None if row.signing_key is None else SigningKey(row.signing_key)
        published = Published(row.id, row.owner_hash, read_survey(json.loads(row.document)), row.created, key)
        # Worked out now, in the thread that loads it, rather than while requests wait.
        _ = published.layout, published.public_text
        with self._loading:
            if row.closed:
                self.closed.add(row.id)
            self._loaded[row.id] = published
            while len(self._loaded) > _MOST_LOADED:
                gone, _ = self._loaded.popitem(last=False)
                self.closed.discard(gone)
        return published

    def _least_batch(self, survey: str) -> int:
        published = self.published(survey)
        assert published is not None
        return published.survey.least_batch

    def state(self, published: Published) -> State:
        """Whether a survey takes reports now."""
        return published.survey.state(published.id in self.closed, today())

    def batches(self, published: Published) -> int:
        """How many whole batches of submissions a survey has."""
        row = self.database.survey(published.id)
        return 0 if row is None else row.received // published.survey.least_batch

    def progress(self, published: Published) -> dict[str, Any]:
        """How many submissions there are, how many of them are shown, and on which days they came."""
        row = self.database.survey(published.id)
        received = 0 if row is None else row.received
        least = published.survey.least_batch
        return {
            "id": published.id,
            "state": self.state(published),
            "received": received,
            "shown": received - received % least,
            "least_batch": least,
            "by_day": self.database.by_day(published.id),
        }

    def close(self, published: Published) -> None:
        """Close a survey for good."""
        self.writer.close_survey(published.id)
        self.closed.add(published.id)

    # Access.

    def is_administrator(self, token: str | None) -> bool:
        """Whether a token is the administrator's."""
        stored = self.database.fact(_ADMINISTRATOR)
        return token is not None and stored is not None and is_token(token, stored)

    def what_opens(self, token: str) -> Opened | None:
        """What a token opens: a survey, or for the administrator's none in particular; None if it opens nothing."""
        if self.is_administrator(token):
            return Opened(None)
        survey = self.database.owned_by(token_hash(token))
        return None if survey is None else Opened(survey)

    def owns(self, token: str | None, published: Published) -> bool:
        """Whether a token is that of a survey."""
        return token is not None and is_token(token, published.owner_hash)


def today() -> datetime.date:
    """The day, the same everywhere."""
    return datetime.datetime.now(datetime.UTC).date()
