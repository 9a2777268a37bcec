"""Which option an error or an advice is about: the library names its parameter, the command line the option."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

from maskwell.advice import Advice, Setting
from maskwell.cli.shared.output import CommandError
from maskwell.errors import MaskwellError
from maskwell.plain_text import visible, visible_lines

# Parameters of the library that an option stands for under another name.
_ALIASES = {
    "of": "--variance",
    "population_size": "--population",
    "l": "--diversity",
    "exempt": "--exempt",
    "suppress": "--suppress-most",
    "ladders": "--ladder",
    "columns": "--pram",
    "key": "--key-file",
    "id": "--ids",
    "question": "--survey",
    "interval": "--interval",
    "keep": "--spare",
    "behaviours": "--behaviour",
    "compliance_bounds": "--bounds",
}
# What stands in place of an option, by the option that goes with it.
_WRITTEN = {"--ladder": {"one_category": "any", "one_category(missing=True)": "any:missing"}}
# What another command does.
_ELSEWHERE = {"search_recoding": "maskwell recode --ladder"}
# Options that are switches: the value that they stand for.
_SWITCHES = {"--merge": "merge", "--user-missing": True, "--integer-ids": True}


def options_of(command: Callable[..., Any]) -> dict[str, str]:
    """The options of a command by the parameter of the library that they set."""
    found: dict[str, str] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        # Inside Annotated the first declaration of an option stands where its default would.
        extras = get_args(parameter.annotation)[1:]
        declared = [text for extra in extras for text in (extra.default, *(extra.param_decls or ()))]
        option = next((text for text in declared if str(text).startswith("--")), None)
        if option is not None:
            found[name] = found[option.removeprefix("--").replace("-", "_")] = option
    written = {name: text for option, own in _WRITTEN.items() if option in found.values() for name, text in own.items()}
    aliases = {name: option for name, option in _ALIASES.items() if option in found.values()}
    return {**_ELSEWHERE, **written, **aliases, **found}


def said(text: str, options: Mapping[str, str]) -> str:
    """A text of the library with the settings that it recommends as options.

    >>> said(Advice("pass ", Setting("permutations", 999)), {"permutations": "--permutations"})
    'pass --permutations 999'
    """

    def as_option(setting: Setting) -> str | None:
        option = options.get(setting.call or setting.parameter)
        alone = setting.value is None or (option is not None and _SWITCHES.get(option) == setting.value)
        return option if alone or option is None else f"{option} {setting.value}"

    return text.told(as_option) if isinstance(text, Advice) else str(text)


def said_lines(lines: Iterable[str], options: Mapping[str, str]) -> str:
    """The same for the lines of a text."""
    return visible_lines(said(line, options) for line in lines)


def in_options(error: MaskwellError, options: Mapping[str, str]) -> str:
    """The message of an error, with the option that it is about and those that it recommends.

    >>> from maskwell.errors import DataError
    >>> in_options(DataError("na 'x' is a category.", parameter="na"), {"na": "--na"})
    "--na 'x' is a category."
    >>> in_options(DataError("that is a category.", parameter="na"), {"na": "--na"})
    '--na: that is a category.'
    """
    text, option = visible(said(error.message, options)), options.get(error.parameter or "")
    if option is None or option in text:
        return text
    rest = text.removeprefix(str(error.parameter))
    if rest != text and not rest[:1].isalnum():
        return f"{option}{rest}"
    return f"{option}: {text}"


def naming_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, whose errors name its options."""
    options = options_of(command)

    @functools.wraps(command)
    def named(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except MaskwellError as error:
            raise CommandError(in_options(error, options)) from None

    return named
