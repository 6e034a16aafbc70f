# A thin front for CMake: `make` builds build/attune, `make help` lists the rest.
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
GENERATOR := $(if $(shell command -v ninja 2>/dev/null),Ninja,Unix Makefiles)
CONFIGURE ?= # more options for cmake, when build/ is configured
SOURCES = git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.js'

.PHONY: all configured demo test test-all bench wheel format lint install clean help
all: configured ## build the program, the library and the tests into build/
	@cmake --build $(BUILD) --parallel $(JOBS)

configured:
	@test -f $(BUILD)/build.ninja -o -f $(BUILD)/Makefile || cmake -S . -B $(BUILD) -G "$(GENERATOR)" -DCMAKE_BUILD_TYPE=Release $(CONFIGURE)

demo: ## install what is missing, build, show the devices, and align two scans that it makes; ends with a report to open
	@tools/setup demo
	@$(MAKE) --no-print-directory all
	$(BUILD)/attune devices
	$(BUILD)/attune selftest
	$(BUILD)/attune sample scans -o $(BUILD)/demo
	$(BUILD)/attune register $(BUILD)/demo/source.ply $(BUILD)/demo/target.ply --profile \
	    --truth $(BUILD)/demo/truth.json -o $(BUILD)/demo/aligned.ply --report $(BUILD)/demo/report.html
	@echo "the source, moved onto the target: $(BUILD)/demo/aligned.ply"
	@echo "a page with both clouds to turn:   $(BUILD)/demo/report.html"

test: ## install what is missing, build, run the tests; the last line counts them
	@tools/setup test
	@test ! -d $(BUILD) -o -d $(BUILD)/tests || cmake $(BUILD) # built before the tests' library was here
	@$(MAKE) --no-print-directory all
	@tools/run-tests $(BUILD) --parallel $$(nproc)

test-all: ## the tests again with clang, under sanitizers, with every slow one; fuzzers
	@tools/setup test
	@tools/run-all

DEVICE ?= host
bench: all ## the shipped kernels on DEVICE (host) as ratios to what others reach, measured in one run
	@$(BUILD)/attune bench kernels --device $(DEVICE)

wheel: ## a Python wheel that carries its libraries, into dist/; its tests with and without a compiler
	@tools/setup test
	@tools/make-wheel

format: ## let clang-format lay out every C and JavaScript file
	@$(SOURCES) | xargs clang-format -i

lint: ## clang-format, clang-tidy and tools/lint-web over what changed since they were content, changing nothing
	@tools/setup lint
	@$(MAKE) --no-print-directory configured
	@tools/lint --jobs $(JOBS) $(BUILD)

install: all ## install under PREFIX (/usr/local); DESTDIR is put before it
	cmake --install $(BUILD) --prefix "$(PREFIX)"

clean: ## remove what was built
	rm -rf build build-* dist

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
