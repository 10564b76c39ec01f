# Every target creates .venv itself when it is missing.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo toy test test-slow lint bench screenshots docs clean

demo: $(READY)
	$(BIN)/cmnet demo -o out/demo

toy: $(READY)
	$(BIN)/python examples/toy_demo.py

test: $(READY)
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python benchmarks/network.py $(if $(REFERENCE),--reference $(REFERENCE))
	$(BIN)/python benchmarks/fracture.py

screenshots: $(READY)  # needs Chromium or Chrome
	$(BIN)/python benchmarks/screenshots.py

docs: $(READY)  # site/index.html, to be read with or without a server
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

clean:
	rm -rf site .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[train,figures,dev]'
	touch $@
