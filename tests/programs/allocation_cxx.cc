/* EXPECT: passed runs=50 */
/* operator new in all forms, with a runtime that observes them: see allocation.c. */
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "../../src/abi/instrument_abi.h"
}
#include "check.h"

#pragma weak raddle_module_loaded

struct alignas(128) Wide {
	char bytes[256];
};

static volatile size_t too_much = PTRDIFF_MAX - 4096;
static int handler_calls;

__attribute__((constructor(101))) static void claim()
{
	static const instrumented_module module = {
		INSTRUMENT_MAGIC, INSTRUMENT_ABI_VERSION, nullptr, nullptr};

	if (raddle_module_loaded)
		raddle_module_loaded(&module);
}

static bool throws(void *(*allocate)(std::size_t))
{
	try {
		allocate(too_much);
	} catch (const std::bad_alloc &) {
		return true;
	}
	return false;
}

static void give_up()
{
	if (++handler_calls == 3)
		std::set_new_handler(nullptr);
}

int main()
{
	CHECK(throws([](std::size_t bytes) -> void * { return new char[bytes]; }));
	CHECK(throws([](std::size_t bytes) { return operator new(bytes); }));
	CHECK(throws([](std::size_t bytes) { return operator new(bytes, std::align_val_t(256)); }));
	std::set_new_handler(give_up);
	CHECK(throws([](std::size_t bytes) { return operator new[](bytes); }));
	CHECK(handler_calls == 3);
	CHECK(!operator new(too_much, std::nothrow));
	CHECK(!operator new[](too_much, std::nothrow));
	CHECK(!operator new[](too_much, std::align_val_t(64), std::nothrow));

	auto wide = std::make_unique<Wide>();
	CHECK(reinterpret_cast<std::uintptr_t>(wide.get()) % 128 == 0);
	auto several = std::make_unique<Wide[]>(3);
	CHECK(reinterpret_cast<std::uintptr_t>(several.get()) % 128 == 0);
	int *single = new (std::nothrow) int(7);
	CHECK(*single == 7);
	delete single;
	void *aligned = operator new(10, std::align_val_t(512), std::nothrow);
	CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 512 == 0);
	operator delete(aligned, std::align_val_t(512));

	std::vector<std::string> texts;
	std::thread writer([&] {
		for (int i = 0; i < 200; i++)
			texts.push_back(std::string(i, 'x'));
	});
	writer.join();
	CHECK(texts.size() == 200 && texts[199].size() == 199);
	return check_status();
}
