# Everything works on a fresh machine with Python >= 3.11, make and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What predicting needs is installed, and all that this project is made and tested with.
RUN := $(VENV)/.run
DEV := $(VENV)/.dev
LIBRARY := src/warpwatt/native/libwarpwatt.so
NATIVE := $(shell find native -name '*.cpp' -o -name '*.h' -o -name '*.inc' -o -name '*.map' -o -name '*.cmake' -o -name CMakeLists.txt)
NATIVE_TESTS := tests/native tests/emulate tests/models/pipeline

# A system CUDA toolkit must not leak in: the compilers come from pinned wheels.
unexport CUDA_HOME CUDA_PATH CUDA_ROOT NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
# Hundreds of short processes: without compiled modules each spends half a second of CPU on ours.
unexport PYTHONDONTWRITEBYTECODE

# Measuring: `make prepare` where the compilers are, `make measure` where the GPU is, again until nothing is left.
PREPARED ?= build/prepared
TARGET ?= sm_90
BUDGET ?= 520
MEASURE ?=
# Where results go if this checkout does not outlast the run; it begins with those of data/measured.
OUTPUT ?=
MUTATION ?=
FUZZ ?= 100000

.PHONY: demo test native native-test sanitize mutation pytorch fuzz random-kernels differential twice doors lint types unit coverage docs pictures tutorials lock validate bench prepare measure rehearse clean mcp skill sbom changelog

demo: $(RUN) $(LIBRARY) ## predict a shipped kernel on several GPUs
	$(BIN)/warpwatt predict examples/matmul.cu --gpu h200,a100,v100,rtx4090,t4

test: lint types unit docs ## everything CI runs

native: $(LIBRARY) ## the native core, for this machine

native-test: ## the native core's unit tests
	$(BUILDER) native/compiling.py --test

sanitize: $(DEV) ## the native core's tests and those of what calls it, with address and undefined-behaviour sanitizers
	$(BUILDER) native/compiling.py --test --sanitize address,undefined
	WARPWATT_NATIVE_LIBRARY=$(CURDIR)/build/native-sanitize/libwarpwatt.so ASAN_OPTIONS=detect_leaks=0 \
		LD_PRELOAD=$$(c++ -print-file-name=libasan.so) $(BIN)/pytest $(NATIVE_TESTS)

mutation: $(DEV) $(LIBRARY) ## break the simulator and the composition, one thing at a time: does a test see it? half an hour
	$(PYTHON) requirements/install.py $(VENV) mutation
	$(BIN)/python -m tests.mutation $(MUTATION)

pytorch: $(DEV) $(LIBRARY) ## PyTorch on our device: WARPWATT_TORCH names an environment with a CUDA wheel; ten minutes
	$(BIN)/pytest tests/pytorch

fuzz: $(DEV) $(LIBRARY) ## FUZZ changed files, every loader its share; anything but a typed error is printed
	$(BIN)/python -W ignore -m tests.fuzz $(FUZZ)

random-kernels: $(DEV) $(LIBRARY) ## sampled blocks against whole grids of SEEDS random kernels
	WARPWATT_RANDOM_KERNELS=$(or $(SEEDS),300) $(BIN)/pytest -q tests/emulate/test_random_kernels.py

twice: $(DEV) $(LIBRARY) ## every command of the tutorials, twice on one cache; a cache of another version
	WARPWATT_TWICE=1 $(BIN)/pytest -q tests/docs/test_tutorials.py tests/commands/test_twice.py

doors: $(DEV) $(LIBRARY) ## repositories that try to run code, every door
	WARPWATT_DOORS=1 $(BIN)/pytest -q tests/test_repositories.py

differential: $(DEV) $(LIBRARY) ## PROGRAMS random kernels as run computes them, sm_75 to sm_120, against the processor
	$(BIN)/python -m tests.differential $(or $(PROGRAMS),500)

sbom: ## bill of materials of what is installed with the package (CycloneDX): build/sbom.json
	$(PYTHON) -m venv build/sbom
	build/sbom/bin/pip install --quiet "cyclonedx-bom>=7,<8"
	build/sbom/bin/cyclonedx-py requirements requirements/run.lock --pyproject pyproject.toml -o build/sbom.json

changelog: ## the fragments of changes/ as a section of VERSION
	$(PYTHON) .ci/changelog.py $(VERSION) $$(date +%F)

mcp: $(RUN) $(LIBRARY) ## the tools for agents through the official SDK, in an environment of its own
	$(PYTHON) -m venv --clear build/mcp
	build/mcp/bin/pip install --quiet --editable ".[mcp]"
	build/mcp/bin/python -m tests.server.mcp.protocol

skill: $(RUN) $(LIBRARY) ## follow the agents' skill: the worked example of docs/how-to/agents.md
	cd skills/predicting-gpu-kernels/example && PATH="$(abspath $(BIN)):$$PATH" $(abspath $(BIN))/python optimise.py

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --cache-dir build/import-linter
	@$(BIN)/clang-format --dry-run --Werror $(filter %.cpp %.h,$(NATIVE))
	$(BIN)/python .ci/lines.py

types: $(DEV)
	$(BIN)/mypy

unit: $(DEV) $(LIBRARY)
	$(BIN)/pytest -n 2

coverage: $(DEV) $(LIBRARY) ## which lines and branches the tests reach; build/coverage/index.html shows each
	$(BIN)/pytest -n 2 --cov --cov-report=html --cov-report=term

docs: $(DEV) $(LIBRARY) ## the documentation site in build/site; a broken link or anchor, or anything from outside, is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

validate: $(DEV) $(LIBRARY) ## the published tables and public data sets (minutes; see validation/README.md)
	$(BIN)/python -m validation

bench: $(DEV) $(LIBRARY)
	$(BIN)/python -m benchmarks

pictures: $(DEV) $(LIBRARY) ## pictures and sentences of README and docs, of the pages of docs/validation; needs Chromium
	$(BIN)/python -m validation.pictures --report

tutorials: $(DEV) ## the wheel, installed without the checkout; every tutorial from an empty folder
	rm -rf build/wheel && $(BIN)/pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(BIN)/python -m tests.docs.from_wheel build/wheel

prepare: $(RUN) $(LIBRARY) ## compile the corpus for TARGET into PREPARED, for a GPU machine without compilers
	$(BIN)/warpwatt measure --prepare $(PREPARED) --target $(TARGET) $(MEASURE)

measure: ## one slice of at most nine minutes on a real GPU; PYTHON needs numpy, click, cuda-bindings, nvidia-ml-py
	$(if $(OUTPUT),mkdir -p $(OUTPUT) && cp -Rn data/measured/. $(OUTPUT))
	PYTHONPATH=src $(PYTHON) -m warpwatt measure --budget $(BUDGET) $(if $(OUTPUT),--output $(OUTPUT)) \
		$(if $(wildcard $(PREPARED)/prepared.json),--prepared $(PREPARED)) $(MEASURE)

rehearse: ## measure a simulated GPU and calibrate it: what a session does, in a minute, without GPU or compiler
	rm -rf build/rehearsed
	PYTHONPATH=src $(PYTHON) -m warpwatt measure --simulate --output build/rehearsed --protocol micro $(MEASURE)
	PYTHONPATH=src $(PYTHON) -m warpwatt calibrate build/rehearsed/simulated-gpu -o build/rehearsed/gpu.toml

# With the environment's tools, if there is one.
BUILDER = $(if $(wildcard $(BIN)/python),$(BIN)/python,$(PYTHON))

$(LIBRARY): $(NATIVE)
	$(BUILDER) native/compiling.py
	@touch $@

$(RUN): requirements/run.lock requirements/install.py pyproject.toml
	$(PYTHON) requirements/install.py $(VENV) run
	@touch $@

$(DEV): $(RUN) requirements/dev.lock
	$(PYTHON) requirements/install.py $(VENV) dev
	@touch $@

EXTRAS := learn server cluster notebook port tuner triton
GROUPS := dev docs validation
COMPILE := $(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate

lock: ## refresh requirements/*.lock from pyproject.toml
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/pip install --quiet uv
	$(COMPILE) $(EXTRAS:%=--extra %) $(GROUPS:%=--group %) pyproject.toml requirements/build.in -o requirements/dev.lock
	$(COMPILE) pyproject.toml requirements/build.in --constraint requirements/dev.lock -o requirements/run.lock
	$(COMPILE) requirements/compiler.in -o requirements/compiler.lock
	echo uv | $(COMPILE) - -o requirements/installer.lock
	echo universalmutator | $(COMPILE) --constraint requirements/dev.lock - -o requirements/mutation.lock
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache build/native* $(LIBRARY) src/warpwatt/native/runtime
