/*
 * A preloaded runtime that switches sites on and counts them: the cost of the sites alone.
 * COUNTING=all, or =NAME for the sites whose line mentions a variable. These sites are found by
 * address: the variable is exported (its name is looked up), and a first run logs all its sites.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "abi/instrument_abi.h"

uint64_t counting_hits __attribute__((visibility("hidden")));

static unsigned char *point_of(const struct site_record *record)
{
	return (unsigned char *)(uintptr_t)&record->point + record->point;
}

static void switch_on(const struct site_record *record)
{
	unsigned char *point = point_of(record);
	const unsigned char *stub = (const unsigned char *)&record->stub + record->stub;
	const int32_t distance = (int32_t)(stub - (point + 5));

	point[0] = 0xe8;
	memcpy(point + 1, &distance, sizeof distance);
}

/* Does the stub's address operand lead to the variable? Stub: popq %r11 (2 bytes), leaq disp32(%rip), %r10. */
static int leads_to(const struct site_record *record, uintptr_t variable)
{
	const unsigned char *stub = (const unsigned char *)&record->stub + record->stub;
	int32_t distance;

	if (stub[2] != 0x4c || stub[3] != 0x8d || stub[4] != 0x15)
		return 0;
	memcpy(&distance, stub + 5, sizeof distance);
	return (uintptr_t)stub + 9 + (uintptr_t)(intptr_t)distance == variable;
}

__attribute__((visibility("default"))) void raddle_module_loaded(
	const struct instrumented_module *module)
{
	const char *wanted = getenv("COUNTING");
	uintptr_t first = UINTPTR_MAX;
	uintptr_t end = 0;
	uintptr_t variable;

	if (!wanted)
		return;
	variable = (uintptr_t)dlsym(RTLD_DEFAULT, wanted);
	for (const struct site_record *r = module->first; r < module->end; r++) {
		const uintptr_t point = (uintptr_t)point_of(r);

		if (r->kind == SITE_OPAQUE)
			continue;
		first = point < first ? point : first;
		end = point + 5 > end ? point + 5 : end;
	}
	first &= ~(uintptr_t)4095;
	if (mprotect((void *)first, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		abort();
	for (const struct site_record *r = module->first; r < module->end; r++)
		if (r->kind < SITE_FUNCTION_ENTRY &&
			(strcmp(wanted, "all") == 0 || leads_to(r, variable)))
			switch_on(r);
}

__attribute__((destructor)) static void say(void)
{
	if (getenv("COUNTING"))
		(void)fprintf(stderr, "%llu\n", (unsigned long long)counting_hits);
}
