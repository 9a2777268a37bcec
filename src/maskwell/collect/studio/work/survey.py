"""A survey's analysis as a Python program and as shell commands: both run on the archive that the studio exports.

What was planned, audited, estimated and tested on the studio's pages is done again, from the exported reports alone.
"""

from __future__ import annotations

import shlex

from maskwell.collect.service import Published
from maskwell.collect.studio.work.planning import python_design
from maskwell.collect.surveys.export import file_stem
from maskwell.plain_text import visible

_PROGRAM = """\
# {title}
#
# Download the export beside this program, and run:  python {id}.py {id}.zip
# Needs Maskwell {version} or newer.

import sys
import tempfile
import zipfile
from fractions import Fraction
from pathlib import Path

import maskwell as mw

# The designs of all questions, made again as they were planned.
designs = {{
{designs}
}}

# Where the export has the reports of each question.
files = {{
{files}
}}

reports = {{}}
with tempfile.TemporaryDirectory() as folder:
    zipfile.ZipFile(sys.argv[1]).extractall(folder)
    for question, stem in files.items():
        found = [path for path in Path(folder, "reports").glob(f"{{stem}}.*") if path.suffix in (".parquet", ".csv")]
        reports[question] = mw.Reports.read(found[0])

estimates = {{}}
for question, design in designs.items():
    assert reports[question].design == design, f"{{question!r}}: the export has another design"
    print(f"\\n=== {{question!r}}\\n")
    print(mw.audit(design).summary())
    estimates[question] = mw.estimate(reports[question])
    print(estimates[question].summary())
{together}"""

_TOGETHER = """
# Two questions together; choose any two.
first, second = {first}, {second}
pair = mw.side_by_side({{first: reports[first], second: reports[second]}}).tally()
joint = mw.estimate(pair)
print(f"\\n=== {{first!r}} and {{second!r}}\\n")
print(joint.summary())
print(mw.independence_test(pair).summary())
"""

_COMMANDS = """\
#!/bin/sh
# {title}
#
# Download the export beside this file, and run:  sh {id}.sh {id}.zip
# For an export of CSV files:                     sh {id}.sh {id}.zip csv
# Needs Maskwell {version} or newer. The estimates are written to the folder {id}, beside the reports.
set -eu
archive=$1
kind=${{2:-parquet}}
python3 -m zipfile -e "$archive" {id}
cd {id}
{questions}{together}"""


def program(published: Published) -> str:
    """The Python program."""
    asked = published.survey.questions
    designs = "\n".join(f"    {question.name!r}: {python_design(question.design)}," for question in asked)
    files = "\n".join(f"    {name!r}: {stem!r}," for name, stem in _stems(published).items())
    pair = _pair(published)
    together = "" if pair is None else _TOGETHER.format(first=repr(pair[0]), second=repr(pair[1]))
    return _PROGRAM.format(**_about(published), designs=designs, files=files, together=together)


def commands(published: Published) -> str:
    """The shell commands."""
    stems = _stems(published)
    questions = "".join(
        f"\n# {visible(name)}\nmaskwell audit designs/{stem}.json\n"
        f'maskwell estimate "reports/{stem}.$kind" --csv {stem}_estimates.csv\n'
        for name, stem in stems.items()
    )
    pair = _pair(published)
    together = ""
    if pair is not None:
        files = " ".join(f'"reports/{stems[name]}.$kind"' for name in pair)
        together = (
            "\n# Two questions together; choose any two.\n"
            f"maskwell estimate {files} --joint --csv joint_estimates.csv\nmaskwell test independence {files}\n"
        )
    return _COMMANDS.format(**_about(published), questions=questions, together=together)


def _about(published: Published) -> dict[str, str]:
    from maskwell import __version__

    return {"title": visible(published.survey.title), "id": shlex.quote(published.id), "version": __version__}


def _stems(published: Published) -> dict[str, str]:
    """Under which name the export has each question."""
    named = enumerate(published.survey.questions, start=1)
    return {question.name: file_stem(number, question.name) for number, question in named}


def _pair(published: Published) -> tuple[str, str] | None:
    """The first two questions that can be analysed together."""
    single = [question.name for question in published.survey.questions if not question.design.variables]
    return (single[0], single[1]) if len(single) > 1 else None
