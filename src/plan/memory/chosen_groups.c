/* Groups of sites that may touch the same variables (chosen.h), for runtime/focus.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bitset.h"
#include "plan/memory/chosen_internal.h"

struct group {
	/* representative of the group: all its sites may touch the same variables */
	const struct points_to_site *like;
	uint32_t site_count;
	uint32_t overlapping; /* number of sites that may touch one of these variables */
};

struct grouping {
	const struct points_to *result;
	struct group *groups;
	uint32_t count;
	uint16_t *of_site;  /* group + 1 by site of the result; 0: the site may touch anything */
	uint64_t *touching; /* by variable: a bit set of groups */
};

static bool chosen_groups_is_equal_site(
	const struct points_to_site *a, const struct points_to_site *b)
{
	return a->is_open == b->is_open && a->variable_count == b->variable_count &&
	       memcmp(a->variables, b->variables, a->variable_count * sizeof *a->variables) == 0;
}

static bool chosen_groups_find_groups(struct grouping *grouping)
{
	for (uint32_t i = 0; i < grouping->result->site_count; i++) {
		const struct points_to_site *site = &grouping->result->sites[i];
		uint32_t at = 0;

		if (site->is_unmatched || (!site->variable_count && !site->is_open))
			continue;
		while (at < grouping->count &&
			!chosen_groups_is_equal_site(grouping->groups[at].like, site))
			at++;
		if (at == MEMORY_GROUPS_MAX)
			return false;
		if (at == grouping->count)
			grouping->groups[grouping->count++].like = site;
		grouping->groups[at].site_count++;
		grouping->of_site[i] = (uint16_t)(at + 1);
	}
	return true;
}

static uint64_t *chosen_groups_touching_of(struct grouping *grouping, uint32_t variable)
{
	return &grouping->touching[(size_t)variable * CHOSEN_GROUP_WORDS];
}

static void chosen_groups_note_touching(struct grouping *grouping)
{
	const struct points_to *result = grouping->result;

	for (uint32_t group = 0; group < grouping->count; group++) {
		const struct points_to_site *site = grouping->groups[group].like;

		for (uint32_t i = 0; i < site->variable_count; i++)
			bitset_add(chosen_groups_touching_of(grouping, site->variables[i]), group);
		for (uint32_t i = 0; site->is_open && i < result->foreign_count; i++)
			bitset_add(chosen_groups_touching_of(grouping, result->foreign[i]), group);
	}
}

static void chosen_groups_add_overlaps(
	struct grouping *grouping, uint32_t variable, uint64_t *overlapping)
{
	for (uint32_t word = 0; word < CHOSEN_GROUP_WORDS; word++)
		overlapping[word] |= chosen_groups_touching_of(grouping, variable)[word];
}

/* Collects the groups that may touch a variable of this group. */
static void chosen_groups_find_overlaps(
	struct grouping *grouping, uint32_t group, uint64_t *overlapping)
{
	const struct points_to_site *site = grouping->groups[group].like;

	memset(overlapping, 0, CHOSEN_GROUP_WORDS * sizeof *overlapping);
	/* the group itself: its sites may touch memory that only code without bitcode knows */
	bitset_add(overlapping, group);
	for (uint32_t i = 0; i < site->variable_count; i++)
		chosen_groups_add_overlaps(grouping, site->variables[i], overlapping);
	for (uint32_t i = 0; site->is_open && i < grouping->result->foreign_count; i++)
		chosen_groups_add_overlaps(grouping, grouping->result->foreign[i], overlapping);
}

/* Sorts groups by the number of sites in conflicting groups; number[]: new index by old index. */
static void chosen_groups_sort_groups(struct grouping *grouping, uint16_t *number)
{
	uint64_t overlapping[CHOSEN_GROUP_WORDS];

	for (uint32_t i = 0; i < grouping->count; i++) {
		chosen_groups_find_overlaps(grouping, i, overlapping);
		bitset_each (other, overlapping, grouping->count)
			grouping->groups[i].overlapping += grouping->groups[other].site_count;
	}
	for (uint32_t i = 0; i < grouping->count; i++) {
		number[i] = 0;
		for (uint32_t j = 0; j < grouping->count; j++)
			number[i] +=
				grouping->groups[j].overlapping < grouping->groups[i].overlapping ||
				(grouping->groups[j].overlapping ==
						grouping->groups[i].overlapping &&
					j < i);
	}
}

static void chosen_groups_write_overlaps(
	struct grouping *grouping, const uint16_t *number, struct contract_memory *memory)
{
	uint64_t overlapping[CHOSEN_GROUP_WORDS];

	for (uint32_t i = 0; i < grouping->count; i++) {
		chosen_groups_find_overlaps(grouping, i, overlapping);
		bitset_each (other, overlapping, grouping->count)
			bitset_add(memory->overlaps[number[i]], number[other]);
	}
}

uint32_t chosen_module_in(const struct contract_memory *memory, const struct chosen_module *module)
{
	for (uint32_t i = 0; i < memory->module_count; i++)
		if (memory->modules[i].name == module->name &&
			memory->modules[i].fingerprint == module->fingerprint &&
			memory->modules[i].count == module->count)
			return i;
	return UINT32_MAX;
}

static void chosen_groups_write_sites(struct grouping *grouping, const uint16_t *number,
	const struct chosen *chosen, struct contract_memory *memory)
{
	for (uint32_t i = 0; i < grouping->result->site_count; i++) {
		const struct points_to_site *site = &grouping->result->sites[i];
		const uint32_t module = grouping->of_site[i] ? chosen_module_in(memory,
								       &chosen->modules[site->file])
							     : UINT32_MAX;

		if (module != UINT32_MAX)
			memory->groups[memory->modules[module].first + site->index] =
				number[grouping->of_site[i] - 1] + 1u;
	}
}

void chosen_write_groups(const struct chosen *chosen, const struct chosen_files *files,
	const struct points_to *result, struct contract_memory *memory)
{
	struct grouping grouping = {.result = result};
	uint16_t *number = array_new(MEMORY_GROUPS_MAX, sizeof *number);

	grouping.groups = array_new(MEMORY_GROUPS_MAX, sizeof *grouping.groups);
	grouping.of_site = array_new(result->site_count + 1u, sizeof *grouping.of_site);
	grouping.touching = array_new(
		((size_t)result->variable_count + 1) * CHOSEN_GROUP_WORDS, sizeof(uint64_t));
	if (chosen_groups_find_groups(&grouping)) {
		chosen_groups_note_touching(&grouping);
		chosen_groups_sort_groups(&grouping, number);
		chosen_groups_write_overlaps(&grouping, number, memory);
		chosen_groups_write_sites(&grouping, number, chosen, memory);
		memory->group_count = grouping.count;
		chosen_write_objects(&(struct chosen_grouping){.result = result,
					     .chosen = chosen,
					     .files = files,
					     .touching = grouping.touching,
					     .number = number,
					     .count = grouping.count},
			memory);
	}
	free(number);
	free(grouping.groups);
	free(grouping.of_site);
	free(grouping.touching);
}
