/*
 * A preloaded runtime that switches sites on and counts them: the cost of the sites alone. COUNTING=off: the program
 * executes the versions with sites, all off; =all: all on; =NAME: the sites of a variable are on. These sites are
 * found by address: the variable is exported.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "support/switched_sites.h"

uint64_t counting_hits __attribute__((visibility("hidden")));

__attribute__((visibility("hidden"))) void count(void); /* counting.S */

/* Returns whether the record's operand, leaq disp32(%rip), %r10, leads to the variable. */
static bool leads_to(const struct site_record *record, uintptr_t variable)
{
	const unsigned char *operand = record->operand;
	int32_t distance;

	if (operand[0] != 0x4c || operand[1] != 0x8d || operand[2] != 0x15)
		return false;
	memcpy(&distance, operand + 3, sizeof distance);
	return (uintptr_t)operand + 7 + (uintptr_t)(intptr_t)distance == variable;
}

static bool is_wanted(const struct site_record *record, const char *wanted, uintptr_t variable)
{
	if (record->kind == SITE_OPAQUE || strcmp(wanted, "off") == 0)
		return false;
	if (strcmp(wanted, "all") == 0)
		return true;
	return record->kind < SITE_FUNCTION_ENTRY && leads_to(record, variable);
}

__attribute__((visibility("default"))) void raddle_module_loaded(
	const struct instrumented_module *module)
{
	const char *wanted = getenv("COUNTING");
	unsigned char *stubs;
	uintptr_t variable;

	if (!wanted)
		return;
	variable = (uintptr_t)dlsym(RTLD_DEFAULT, wanted);
	stubs = switched_stubs(module, count);
	for (const struct site_record *r = module->first; r < module->end; r++) {
		switched_leave_native(r);
		if (is_wanted(r, wanted, variable))
			switched_turn_on(stubs, module, r);
	}
}

__attribute__((destructor)) static void say(void)
{
	if (getenv("COUNTING"))
		(void)fprintf(stderr, "%llu\n", (unsigned long long)counting_hits);
}
