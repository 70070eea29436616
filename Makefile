# `make lab` and `make test` are all a newcomer needs. Both first set up what is missing, once:
# from environment.yml where micromamba, mamba or conda is on the PATH, otherwise with venv and pip.

CONDA := $(shell command -v micromamba || command -v mamba || command -v conda)
PYTHON3 ?= python3

ENV := $(if $(CONDA),.conda,.venv)
READY := $(ENV)/ready
# The environment comes first on the PATH: nbgrader calls `alembic` by name, and JupyterLab's
# terminals find `grader`.
ifeq ($(OS),Windows_NT)
BIN := $(ENV)/Scripts
PYTHON := $(if $(CONDA),$(ENV),$(BIN))/python
AND := ;
else
BIN := $(ENV)/bin
PYTHON := $(BIN)/python
AND := :
endif
export PATH := $(CURDIR)/$(BIN)$(AND)$(PATH)
# The proxy of JupyterHub, for a test: conda brings it along, and there is no hub on Windows.
PROXY := $(if $(CONDA)$(filter Windows_NT,$(OS)),,$(BIN)/configurable-http-proxy)
PYTEST := $(PYTHON) -m pytest -n 2
KERNEL := warm
LESSON := *

.DEFAULT_GOAL := help
.PHONY: help lab test notebooks outputs mistakes kill-matrix messages bench bench-class zoo-report site links lint clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

# Terminals in notebooks/ find nbgrader_config.py too. tools/lab leaves out what only instructors
# use, and a question about news that covers the lesson. A terminal opens where the server started.
SETTINGS := $(CURDIR)$(AND)$(CURDIR)/tools/lab

# JupyterLab refuses to run as root, the only user of many a container, unless it is told to.
lab: $(READY) ## open JupyterLab on the lessons; LAB_FLAGS="--no-browser" is passed on
	cd notebooks && JUPYTER_CONFIG_PATH="$(SETTINGS)$${JUPYTER_CONFIG_PATH:+$(AND)$$JUPYTER_CONFIG_PATH}" \
		"$(CURDIR)/$(PYTHON)" -m jupyterlab $(if $(filter 0,$(shell id -u)),--allow-root) \
		--LabApp.default_url=/lab/tree/start.ipynb $(LAB_FLAGS)

# Nobody's progress is kept, and none is shown, where notebooks only run to be tested or stored.
test outputs bench bench-class: export COURSE_PROGRESS := none

# The suite comes last, so that its summary is the last thing to read.
test: $(READY) $(PROXY) ## run every notebook, learners' and solved, then the test suite
	@sh tools/system-packages chromium bubblewrap postgresql
	$(PYTEST) -q --nbval-lax --nbval-kernel-name $(KERNEL) notebooks
	$(PYTEST) -q --nbval --nbval-kernel-name $(KERNEL) --nbval-sanitize-with tests/nbval.ini solutions
	$(PYTEST) tests

notebooks: $(READY) ## make the learners' notebooks/ from solutions/, over whatever is there; LESSON=... for one
	for lesson in $(notdir $(patsubst %/,%,$(dir $(wildcard solutions/$(LESSON)/*.ipynb)))); do \
		$(PYTHON) -m nbgrader generate_assignment --force "$$lesson" || exit 1; done
	cp solutions/start.ipynb notebooks/start.ipynb

outputs: $(READY) ## run the notebooks under solutions/ and store their outputs; LESSON=... for one
	$(PYTHON) -m nbconvert --config tools/nbconvert_config.py --inplace solutions/start.ipynb solutions/$(LESSON)/*.ipynb

mistakes: $(READY) ## write docs/mistakes.md, every exercise with its known mistakes
	$(PYTHON) tools/docs.py mistakes > docs/mistakes.md

kill-matrix: $(READY) ## print what the grader makes of every mistake, and write docs/kill-matrix.md
	$(PYTHON) tools/docs.py kill-matrix | tee docs/kill-matrix.md

messages: $(READY) ## collect what can be said in another language, for grader/translations/
	$(PYTHON) tools/messages.py

bench: $(READY) ## measure everything that the README says about speed; takes half an hour
	$(PYTHON) -m benchmarks.grade
	$(PYTHON) -m benchmarks.kernels
	$(PYTHON) -m benchmarks.sliders
	$(PYTHON) -m benchmarks.notebooks
	$(PYTHON) -m benchmarks.cluster
	$(PYTHON) -m benchmarks.scale
	$(PYTHON) -m benchmarks.classroom

bench-class: $(READY) ## grade a class with stock nbgrader and with the course; the ratio comes last
	$(PYTHON) -m benchmarks.classroom

zoo-report: $(READY) ## grade hostile and broken submissions with stock nbgrader and with the course
	$(PYTHON) -m benchmarks.zoo

site: $(READY) ## build the static site, lessons and docs to read, into _site/
	$(PYTHON) tools/site/build.py _site
	@echo "Open _site/index.html in a browser."

links: site ## try every link of the site, also those to other places; needs the network
	$(PYTHON) -m linkcheck --check-extern --no-warnings _site/index.html

lint: $(READY) ## check style with ruff
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

clean: ## remove environments and caches, never anybody's work or grades
	rm -rf .conda .venv .pytest_cache .ruff_cache _site
	find . -name __pycache__ -prune -exec rm -rf {} +

# Of rxnmapper lesson 8 wants the small trained model that comes with it, and nothing it depends on.
# axe-playwright-python is asked for here because it is not among conda's packages.
.conda/ready: environment.yml constraints.txt
	@echo "Setting up .conda from environment.yml. This takes some minutes, once."
	rm -rf .conda
	"$(CONDA)" env create --yes --prefix "$(CURDIR)/.conda" --file environment.yml
	$(PYTHON) -m pip install --quiet --no-deps -e . rxnmapper axe-playwright-python -c constraints.txt
	touch $@

.venv/ready: pyproject.toml constraints.txt
	@echo "Setting up .venv with pip. This takes some minutes, once."
	@sh tools/system-packages python3-venv
	$(PYTHON3) -m venv .venv
	$(PYTHON) -m pip install --quiet -e ".[test]" -c constraints.txt
	$(PYTHON) -m pip install --quiet --no-deps rxnmapper -c constraints.txt
	touch $@

# 5.1 is the last that runs with the node of Debian 12. Without npm the test says that it is skipped.
.venv/bin/configurable-http-proxy: | .venv/ready
	@sh tools/system-packages npm
	-npm install --silent --global --prefix .venv configurable-http-proxy@5.1.0
