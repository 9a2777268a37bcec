"""The lists of versions agree with each other, so that the oldest and newest installs test what is promised."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def required() -> list[Requirement]:
    """What users install: the dependencies and those of every extra but the developer's."""
    extras = [text for name, texts in PROJECT["optional-dependencies"].items() if name != "dev" for text in texts]
    found = [Requirement(text) for text in [*PROJECT["dependencies"], *extras]]
    return [requirement for requirement in found if requirement.name != PROJECT["name"]]


def pinned(name: str) -> dict[str, Version]:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    pins = [re.fullmatch(r"(\S+)==(\S+)", line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(pin[1]): Version(pin[2]) for pin in pins if pin}


@pytest.mark.parametrize("requirement", required(), ids=lambda requirement: str(requirement.name))
def test_the_oldest_version_allowed_is_the_one_tested(requirement: Requirement) -> None:
    least = [Version(bound.version) for bound in requirement.specifier if bound.operator == ">="]
    oldest = pinned("constraints-oldest.txt").get(canonicalize_name(requirement.name))
    assert least, f"{requirement} has no lower limit"
    assert oldest == least[0], f"constraints-oldest.txt has {oldest}, pyproject.toml {least[0]}: {requirement.name}"


@pytest.mark.parametrize("requirement", required(), ids=lambda requirement: str(requirement.name))
def test_what_is_tested_lies_within_what_is_allowed(requirement: Requirement) -> None:
    assert pinned("constraints.txt")[canonicalize_name(requirement.name)] in requirement.specifier


def test_the_citation_is_of_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation
