"""Requests that schemathesis draws from the API description, and whether the answers are those it describes."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from tests.collect.surveys import Survey, bearer

_CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
_DRAWING = settings(database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
# Whoever closes the survey ends the attack on it.
_LEFT_OUT = {"/api/surveys/{survey}/close"}


@dataclass
class Described:
    """What was answered, and what the description does not say."""

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def try_described(survey: Survey, examples: int, which: int = 1) -> Described:
    """So many examples for each operation, within its schemas and outside of them, with the right token and without."""
    outcome = Described()
    schema = schemathesis.openapi.from_url(f"{survey.server.url}/openapi.json")
    with requests.Session() as session:
        for result in schema.get_all_operations():
            operation = result.ok()
            if operation.path in _LEFT_OUT:
                continue
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                for signed in (True, False):
                    _try(operation, mode, signed, survey, session, examples, outcome, which)
    return outcome


def _try(
    operation: Any,
    mode: GenerationMode,
    signed: bool,
    survey: Survey,
    session: requests.Session,
    examples: int,
    outcome: Described,
    which: int,
) -> None:
    place = {"survey": survey.id} if "{survey}" in operation.path else None
    token = survey.server.administrator_token if operation.path == "/api/surveys" else survey.owner_token

    @seed(which)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=place))
    def one(case: Case) -> None:
        headers = bearer(token) if signed else {}
        answer = case.call(session=session, headers=headers, timeout=30)
        outcome.statuses[answer.status_code] += 1
        case.validate_response(answer, checks=_CHECKS)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one()
    except hypothesis.errors.Unsatisfiable:
        return  # Nothing can be wrong about an operation that takes nothing.
    except (AssertionError, BaseExceptionGroup) as error:
        outcome.failures.append(f"{operation.method.upper()} {operation.path}: {str(error)[:500]}")
