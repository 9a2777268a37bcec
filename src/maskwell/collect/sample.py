"""A sample survey whose respondents are simulated: they mask on their side and send over HTTP, as real ones do.

Who they are is fixed, so that one can compare: a thousand people whose true answers go together. What chance makes of
their answers is drawn afresh, from the same source as for anybody.
"""

from __future__ import annotations

import threading
from typing import Any

import httpx

from maskwell.collect.client import Client, ServiceError
from maskwell.demands import LDP
from maskwell.designs.storage import to_document
from maskwell.planning import plan

AT_ONCE = 400
PAUSE = 0.25
MOST = 20_000
_PEOPLE = 1000
# Coprime to the number of people, so that every one of them comes, and neighbours differ.
_STRIDE = 619

INCOMES = ("under 1,500", "1,500 to 3,000", "3,000 to 5,000", "over 5,000")
DRUGS = ("never", "once", "a few times", "often")
DOCTOR = ("yes", "no")
# How many of a thousand have each income; of those, in percent, how many avoided the doctor; and how often they took
# drugs, by whether they did.
_INCOMES = (240, 380, 270, 110)
_AVOIDED = (65, 35, 12, 5)
_DRUGS = {"yes": (60, 16, 14, 10), "no": (83, 9, 6, 2)}


def document() -> dict[str, Any]:
    """The sample survey."""
    questions = (
        ("income", "What does your household have to live on in a month, in euros?", INCOMES, 2.0, False),
        ("doctor", "In the last year, did you stay away from a doctor because of the cost?", DOCTOR, 1.5, False),
        ("drugs", "How often did you take an illegal drug in the last year?", DRUGS, 1.5, True),
    )
    return {
        "title": "Health and money (a sample, answered by simulated respondents)",
        "texts": {"introduction": "Three questions. Your own device masks each answer before anything is sent."},
        "least_batch": 10,
        "questions": [
            {
                "name": name,
                "text": text,
                "design": to_document(plan(labels, LDP(epsilon), n=1000)),
                "optional": optional,
            }
            for name, text, labels, epsilon, optional in questions
        ],
    }


def people() -> list[dict[str, str]]:
    """A thousand people and what they would truly answer."""
    made = []
    for income, count, avoided in zip(INCOMES, _INCOMES, _AVOIDED, strict=True):
        for i in range(count):
            doctor = "yes" if 100 * i < avoided * count else "no"
            # Spread over the group by a stride, so that drugs do not follow the order in which people are made.
            at, drugs = (37 * i) % 100, 0
            for share in _DRUGS[doctor][:-1]:
                drugs += at >= share
                at -= share if at >= share else 100
            made.append({"income": income, "doctor": doctor, "drugs": DRUGS[drugs]})
    return made


class SimulatedRespondents:
    """Some hundred at once, and then one after the other, until they are stopped."""

    def __init__(self, url: str, survey: str) -> None:
        self._url, self._survey = url, survey
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._answer, daemon=True)

    def start(self) -> None:
        """Begin; the service must be running."""
        self._thread.start()

    def stop(self) -> None:
        """End, after the answer that is under way."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _answer(self) -> None:
        everybody = people()
        with httpx.Client(timeout=30) as http:
            client = Client(self._url, http=http)
            try:
                asked = client.survey(self._survey)
                for number in range(MOST):
                    if self._stopped.wait(PAUSE if number >= AT_ONCE else 0):
                        return
                    person = everybody[number * _STRIDE % _PEOPLE]
                    client.submit_reports(self._survey, client.mask(asked, person))
            except ServiceError:
                # The service was stopped, or its survey closed.
                return
