#include "plan/memory/memory_join.h"

#define SITE_LEARNT (SITE_SEEN | SITE_SHARED | SITE_WAITED)

static void memory_join_vias(struct memory_variable *to, const struct memory_variable *from)
{
	for (uint32_t i = from->via_known; i < MEMORY_VIAS_MAX && from->via[i]; i++) {
		uint32_t at = to->via_known;

		while (at < MEMORY_VIAS_MAX && to->via[at] && to->via[at] != from->via[i])
			at++;
		if (at < MEMORY_VIAS_MAX)
			to->via[at] = from->via[i];
		else
			to->news |= VARIABLE_VIA_LOST;
	}
	to->news |= from->news & VARIABLE_VIA_LOST;
}

static void memory_join_variable(struct contract_memory *memory, const struct memory_variable *from)
{
	const uint16_t learnt = VARIABLE_READ | VARIABLE_WRITTEN | VARIABLE_MANY | VARIABLE_RACED;
	struct memory_variable *to = memory_find_variable(memory, from->name, true);

	if (!to)
		return;
	to->flags |= from->flags & learnt;
	if (to->thread && from->thread && to->thread != from->thread)
		to->flags |= VARIABLE_MANY;
	/* Workers see threads in different orders: the smallest number makes them agree. */
	if (!to->thread || (from->thread && from->thread < to->thread))
		to->thread = from->thread;
	if (!to->allocated_at) {
		to->allocated_at = from->allocated_at;
		to->block_name = from->block_name;
		to->loop = from->loop;
	}
	memory_join_vias(to, from);
	memory_note_news(memory, to);
}

static void memory_join_variables(struct contract_memory *to, struct contract_memory *from)
{
	if (from->news_count <= MEMORY_NEWS_MAX)
		for (uint32_t i = 0; i < from->news_count; i++)
			memory_join_variable(to, &from->variables[from->news[i]]);
	else
		for (uint32_t i = 0; i < from->variable_count; i++)
			if (memory_entry(from, i)->news)
				memory_join_variable(to, memory_entry(from, i));
}

/* Finds or adds a module, by the same rule as the runtime. Returns NULL if there is no room. */
static const struct memory_module *memory_join_find_module(
	struct contract_memory *memory, const struct memory_module *wanted)
{
	struct memory_module *module = memory->modules;

	for (; module < memory->modules + memory->module_count; module++)
		if (module->name == wanted->name && module->fingerprint == wanted->fingerprint &&
			module->count == wanted->count)
			return module;
	if (memory->module_count == MEMORY_MODULES_MAX ||
		wanted->count > MEMORY_SITES_MAX - memory->site_count)
		return NULL;
	*module = *wanted;
	module->first = memory->site_count;
	memory->module_count++;
	memory->site_count += wanted->count;
	return module;
}

static void memory_join_sites(struct contract_memory *to, const struct contract_memory *from)
{
	for (uint32_t i = 0; i < from->module_count; i++) {
		const struct memory_module *module = &from->modules[i];
		const struct memory_module *own = memory_join_find_module(to, module);

		for (uint32_t site = 0; own && site < module->count; site++) {
			to->sites[own->first + site] |=
				from->sites[module->first + site] & SITE_LEARNT;
			if (bitset_has(from->racy_sites, module->first + site))
				memory_note_racy_site(to, own->first + site);
		}
	}
	to->has_waited |= from->has_waited;
	if (to->noted_cost < from->noted_cost)
		to->noted_cost = from->noted_cost;
}

static void memory_join_drop(struct memory_variable *variable)
{
	if (variable->news & VARIABLE_ADDED)
		*variable =
			(struct memory_variable){.name = variable->name, .news = VARIABLE_DROPPED};
}

/* Closes the table, and drops the variables that the round has added. */
static void memory_join_close(struct contract_memory *memory, bool is_one_run)
{
	memory->is_closed = true;
	if (is_one_run)
		return;
	if (memory->news_count <= MEMORY_NEWS_MAX)
		for (uint32_t i = 0; i < memory->news_count; i++)
			memory_join_drop(&memory->variables[memory->news[i]]);
	else
		for (uint32_t i = 0; i < memory->variable_count; i++)
			memory_join_drop(memory_entry(memory, i));
}

bool memory_join(struct contract_memory *const *blocks, unsigned count, bool is_one_run)
{
	bool has_site_news = false, has_points = false, has_lost = false;

	for (unsigned i = 0; i < count; i++)
		has_site_news |= blocks[i]->has_site_news;
	/* Joins all blocks into the first one, then copies the first block into the others. */
	for (unsigned i = 1; i < count; i++) {
		memory_join_variables(blocks[0], blocks[i]);
		if (has_site_news)
			memory_join_sites(blocks[0], blocks[i]);
	}
	for (unsigned i = 1; i < count; i++) {
		memory_join_variables(blocks[i], blocks[0]);
		if (has_site_news)
			memory_join_sites(blocks[i], blocks[0]);
	}
	for (unsigned i = 0; i < count; i++)
		has_lost |= blocks[i]->has_lost;
	for (unsigned i = 0; i < count; i++) {
		if (has_lost)
			memory_join_close(blocks[i], is_one_run);
		has_points |= memory_settle(blocks[i]);
	}
	return has_points;
}
