/* What chosen.c (sites of variables that the user names) and chosen_groups.c (of any) share. */
#ifndef RADDLE_PLAN_CHOSEN_INTERNAL_H
#define RADDLE_PLAN_CHOSEN_INTERNAL_H

#include "bitcode/bitcode.h"
#include "plan/chosen.h"

/* The files that are analysed, the program's first. */
struct chosen_files {
	char **paths;
	uint32_t count;
};

/* What the analysis says of groups. */
struct chosen_grouping {
	const struct points_to *result;
	const struct chosen *chosen;
	const struct chosen_files *files;
	uint64_t *touching; /* by variable: a set of groups, by the numbers they were found in */
	uint16_t *number;   /* of those: as the block has them */
	uint32_t count;
};

#define CHOSEN_GROUP_WORDS (MEMORY_GROUPS_MAX / 64)

static inline uint64_t *chosen_touching(const struct chosen_grouping *grouping, uint32_t variable)
{
	return &grouping->touching[(size_t)variable * CHOSEN_GROUP_WORDS];
}

/* The module of the block that a file is loaded as; UINT32_MAX: the process has not loaded it like this. */
uint32_t chosen_module_in(const struct contract_memory *memory, const struct chosen_module *module);

/* `chosen` holds the modules of the files. */
void chosen_write_groups(const struct chosen *chosen, const struct chosen_files *files,
	const struct points_to *result, struct contract_memory *memory);
/* chosen_objects.c: which groups may touch what has an address. */
void chosen_write_objects(const struct chosen_grouping *grouping, struct contract_memory *memory);

#endif
