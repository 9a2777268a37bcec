# Every target sets up what it needs, once: a second run finds the stamp file and does nothing.
# Needs Python 3.11 or newer, make, and the network to reach PyPI. Another interpreter: make PYTHON=python3.12 test

PYTHON ?= python3
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Everything but the reduced simulations, which test mathematics rather than what is installed.
FRESH_TESTS = --ignore tests/test_evidence.py

.DEFAULT_GOAL := help
.PHONY: help demo test test-oldest test-newest evidence bench docs clean system

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

demo: .venv/.ready  ## mask and estimate two sensitive variables, and release a file
	@.venv/bin/maskwell demo
	@echo "To plan, answer and watch a survey in the browser: .venv/bin/maskwell serve --demo"

test: .venv/.ready-dev system  ## lint, type-check and test, as continuous integration does
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	@# One thread of linear algebra per process: two processes with two each would wait for one another.
	OPENBLAS_NUM_THREADS=1 .venv/bin/python -m pytest -n 2

test-oldest: .venv-oldest/.ready system  ## test with the oldest versions that pyproject.toml allows
	OPENBLAS_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n 2 $(FRESH_TESTS)

test-newest: .venv-newest/.ready system  ## test with the newest versions that pip finds
	OPENBLAS_NUM_THREADS=1 .venv-newest/bin/python -m pytest -n 2 $(FRESH_TESTS)

evidence: .venv/.ready-dev system  ## run the long simulations at full size and write docs/evidence/
	MASKWELL_EVIDENCE=1 PYTHONPATH=. .venv/bin/python -m tests.evidence

bench: .venv/.ready-dev .venv-peers/.ready  ## measure speed and memory beside peers and write docs/performance.md (ONLY=part)
	PYTHONPATH=. .venv/bin/python -m bench $(ONLY)
	$(if $(ONLY),,PYTHONPATH=. .venv/bin/python -m bench.peer_bugs)

docs: .venv/.ready-dev system  ## write the documentation site to site/index.html; it needs no network to be read
	OPENBLAS_NUM_THREADS=1 .venv/bin/python -m sphinx -q -W --keep-going -E -a -d build/doctrees docs site
	@echo "Open site/index.html"

clean:  ## remove the environments, the caches and the demo's output
	rm -rf .venv .venv-peers .venv-oldest .venv-newest maskwell-demo build dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

# Chromium, PostgreSQL, Node.js, Java and libfaketime, which the tests drive; nothing happens where they are there.
system:
	@"$(PYTHON)" tools/system_parts.py

# A stamp is touched only after its recipe succeeded, so an interrupted set-up starts again from a clean folder.
.venv/.created .venv-peers/.created .venv-oldest/.created:
	@command -v "$(PYTHON)" >/dev/null || { echo "make: PYTHON=$(PYTHON) was not found; install Python 3.11 or newer, or name it: make PYTHON=/path/to/python" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit("make: PYTHON=$(PYTHON) is Python %d.%d, but Maskwell needs 3.11 or newer; name one: make PYTHON=/path/to/python" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@"$(PYTHON)" -m venv --clear $(@D)
	@touch $@

.venv/.ready: .venv/.created pyproject.toml constraints.txt
	@echo "Setting up .venv (once, a minute or two) ..."
	@.venv/bin/python $(PIP_INSTALL) --editable '.[collect,stata-spss]'
	@touch $@

.venv/.ready-dev: .venv/.created pyproject.toml constraints.txt
	@echo "Setting up .venv with the developer's tools (once, a minute or two) ..."
	@.venv/bin/python $(PIP_INSTALL) --editable '.[dev]'
	@touch .venv/.ready $@

# The programs that the bench measures beside ours, with the versions that they need.
.venv-peers/.ready: .venv-peers/.created bench/peers/requirements.txt
	@echo "Setting up .venv-peers (once, a minute or two) ..."
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement bench/peers/requirements.txt
	@# An older version beside the newest, for a mistake that the newest no longer makes.
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target .venv-peers/pure-ldp-1.1.1 pure-ldp==1.1.1
	@# PRAM of pymasq without TensorFlow, which the rest of it needs, and with the pandas that it was written for.
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target .venv-peers/pymasq-0.6.5 pymasq==0.6.5 pandas==2.3.3 pytz==2026.6
	@touch $@

.venv-oldest/.ready: .venv-oldest/.created pyproject.toml constraints-oldest.txt
	@echo "Setting up .venv-oldest (once, a minute or two) ..."
	@.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt --editable '.[dev]'
	@touch $@

# What is newest changes by the day, so that this one is made anew each time.
.PHONY: .venv-newest/.ready
.venv-newest/.ready:
	@echo "Setting up .venv-newest (a minute or two) ..."
	@"$(PYTHON)" -m venv --clear .venv-newest
	@.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
