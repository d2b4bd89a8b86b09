#include "abi/memory_settle.h"

#include "base/bitset.h"

/* Sorts the groups, so that the result does not depend on the worker that noted them. */
static void memory_settle_sort_vias(
	const struct contract_memory *memory, struct memory_variable *variable)
{
	uint16_t *via = variable->via;
	uint32_t known = variable->via_known;

	if (variable->news & VARIABLE_VIA_LOST)
		via[0] = MEMORY_VIA_UNKNOWN;
	if (via[0] == MEMORY_VIA_UNKNOWN) {
		for (uint32_t i = 1; i < MEMORY_VIAS_MAX; i++)
			via[i] = 0;
		variable->via_known = 1;
		return;
	}
	for (uint32_t i = known; i < MEMORY_VIAS_MAX && via[i]; i++)
		for (uint32_t j = i; j > known && via[j - 1] > via[j]; j--) {
			const uint16_t larger = via[j - 1];

			via[j - 1] = via[j];
			via[j] = larger;
		}
	for (uint32_t i = known; i < MEMORY_VIAS_MAX && via[i]; i++) {
		const uint16_t group = via[i];
		bool is_overlapping = false;

		via[i] = 0;
		for (uint32_t j = 0; j < known; j++)
			is_overlapping |= bitset_has(memory->overlaps[via[j] - 1], group - 1u);
		if (!is_overlapping)
			via[known++] = group;
	}
	variable->via_known = (uint8_t)known;
}

/* Returns whether the variable has become a point, or racy. */
static bool memory_settle_variable(struct contract_memory *memory, struct memory_variable *variable)
{
	const uint16_t before = variable->flags;

	if (variable->news & VARIABLE_DROPPED)
		return false;
	memory_settle_sort_vias(memory, variable);
	variable->news = 0;
	if (memory_flags_shared(before))
		memory_make_point(memory, variable);
	if (before & VARIABLE_RACED)
		variable->flags |= VARIABLE_RACY;
	return variable->flags != before;
}

bool memory_settle(struct contract_memory *memory)
{
	bool has_points = memory->newly_racy;

	if (memory->news_count <= MEMORY_NEWS_MAX)
		for (uint32_t i = 0; i < memory->news_count; i++)
			has_points |=
				memory_settle_variable(memory, &memory->variables[memory->news[i]]);
	else
		for (uint32_t i = 0; i < memory->variable_count; i++)
			if (memory_entry(memory, i)->news)
				has_points |=
					memory_settle_variable(memory, memory_entry(memory, i));
	memory->news_count = memory->has_site_news = memory->newly_shared = memory->has_lost = 0;
	memory->newly_racy = 0;
	memory->profile_cost = memory->noted_cost;
	memory->version++;
	if (has_points)
		memory->points_version = memory->version;
	return has_points;
}

void memory_forget_seen_sites(struct contract_memory *memory)
{
	for (uint32_t i = 0; i < memory->site_count; i++)
		if (!(memory->sites[i] & SITE_SHARED))
			memory->sites[i] &= (uint8_t)~SITE_SEEN;
}
