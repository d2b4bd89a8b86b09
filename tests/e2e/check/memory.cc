// Accesses to memory in a function under raddle::check(), compiled to be seen: static, heap, stack of the function and of its caller, atomics.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <raddle_check.h>

static int failures;
static int global;

template <class Function> static void loses_an_update(const char *name, Function function)
{
	raddle_result result{};
	raddle_options options{};
	std::string token;

	options.result = &result;
	options.name = name;
	if (raddle::check(function, options) != 1) {
		std::printf("FAILED: %s: found nothing in %lu schedules\n", name,
			(unsigned long)result.schedules);
		failures++;
		return;
	}
	token = result.replay;
	options.replay = token.c_str();
	if (raddle::check(function, options) != 1 || result.replay != token) {
		std::printf("FAILED: %s: %s does not repeat\n", name, token.c_str());
		failures++;
	}
}

template <class Function> static void twice(Function function)
{
	std::thread one(function), two(function);

	one.join();
	two.join();
}

/* Races, if the check asks for them: also those that do no harm. Accesses that locks, atomics or joins order are no races. */
static void races()
{
	raddle_result result{};
	raddle_options options{};
	auto expect = [&](const char *name, int verdict, auto function) {
		options.name = name;
		options.result = &result;
		options.replay = "";
		options.schedules = 2000;
		if (raddle::check(function, options) != verdict ||
			(verdict == 1 && std::strcmp(result.outcome, "race") != 0)) {
			std::printf("FAILED: %s: %s %s\n", name, result.outcome, result.message);
			failures++;
		}
	};
	auto writes = [] {
		int value = 0;

		twice([&] { value = 1; });
		return value != 1;
	};

	expect("a race that is not asked for", 0, writes);
	options.are_races_failures = 1;
	expect("a race", 1, writes);
	{
		const std::string token = result.replay, message = result.message;
		raddle_options again = options;

		again.replay = token.c_str();
		if (raddle::check(writes, again) != 1 || message != result.message) {
			std::printf("FAILED: %s: the race does not repeat\n", token.c_str());
			failures++;
		}
	}
	if (!std::strstr(result.message, "memory.cc:")) {
		std::printf("FAILED: no place in '%s'\n", result.message);
		failures++;
	}
	expect("a lock orders", 0, [] {
		std::mutex lock;
		int value = 0;

		twice([&] {
			std::lock_guard<std::mutex> held(lock);
			value++;
		});
		return value != 2;
	});
	expect("an atomic orders", 0, [] {
		std::atomic<bool> is_ready{false};
		int value = 0, seen = 1;
		std::thread writer([&] {
			value = 1;
			is_ready = true;
		});

		if (is_ready)
			seen = value;
		writer.join();
		return seen != 1 || value != 1;
	});
}

/* Each model shows its outcomes of store buffering and message passing, and no others. */
static void memory_models()
{
	raddle_result result{};
	raddle_options options{};
	auto expect = [&](const char *name, int model, int verdict, auto function) {
		options.name = name;
		options.result = &result;
		options.replay = "";
		options.schedules = 3000;
		options.memory_model = model;
		std::string token;
		if (raddle::check(function, options) != verdict) {
			std::printf("FAILED: %s: %s %s\n", name, result.outcome, result.message);
			failures++;
			return;
		}
		if (verdict != 1)
			return;
		token = result.replay;
		options.replay = token.c_str();
		if (raddle::check(function, options) != 1 || result.replay != token) {
			std::printf("FAILED: %s: %s does not repeat\n", name, token.c_str());
			failures++;
		}
	};
	auto buffers = [] {
		std::atomic<int> x{0}, y{0};
		int first = 0, second = 0;
		std::thread one([&] {
			x.store(1, std::memory_order_relaxed);
			first = y.load(std::memory_order_relaxed);
		});
		std::thread two([&] {
			y.store(1, std::memory_order_relaxed);
			second = x.load(std::memory_order_relaxed);
		});

		one.join();
		two.join();
		return !first && !second;
	};
	auto sends = [] {
		std::atomic<int> x{0}, y{0};
		int is_old = 0;
		std::thread writer([&] {
			x.store(1, std::memory_order_relaxed);
			y.store(1, std::memory_order_relaxed);
		});
		std::thread reader([&] {
			if (y.load(std::memory_order_relaxed))
				is_old = !x.load(std::memory_order_relaxed);
		});

		writer.join();
		reader.join();
		return is_old;
	};

	expect("store buffering, sc", RADDLE_SC, 0, buffers);
	expect("store buffering, tso", RADDLE_TSO, 1, buffers);
	expect("store buffering, c11", RADDLE_C11, 1, buffers);
	expect("a message, sc", RADDLE_SC, 0, sends);
	expect("a message, tso", RADDLE_TSO, 0, sends);
	expect("a message, c11", RADDLE_C11, 1, sends);
}

int main()
{
	int outside = 0;
	raddle_result result{};
	raddle_options options{};

	loses_an_update("static", [] {
		global = 0;
		twice([] { global++; });
		if (global != 2)
			raddle_fail("static");
	});
	loses_an_update("heap", [] {
		auto counts = std::make_unique<int[]>(100);

		twice([&] { counts[50]++; });
		if (counts[50] != 2)
			raddle_fail("heap");
	});
	loses_an_update("stack", [] {
		int count = 0;

		twice([&] { count++; });
		if (count != 2)
			raddle_fail("stack");
	});
	loses_an_update("stack of the caller", [&] {
		outside = 0;
		twice([&] { outside++; });
		if (outside != 2)
			raddle_fail("stack of the caller");
	});
	loses_an_update("atomics", [] {
		std::atomic<int> count{0};

		twice([&] { count = count + 1; });
		if (count != 2)
			raddle_fail("atomics");
	});

	options.result = &result;
	options.name = "atomic updates";
	options.strategy = "dpor";
	options.replay = "";
	if (raddle::check(
		    [] {
			    std::atomic<int> count{0};

			    twice([&] { count++; });
			    return count != 2;
		    },
		    options) != 0 ||
		!result.is_complete) {
		std::printf("FAILED: atomic updates are lost: %s\n", result.message);
		failures++;
	}
	races();
	memory_models();
	std::printf("%d failures\n", failures);
	return failures != 0;
}
