"""Every error that Maskwell raises on purpose, so that callers can catch them by what went wrong.

Messages are one line: the parameter and its value, the reason, the remedy. A message about data names
rows, counts and allowed labels, and never shows a cell.
"""

from maskwell.plain_text import visible


class MaskwellError(ValueError):
    """Base of all errors that name a mistake in the input.

    ``parameter`` is the name of the argument that the error is about, as the function that was called spells it; None
    where it is about no argument. The command line names its option from it. ``message`` is the text as it was given:
    an :class:`~maskwell.advice.Advice` where it recommends a value for a parameter.
    """

    def __init__(self, message: str = "", parameter: str | None = None) -> None:
        # Names and labels of files stand in messages; none of them may act on a terminal or start a line.
        super().__init__(visible(message))
        self.message = message
        self.parameter = parameter


class DemandError(MaskwellError):
    """A privacy demand that cannot be stated this way."""


class DesignError(MaskwellError):
    """A design that cannot be built, or cannot do what is asked of it."""


class DataError(MaskwellError):
    """Values that the design cannot mask."""


class ReportError(MaskwellError):
    """Reports, or a file of them, that the design cannot have produced."""


class EstimationError(MaskwellError):
    """An estimate that the reports cannot support."""


class SimulationWarning(UserWarning):
    """Reports that were drawn from a seed, and so protect nobody, are counted together with others."""


class RecurrenceWarning(UserWarning):
    """Reports that a person sends again as they are, of several runs, are counted together as if people differed."""


class SpeedWarning(UserWarning):
    """Work that a package of an extra would do many times faster."""
