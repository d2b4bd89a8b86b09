/*
 * Where a module of the target is loaded, and its *place*: addresses in a range that the kernel never gives out, equal in every
 * process. Where the kernel loads modules at random, code is known to raddle by its place only.
 */
#ifndef RADDLE_MODEL_CODE_MODULE_H
#define RADDLE_MODEL_CODE_MODULE_H

#include <stdint.h>

#define CODE_MODULES_MAX 128

struct code_module {
	uint64_t start, end; /* in this process */
	uint64_t place;	     /* of its start */
};

/* The place of an address; the address itself where no module is there. */
static inline uint64_t code_module_place(
	const struct code_module *modules, uint32_t count, uint64_t address)
{
	for (uint32_t i = 0; i < count && i < CODE_MODULES_MAX; i++)
		if (address - modules[i].start < modules[i].end - modules[i].start)
			return modules[i].place + (address - modules[i].start);
	return address;
}

/* The address in this process of a place. */
static inline uint64_t code_module_address(
	const struct code_module *modules, uint32_t count, uint64_t place)
{
	for (uint32_t i = 0; i < count && i < CODE_MODULES_MAX; i++)
		if (place - modules[i].place < modules[i].end - modules[i].start)
			return modules[i].start + (place - modules[i].place);
	return place;
}

#endif
