# Shortcuts for newcomers; for everything else use the CMake presets (see CONTRIBUTING.md).

WORKERS ?= 2
PS ?= 1
STEPS ?= 2000
SYNC ?= false
DATA ?= examples/data/mnist
LOGS ?= build/demo_logs
PARTS ?= 1
# One compiler per core. Ninja alone starts two more, which makes all of them slower (docs/design/0007-building.md).
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)

.DEFAULT_GOAL := help
.PHONY: help demo examples test test_long test_accelerators test_tensorflow test_keras test_engines release wheel package site packages clean

help:
	@echo "make demo      train softmax regression on MNIST with $(PS) parameter server(s) and $(WORKERS) worker(s), as local processes"
	@echo "               (PS=$(PS) WORKERS=$(WORKERS) STEPS=$(STEPS) SYNC=$(SYNC) DATA=$(DATA) LOGS=$(LOGS))"
	@echo "make examples  train each program of examples/ to the accuracy that it should reach, which takes some minutes;"
	@echo "               with the whole of MNIST in idx format: DATA=DIR"
	@echo "make test      build the preset 'release' and run its tests"
	@echo "make test_long  jobs of hundreds of tasks, tasks that are killed and saves that fail again and again, a recommender in many settings;"
	@echo "               takes some minutes"
	@echo "make test_accelerators  test with plugins of accelerators that compute on the CPU, which it installs (tests/accelerators/README.md)"
	@echo "make test_tensorflow  compare with TensorFlow, which it installs; takes some minutes (tests/interop/README.md)"
	@echo "make test_keras  test tf.keras, and run the library Keras's own tests, which it installs; PARTS=5: a fifth of them,"
	@echo "               which the commit chooses (python/tests/keras/README.md)"
	@echo "make test_engines  test with Prometheus and other systems, which it installs (tests/engines/README.md)"
	@echo "make wheel     build wheels of the Python package into build/dist (python/wheel/README.md)"
	@echo "make package   build Debian packages into build/dist (deploy/package/README.md)"
	@echo "make site      build the documents as a web site into build/site, with a reference of C++ and Python"
	@echo "make clean     remove build/"
	@echo "demo, examples and test install the Debian packages that they need, as root or with sudo. Other presets are dev, asan and tsan:"
	@echo "  cmake --preset dev && cmake --build --preset dev && ctest --preset dev"

demo: packages
	cmake --preset release
	cmake --build --preset release --target tensorbraid_program mnist_softmax
	build/release/src/cli/tensorbraid launch --ps=$(PS) --workers=$(WORKERS) --log_dir=$(LOGS) -- \
	  build/release/examples/mnist_softmax --data_dir=$(DATA) --issync=$(SYNC) --train_steps=$(STEPS)

examples: packages
	cmake --preset release
	cmake --build --preset release --target tensorbraid_program all_examples
	scripts/run_examples $(DATA)

test: release
	ctest --preset release

test_long: release
	cmake --build --preset release --target long_tests
	ctest --preset long

test_accelerators: release
	cmake --build --preset release --target accelerator_tests
	ctest --preset accelerators

test_tensorflow: release
	cmake --build --preset release --target tensorflow_tests
	ctest --preset tensorflow

test_keras: release
	PYTHONPATH=$(CURDIR)/build/release/python python3 python/tests/keras/own.py
	for version in 2.2.5 2.3.1; do \
	  PYTHONPATH=$(CURDIR)/build/release/python python/tests/keras/run.py $$version --part=$(PARTS) || exit 1; \
	done

test_engines: release
	scripts/test_engines

release: packages
	cmake --preset release
	cmake --build --preset release

wheel: packages
	scripts/make_wheel

package: packages
	scripts/make_package

site: release
	scripts/make_site

packages:
	@scripts/install_packages

clean:
	rm -rf build
