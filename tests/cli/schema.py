"""What commands print for programs, held to the schema that the package ships."""

import json
from importlib.resources import files
from typing import Any

import jsonschema

SCHEMA = json.loads(files("maskwell.cli").joinpath("output.schema.json").read_text("utf-8"))
WORDS = SCHEMA["$defs"]["words"]["properties"]
PRINTED = set(SCHEMA["$defs"]) - {"words", "a_design"}
"""What is described: commands by their names, and the other forms of ``estimate``."""
EVERYWHERE = {
    *("vocabulary", "n", "design", "output", "randomness", "missing", "fingerprint"),
    *("epsilon", "parity", "exact_parity", "demand", "method", "level", "p_value"),
}
"""Words that mean the same in objects inside others."""


def assert_fits(form: str, document: Any) -> None:
    """The document is that of a command, and its words mean the same at every depth."""
    assert form in PRINTED
    jsonschema.validate(document, {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{form}"}]})
    for word, value in _inside(document):
        jsonschema.validate(value, {"$defs": SCHEMA["$defs"], **WORDS[word]})


def _inside(value: Any) -> Any:
    """Each word that has one meaning everywhere, with its value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in EVERYWHERE:
                yield name, inner
            yield from _inside(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _inside(inner)
