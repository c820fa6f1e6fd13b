# Every target sets up what it needs: .venv/ with the exact versions of constraints.txt.
# To use an environment that you already have: make test PY=/path/to/python

# The first Python of those that are supported that this machine has. To name one: make setup PYTHON=python3.12
SUPPORTED := python3.11 python3.12 python3.13
PYTHON ?= $(firstword $(shell for one in $(SUPPORTED); do $$one -c pass >/dev/null 2>&1 && echo $$one; done; true))
VENV := .venv
EXTRAS := dev,docs,pallas,tpu,triton,torch,helion,progress,tune,dask,lsp,browser

ifdef PY
SETUP :=
else
PY := $(VENV)/bin/python
SETUP := $(VENV)/.ready
endif

# Run from the checkout, so that an environment without kopt installed works too.
export PYTHONPATH := $(CURDIR)$(if $(PYTHONPATH),:$(PYTHONPATH))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup demo test quick browser editors lit fuzz fuzz-ir mutants coverage lint format bench golden docs stranger races clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

setup: $(SETUP) ## create .venv/ with everything that the other targets need

demo: $(SETUP) ## softmax and matmul on every CPU target and for two chips, every stage in build/demo/
	@$(PY) examples/demo.py

docs: $(SETUP) ## build the documentation site into site/: open site/index.html
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict

stranger: ## walk a new user's path in a fresh clone with an environment of its own (minutes)
	@sh test/docs/stranger.sh

test: $(SETUP) ## Python tests, lit tests and lint: what CI runs
	$(PY) -m pytest -q -n auto --dist worksteal

quick: $(SETUP) ## the tests that take no more than seconds each
	$(PY) -m pytest -q -n auto --dist worksteal -m 'not slow'

browser: $(SETUP) ## the page of kopt explain in Chromium; KOPT_BROWSER=PATH names another than pip's
	$(PY) -m pytest -q test/explain/test_browser.py

editors: $(SETUP) ## the extension for VS Code: its tests, and its package; needs Node.js with npm
	cd editors/vscode && npm install --no-audit --no-fund --no-package-lock
	cd editors/vscode && KOPT_LSP='["$(abspath $(shell command -v $(PY)))","-m","kopt.tools.main","lsp"]' npm test
	cd editors/vscode && npm run package

lit: $(SETUP) ## only the lit tests, by lit itself
	$(PY) -c 'from lit.main import main; main()' -sv test/lit

fuzz: $(SETUP) ## random kernels on every target beside torch, until stopped
	@$(PY) test/property/fuzz.py

fuzz-ir: $(SETUP) ## mutants of IR texts through parser, printers, passes and pipelines, until stopped
	@$(PY) test/security/fuzz_ir.py

mutants: $(SETUP) ## mutants of the compiler, sampled: which tests of the quick suite kill them
	@test -d build/contexts || $(PY) test/mutants/contexts.py -q -m 'not slow' --contexts=build/contexts
	@$(PY) test/mutants/run.py

coverage: $(SETUP) ## branch coverage of kopt/ by all tests; the report is in build/coverage/
	$(PY) -m pytest -q -n auto --dist worksteal --cov --cov-report=term --cov-report=html:build/coverage

races: $(SETUP) ## waits and signals of emitted TPU kernels left out one at a time
	@$(PY) test/mutants/waits.py

lint: $(SETUP) ## ruff, pyright and the layers of imports
	$(PY) -m ruff check .
	$(PY) -m pyright --pythonpath $(PY)
	$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()' --no-cache --no-logo

format: $(SETUP) ## let ruff format the code
	$(PY) -m ruff format .

# They need a GPU, have a target of their own, or compare with a checkout that has to be named.
OTHER_BENCHMARKS := $(addprefix benchmarks/,gpu.py gpu_static.py golden.py compile_versions.py validation.py)

bench: $(SETUP) ## the benchmarks that need no accelerator
	@for script in $(filter-out $(OTHER_BENCHMARKS),$(wildcard benchmarks/*.py)); do echo "== $$script"; $(PY) $$script || exit 1; done

golden: $(SETUP) ## what kopt chooses for the examples, what chips' compilers say of it, and results, beside the golden tables
	@$(PY) benchmarks/golden.py
	@$(PY) benchmarks/golden.py --results
	@$(PY) benchmarks/golden.py --compiled

clean: ## remove .venv/ and caches
	rm -rf $(VENV) site .cache .pytest_cache .ruff_cache .hypothesis *.egg-info

# pip shows what it downloads where somebody watches; a log has the three lines alone.
PIP = $(VENV)/bin/python -m pip install --disable-pip-version-check $(shell [ -t 2 ] || echo -q)

# torch goes first: asked for alone it resolves to its smallest build, and the rest then builds on what is there.
# A build for GPUs brings the one Triton that it takes; that of constraints.txt is for builds without.
$(VENV)/.ready: pyproject.toml constraints.txt
	$(if $(PYTHON),,$(error kopt needs one of $(SUPPORTED); to name another: make setup PYTHON=/path/to/python))
	@echo "[1/3] $(VENV)/ with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@echo "[2/3] torch: the largest download"
	@$(PIP) $$(grep '^torch==' constraints.txt)
	@echo "[3/3] everything else: JAX, libtpu, Triton, and the tools of tests and docs"
	@sed "$$($(VENV)/bin/python -c 'import triton' 2>/dev/null && echo '/^triton==/d')" constraints.txt > $(VENV)/constraints.txt
	@$(PIP) -c $(VENV)/constraints.txt -e '.[$(EXTRAS)]'
	@touch $@
