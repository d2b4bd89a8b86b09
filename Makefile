# The commands of raddle's house. Everything real is in CMakeLists.txt; this installs what is missing,
# configures and builds. BUILD=folder builds elsewhere.
BUILD ?= build
PREFIX ?= /usr/local

.PHONY: build deps quick check check-full fuzz check-real check-fresh demo bench install program clean format

build: deps
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD)

deps:
	@tools/install-deps

# A minute's check while working: unit tests and one use of each command.
quick: deps
	@tools/install-deps check
	@tools/quick

check: deps
	@tools/check

# The same, the other build types (Release, and with link-time optimisation), and each fuzzer for some seconds.
check-full: deps
	@tools/check-full

# Each fuzzer for FUZZ_SECONDS, an hour unless given otherwise; corpora stay in the build folder.
fuzz: build
	@tools/install-deps check
	@tools/fuzz $(or $(FUZZ_SECONDS),3600)

# Projects of others, built with raddle-cc: a quarter of an hour.
check-real: build
	@tools/install-deps real
	@tools/real-projects $(BUILD)

# The tutorial in a Debian 12 that has nothing yet: root, a network and a quarter of an hour.
check-fresh: build
	@tools/fresh-root $(BUILD)

demo: program
	@tools/demo $(TREE)

# Runs every benchmark (some hours with FULL=1) and makes docs/results.md anew.
bench: build
	@bench/run --keep $(if $(FULL),--full) $(BUILD)

install: program
	@cmake --install $(TREE) --prefix $(PREFIX)

# Builds what `install` and `demo` need: all of an existing tree; where nothing is built yet, a tree without the tests.
TREE = $(if $(wildcard $(BUILD)/CMakeCache.txt),$(BUILD),$(BUILD)/installed)
program: deps
	@[ -e $(TREE)/CMakeCache.txt ] || cmake -S . -B $(TREE) -G Ninja -DRADDLE_TESTS=OFF \
		-DCMAKE_INSTALL_PREFIX=$(PREFIX) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(TREE)

format:
	@git ls-files '*.c' '*.h' '*.cc' | xargs clang-format -i

clean:
	rm -rf $(BUILD) $(BUILD).log
