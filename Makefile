# Everything works on a fresh machine with Python >= 3.11, make and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LIBRARY := src/warpwatt/native/libwarpwatt.so
NATIVE := $(shell find native -name '*.cpp' -o -name '*.h' -o -name CMakeLists.txt)

# A system CUDA toolkit must not leak in: the compilers come from pinned wheels.
unexport CUDA_HOME CUDA_PATH CUDA_ROOT NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS

# Measuring: `make prepare` where the compilers are, `make measure` where the GPU is, again until nothing is left.
PREPARED ?= build/prepared
TARGET ?= sm_90
BUDGET ?= 520
MEASURE ?=

.PHONY: demo test native native-test lint types unit docs lock validate bench prepare measure clean

demo: $(STAMP) $(LIBRARY) ## predict a shipped kernel on several GPUs
	$(BIN)/warpwatt predict examples/matmul.cu --gpu h200,a100,v100,rtx4090,t4

test: lint types unit docs ## everything CI runs

native: $(LIBRARY) ## the native core, for this machine

native-test: ## the native core's unit tests
	$(BUILDER) native/compiling.py --test

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP) $(LIBRARY)
	$(BIN)/pytest -n 2

docs: $(STAMP) $(LIBRARY) ## the documentation site in build/site; a broken link or anchor, or anything from outside, is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

validate: $(STAMP) $(LIBRARY) ## the published tables and public data sets (minutes; see validation/README.md)
	$(BIN)/python -m validation

bench: $(STAMP) $(LIBRARY)
	$(BIN)/python -m benchmarks

prepare: $(STAMP) $(LIBRARY) ## compile the corpus for TARGET into PREPARED, for a GPU machine without compilers
	$(BIN)/warpwatt measure --prepare $(PREPARED) --target $(TARGET)

measure: ## one slice of at most nine minutes on a real GPU; PYTHON needs numpy, click, cuda-bindings, nvidia-ml-py
	PYTHONPATH=src $(PYTHON) -m warpwatt measure --budget $(BUDGET) \
		$(if $(wildcard $(PREPARED)/prepared.json),--prepared $(PREPARED)) $(MEASURE)

# With the environment's tools, if there is one.
BUILDER = $(if $(wildcard $(BIN)/python),$(BIN)/python,$(PYTHON))

$(LIBRARY): $(NATIVE)
	$(BUILDER) native/compiling.py
	@touch $@

$(STAMP): pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; sys.exit("WarpWatt needs Python 3.11 or later") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python native/compiling.py --check || $(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes -r requirements-compiler.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(STAMP)

lock: ## refresh requirements.lock from pyproject.toml
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/pip install --quiet uv
	$(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --no-annotate --extra learn --extra server --extra cluster --extra notebook --extra tuner --extra triton \
		--group dev --group docs --group validation pyproject.toml requirements-build.in -o requirements.lock
	$(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --no-annotate requirements-compiler.in -o requirements-compiler.lock
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
