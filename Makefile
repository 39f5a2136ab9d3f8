# SPDX-License-Identifier: BSD-3-Clause
#
# Every target works on a fresh Debian or Ubuntu machine. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules are compiled when first imported, since most of the installed ones never are.
PIP := $(BIN)/pip --disable-pip-version-check install --quiet --no-compile --constraint tools/constraints.txt
# A tenth of pip's time. Where it can't install, as behind an index that only pip.conf names, pip does.
UV := 2>$(VENV)/.uv.log $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint tools/constraints.txt
CXX_FILES = $(shell find core controls engine wire plan metrics bindings lab ns3 linux proofs tests bench -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cc')
NATIVE := CMakeLists.txt $(wildcard cmake/* core/*.h wire/* plan/* metrics/* bindings/*) $(shell find engine -type f)
MAKEFLAGS += --no-print-directory

DEV := build/dev
MAKE_LINUX = $(BIN)/cmake -S linux -B build/linux -G Ninja -D WW_TESTS=OFF --log-level=WARNING && \
    $(BIN)/cmake --build build/linux
T ?= tests
# Papers whose open settings `make searches` searches, with the number of settings and the seed.
SEARCHES ?= ns3-2013:72:51 mobicom-2001:144:52 plateau:240:53 linux-2003:96:54
SETTINGS ?=
# Somebody else's compiler may know warnings that ours does not.
WERROR ?= OFF

.PHONY: help demo lab lab-engine core engine py test test-slow lint format golden bench bench-path comparison verdicts searches theory torture mutants prove ns3 \
    linux linux-machine linux-um linux-path quic manual docs release clean system system-lab system-test dev .venv
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z0-9 -]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: system-lab ## build the package and the laboratory, and reproduce Figure 5 of the 2013 ns-3 paper
	@$(MAKE) -j2 .venv lab-engine
	@$(MAKE) lab
	@$(BIN)/westwood reproduce fig5 --out report
	@echo
	@echo "Open  file://$(CURDIR)/report/index.html         Figure 5, and what became of the paper's claims"
	@echo "Open  file://$(CURDIR)/westwood/lab/page.html    the laboratory: move a slider"
	@echo "Type  source .venv/bin/activate && westwood compare --loss 0.1%,1%,3% --cc cubic,westwood+ --plot"

lab: system-lab .venv lab-engine ## build the laboratory's page, one file that works anywhere: docs/lab.md
	@$(BIN)/python tools/lab.py

# The page's engine needs a compiler only, so `make demo` builds it beside the package.
lab-engine: $(VENV)/.tools
	@$(UV) ziglang || $(PIP) ziglang
	@$(BIN)/python tools/lab.py --engine

core engine: $(DEV)/build.ninja ## build and run the C++ tests of core/ or of engine/, for use while editing
	@$(BIN)/cmake --build $(DEV) --target ww_$@_tests -- --quiet
	@$(BIN)/ctest --test-dir $(DEV) --tests-regex ^$@/ --output-on-failure --no-tests=error -j $$(nproc)

py: dev ## run Python tests while editing: make py T=tests/.../test_units.py
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -q $(T)

test: $(VENV)/.tools system-test ## run every test suite
	@$(BIN)/python -m tools.run_suites

test-slow: dev ## run the tests that take minutes
	@PYTHON=$(PYTHON) tools/system.sh slow
	@$(MAKE_LINUX)
	@$(BIN)/westwood kernel build
	@$(BIN)/python -m tools.run_suites --all cpp core ns3 prove
	@$(BIN)/ctest --test-dir build/sanitized -C long --tests-regex -long$$ --output-on-failure --no-tests=error
	@PATH="$(CURDIR)/$(BIN):$$PATH" WW_ATTACK_SECONDS=2 $(BIN)/python -m pytest -m "slow or torture or hypothesis" \
	    --hypothesis-profile=deep

TORTURE_SECONDS ?= 3600
TORTURE_SEED ?= $(shell date +%s)

torture: dev linux ## repeat every attack (pytest -m torture) for about an hour, with new seeds
	@echo "First seed: $(TORTURE_SEED)"
	@rm -rf build/torture
	@PATH="$(CURDIR)/$(BIN):$$PATH" WW_TORTURE_SECONDS=$(TORTURE_SECONDS) WW_TORTURE_SEED=$(TORTURE_SEED) \
	    WW_TORTURE_FIGURES=$(CURDIR)/build/torture $(BIN)/python -m pytest -q -rs -m torture $(T)
	@$(BIN)/python -m tools.pages torture build/torture $(if $(filter tests,$(T)),docs/reliability.md)

mutants: dev system-test ## check that the tests catch random mutants, 200 per room: ROOM=, SEED=, COUNT=, OPTIONS=--named
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m tools.mutants $(ROOM) $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT)) $(OPTIONS)

prove: $(VENV)/.tools ## prove the core with Frama-C: docs/reliability.md; takes minutes
	@PYTHON=$(PYTHON) tools/system.sh prove
	@$(BIN)/python tools/prove.py

lint: dev system-test ## run the linters only
	@$(BIN)/python -m tools.run_suites lint

format: dev ## format all C, C++ and Python files
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/clang-format -i $(CXX_FILES)

golden: dev system-test ## regenerate the golden files; review the difference like code
	@WW_UPDATE_GOLDEN=1 $(BIN)/python -m tools.run_suites --all cpp-release python
	@git status --short tests/golden

bench: lab ## measure the engine, ns-3, htsim, the laboratory, the gym and the kernel's controls: OPTIONS="--long --record"
	@tools/system.sh bench
	@$(BIN)/cmake -S . -B build/bench -G Ninja -D WW_TESTS=OFF -D WW_BENCH=ON --log-level=WARNING
	@$(BIN)/cmake --build build/bench
	@$(BIN)/python -m bench.run $(OPTIONS)
	@$(BIN)/python -m bench.lab
	@$(BIN)/python -m bench.gym
	@$(MAKE_LINUX)
	@$(BIN)/python -m bench.kernel || test $$? = 77

bench-path: linux-path ## measure the accuracy of --engine linux's emulated path (as root)
	@tools/system.sh bench
	@$(BIN)/python -m bench.linux_path

theory: dev ## compare the simulator with formulas, and write the tables of docs/theory.md
	@$(BIN)/python -m tools.pages theory

verdicts: dev ## decide all claims again and write them into docs/claims.md: 14 000 runs
	@$(BIN)/westwood reproduce all --out build/verdicts
	@$(BIN)/python -m tools.pages claims build/verdicts

searches: dev ## search the papers' open settings again, and write docs/papers.md
	@for one in $(SEARCHES); do set -- $$(echo $$one | tr : ' ') && \
	    $(BIN)/westwood reproduce --infer $$1 --settings $(or $(SETTINGS),$$2) --seed $$3 --out build/searches/$$1 && \
	    cp build/searches/$$1/$$1.json westwood/papers/infer/reports/ || exit 1; done
	@$(BIN)/python -m tools.pages claims

comparison: dev ## compare sack and other controls with ns-3's, and write docs/comparison.md
	@$(BIN)/python -m tools.pages reference
	@$(BIN)/python -m tools.pages comparators

ns3: .venv ## build ns3/ against ns-3 3.44 from PyPI: the module, its tests, the runner of --engine ns3
	@tools/system.sh build
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/ns3_module.py wheel

linux: .venv ## build linux/: the emulated path, the congestion controls, and their loader ww-kernel
	@PYTHON=$(PYTHON) tools/system.sh linux
	@$(MAKE_LINUX)

linux-machine: linux-path ## fetch Debian's kernel, in which --engine linux runs controls that this one lacks
	@PYTHON=$(PYTHON) tools/system.sh slow
	@$(BIN)/westwood kernel machine

linux-um: .venv ## build the Linux of --engine linux-um, in virtual time; some minutes, once
	@PYTHON=$(PYTHON) tools/system.sh um
	@$(BIN)/westwood kernel build

linux-path: .venv ## build ww-path, the emulated path of --engine linux, into build/linux
	@tools/system.sh build
	@$(MAKE_LINUX) --target ww-path

# With FORKS=FILE: one with forks of the stacks, beside the other (docs/quic.md).
QUIC = $(if $(FORKS),build/quic-forks,build/quic)
quic: .venv ## build ww-quic, the runner of --engine quinn and --engine noq, into build/quic (needs Rust)
	@$(if $(FORKS),$(BIN)/python -m tools.quic_forks "$(FORKS)" $(QUIC)/rust &&) \
	    $(BIN)/cmake -S quic -B $(QUIC) -G Ninja -D WW_TESTS=OFF --log-level=NOTICE \
	    $(if $(FORKS),-D WW_RUST=$(CURDIR)/$(QUIC)/rust) && $(BIN)/cmake --build $(QUIC)

manual: dev ## write man/westwood.1 and the tables of the guide from the help and the declarations
	@$(BIN)/python -m tools.manual
	@$(BIN)/python -m tools.pages declared

docs: dev ## build the documentation
	@$(BIN)/sphinx-build -W -q -b html docs build/docs
	@echo "Documentation: $(CURDIR)/build/docs/index.html"

release: lab ## check that this commit is a release and build its distributions and documentation
	@$(BIN)/python tools/release.py
	@$(MAKE) docs

clean: ## remove all build results
	rm -rf build report $(VENV) westwood/_engine.pyi .hypothesis .*_cache

# For `make core` and `make engine`: with assertions and little optimisation, without sanitizers.
$(DEV)/build.ninja: $(VENV)/.tools
	@PYTHON=$(PYTHON) tools/system.sh test
	@$(BIN)/cmake -S . -B $(DEV) -G Ninja --log-level=WARNING \
	    -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O1

# New pins make a new virtual environment, and changed native code reinstalls the package in it
# (Python code is read from the source tree).
.venv: $(VENV)/.installed

BUILD_TOOLS = scikit-build-core nanobind cmake ninja
$(VENV)/.tools: tools/constraints.txt | system
	@echo "Installing build tools into $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) uv || true
	@$(UV) $(BUILD_TOOLS) || $(PIP) $(BUILD_TOOLS)
	@touch $@

# The compiler works while uv fetches what Westwood needs; without uv, pip does both in turn.
EDITABLE = PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) --no-build-isolation \
    --config-settings=cmake.define.WW_WERROR=$(WERROR) --editable
$(VENV)/.installed: $(VENV)/.tools pyproject.toml $(NATIVE)
	@echo "Building and installing westwood into $(VENV)"
	@$(UV) -r pyproject.toml --extra all & fetched=$$!; \
	    $(EDITABLE) . --no-deps; built=$$?; \
	    wait $$fetched || $(EDITABLE) '.[all]' || exit 1; exit $$built
	@touch $@

dev: $(VENV)/.dev ## install what the tests, the linters and the documentation need, too

$(VENV)/.dev: $(VENV)/.installed
	@echo "Installing development tools into $(VENV)"
	@$(UV) -r pyproject.toml --extra dev || $(EDITABLE) '.[dev]'
	@touch $@

system:
	@PYTHON=$(PYTHON) tools/system.sh build

system-lab:
	@PYTHON=$(PYTHON) tools/system.sh lab

system-test:
	@PYTHON=$(PYTHON) tools/system.sh test
