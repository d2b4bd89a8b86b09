/* chosen.c: sites of variables that the user names. chosen_groups.c: sites of all variables. */
#pragma once

#include "bitcode/bitcode.h"
#include "plan/memory/chosen.h"

struct chosen_files {
	char **paths;
	uint32_t count;
};

struct chosen_grouping {
	const struct points_to *result;
	const struct chosen *chosen;
	const struct chosen_files *files;
	/* by variable: a bit set of groups, numbered in the order of their discovery */
	uint64_t *touching;
	uint16_t *number; /* number in the block, by number of discovery */
	uint32_t count;
};

#define CHOSEN_GROUP_WORDS (MEMORY_GROUPS_MAX / 64)

static inline uint64_t *chosen_touching(const struct chosen_grouping *grouping, uint32_t variable)
{
	return &grouping->touching[(size_t)variable * CHOSEN_GROUP_WORDS];
}

/* Returns the index of the file's module in the process. UINT32_MAX: the process has not loaded
 * this version of the file. */
uint32_t chosen_module_in(const struct contract_memory *memory, const struct chosen_module *module);

/* `chosen` holds the modules of the files. */
void chosen_write_groups(const struct chosen *chosen, const struct chosen_files *files,
	const struct points_to *result, struct contract_memory *memory);
/* Writes which groups may touch objects with a known address (chosen_objects.c). */
void chosen_write_objects(const struct chosen_grouping *grouping, struct contract_memory *memory);
