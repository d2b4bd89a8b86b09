/*
 * A module of the target, with its load address and its *place*. A place is a stand-in for an address, equal in every
 * process, from a range that the kernel never uses. Where the kernel loads modules at random, places identify code.
 */
#ifndef RADDLE_MODEL_CODE_MODULE_H
#define RADDLE_MODEL_CODE_MODULE_H

#include <stdint.h>

#define CODE_MODULES_MAX 128

struct code_module {
	uint64_t start, end; /* load addresses in this process */
	uint64_t place;	     /* place of `start` */
};

/* Translates an address of this process into its place. An address outside of all modules is returned as it is. */
static inline uint64_t code_module_place(
	const struct code_module *modules, uint32_t count, uint64_t address)
{
	for (uint32_t i = 0; i < count && i < CODE_MODULES_MAX; i++)
		if (address - modules[i].start < modules[i].end - modules[i].start)
			return modules[i].place + (address - modules[i].start);
	return address;
}

/* Translates a place into the address in this process. A value that is no place is returned as it is. */
static inline uint64_t code_module_address(
	const struct code_module *modules, uint32_t count, uint64_t place)
{
	for (uint32_t i = 0; i < count && i < CODE_MODULES_MAX; i++)
		if (place - modules[i].place < modules[i].end - modules[i].start)
			return modules[i].start + (place - modules[i].place);
	return place;
}

#endif
