"""Which option of a command an error is about: the library names its parameter, the command line the option."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_args

from maskwell.cli.output import CommandError
from maskwell.errors import MaskwellError

# Parameters of the library that an option stands for under another name.
ALIASES = {"of": "--variance", "population_size": "--population", "l": "--diversity"}


def options_of(command: Callable[..., Any]) -> dict[str, str]:
    """The options of a command by the parameter of the library that they set."""
    found = {}
    for name, parameter in inspect.signature(command).parameters.items():
        # Inside Annotated the first declaration of an option stands where its default would.
        extras = get_args(parameter.annotation)[1:]
        declared = [text for extra in extras for text in (extra.default, *(extra.param_decls or ()))]
        option = next((text for text in declared if str(text).startswith("--")), None)
        if option is not None:
            found[name] = found[option.removeprefix("--").replace("-", "_")] = option
    return found | {name: option for name, option in ALIASES.items() if option in found.values()}


def in_options(error: MaskwellError, options: Mapping[str, str]) -> str:
    """The message of an error with the option that it is about.

    >>> from maskwell.errors import DataError
    >>> in_options(DataError("na 'x' is a category.", parameter="na"), {"na": "--na"})
    "--na 'x' is a category."
    >>> in_options(DataError("that is a category.", parameter="na"), {"na": "--na"})
    '--na: that is a category.'
    """
    text, option = str(error), options.get(error.parameter or "")
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
