/*
 * Sites without raddle's runtime: code that stands in for it switches them on itself. Link src/runtime/sites/stubs.c.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/stubs.h"

#define SWITCHED_PAGE ((uintptr_t)4096)
#define SWITCHED_DISTANCE ((uintptr_t)1 << 26)

static inline unsigned char *switched_point(const struct site_record *record)
{
	return (unsigned char *)(uintptr_t)&record->point + record->point;
}

static inline void switched_open(const void *code)
{
	const uintptr_t page = (uintptr_t)code & ~(SWITCHED_PAGE - 1);

	if (mprotect((void *)page, 2 * SWITCHED_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		abort();
}

static inline void switched_write(
	unsigned char *code, unsigned char opcode, const unsigned char *target)
{
	const int32_t distance = (int32_t)(target - (code + SITE_POINT_BYTES));

	code[0] = opcode;
	memcpy(code + 1, &distance, sizeof distance);
}

/* Makes the native version jump to the version with sites, if the record is the function's entry. */
static inline void switched_leave_native(const struct site_record *record)
{
	unsigned char *native;
	int32_t distance;

	if (record->kind != SITE_FUNCTION_ENTRY || !(record->order & SITE_HAS_NATIVE))
		return;
	native = (unsigned char *)(uintptr_t)site_record_target(record);
	memcpy(&distance, native - SITE_VERSION_BYTES, sizeof distance);
	switched_open(native);
	switched_write(native, 0xe9, native + distance);
}

/* Maps memory for the stubs of a module, all of which jump to `target`. */
static inline unsigned char *switched_stubs(
	const struct instrumented_module *module, void (*target)(void))
{
	const size_t stubs = STUB_BYTES * (size_t)(module->end - module->first);
	const uintptr_t first = (uintptr_t)module->first & ~(SWITCHED_PAGE - 1);
	void (**targets)(void) =
		mmap((void *)(first > SWITCHED_DISTANCE ? first - SWITCHED_DISTANCE
							: first + SWITCHED_DISTANCE),
			STUB_TARGETS * sizeof *targets + stubs, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (targets == MAP_FAILED)
		abort();
	for (unsigned i = 0; i < STUB_TARGETS; i++)
		targets[i] = target;
	return (unsigned char *)targets;
}

static inline void switched_turn_on(unsigned char *stubs, const struct instrumented_module *module,
	const struct site_record *record)
{
	void (**targets)(void) = (void (**)(void))(void *)stubs;
	unsigned char *slot = (unsigned char *)(targets + STUB_TARGETS) +
			      STUB_BYTES * (size_t)(record - module->first);
	const unsigned char *stub = stub_write(slot, record, targets);

	if (!stub)
		abort();
	switched_open(switched_point(record));
	switched_write(switched_point(record), 0xe8, stub);
}
