#include "plan/memory/memory_join.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define BLOCKS 3

/* Large and sparse, as in the contract. */
static struct contract_memory *block_new(void)
{
	void *memory = mmap(NULL, sizeof(struct contract_memory), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

static void blocks_new(struct contract_memory **blocks)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = block_new();
}

static void blocks_free(struct contract_memory **blocks)
{
	for (int i = 0; i < BLOCKS; i++)
		assert_int_equal(munmap(blocks[i], sizeof(struct contract_memory)), 0);
}

static struct memory_variable *find(struct contract_memory *memory, variable_name name)
{
	uint32_t slot = memory_variable_slot(name);

	while (memory->variables[slot].name && memory->variables[slot].name != name)
		slot = (slot + 1) % MEMORY_VARIABLES_MAX;
	return &memory->variables[slot];
}

/* A run of this worker has touched the variable. */
static struct memory_variable *touch(
	struct contract_memory *memory, variable_name name, thread_name thread, uint16_t flags)
{
	struct memory_variable *variable = memory_restore_variable(memory, name);

	if (!variable->thread)
		variable->thread = thread;
	variable->flags |= flags | (variable->thread == thread ? 0 : VARIABLE_MANY);
	if (!(variable->news & VARIABLE_NEWS))
		memory->news[memory->news_count++] = (uint32_t)(variable - memory->variables);
	variable->news |= VARIABLE_NEWS;
	return variable;
}

static void assert_equal_variables(struct contract_memory **blocks, variable_name name)
{
	const struct memory_variable *first = find(blocks[0], name);

	assert_true(first->name == name);
	for (int i = 1; i < BLOCKS; i++) {
		const struct memory_variable *other = find(blocks[i], name);

		assert_true(other->name == name);
		assert_true(other->thread == first->thread);
		assert_int_equal(other->flags, first->flags);
		assert_memory_equal(other->via, first->via, sizeof first->via);
		assert_int_equal(other->via_known, first->via_known);
		assert_int_equal(other->news, 0);
	}
}

static void test_memory_join__shares_what_two_workers_saw_one_thread_each_do(void **unused)
{
	struct contract_memory *blocks[BLOCKS];

	(void)unused;
	blocks_new(blocks);
	touch(blocks[1], 77, 5, VARIABLE_WRITTEN);
	touch(blocks[2], 77, 4, VARIABLE_READ);
	touch(blocks[2], 78, 4, VARIABLE_READ);
	assert_true(memory_join(blocks, BLOCKS, false));
	assert_equal_variables(blocks, 77);
	assert_equal_variables(blocks, 78);
	assert_true(find(blocks[0], 77)->flags & VARIABLE_POINT);
	assert_false(find(blocks[0], 78)->flags & VARIABLE_POINT);
	for (int i = 0; i < BLOCKS; i++) {
		assert_int_equal(blocks[i]->variable_count, 2);
		assert_int_equal(blocks[i]->news_count, 0);
		assert_int_equal(blocks[i]->version, 1);
		assert_int_equal(blocks[i]->points_version, 1);
		assert_true(memory_may_be_point(blocks[i], 77));
		assert_false(memory_may_be_point(blocks[i], 78));
	}
	/* Known facts are no news. */
	touch(blocks[0], 77, 5, VARIABLE_READ);
	assert_false(memory_join(blocks, BLOCKS, false));
	assert_int_equal(blocks[2]->version, 2);
	assert_int_equal(blocks[2]->points_version, 1);
	blocks_free(blocks);
}

static uint32_t count_points(struct contract_memory *memory)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < memory->variable_count; i++)
		count += (memory_entry(memory, i)->flags & VARIABLE_POINT) != 0;
	return count;
}

/* The same touches, dealt out to workers otherwise. */
static void test_memory_join__is_independent_of_the_learner(void **unused)
{
	struct contract_memory *blocks[BLOCKS], *alone[BLOCKS];

	(void)unused;
	blocks_new(blocks);
	blocks_new(alone);
	for (variable_name name = 1; name <= 200; name++)
		for (thread_name thread = 1; thread <= 1 + name % 3; thread++) {
			const uint16_t flags = name % 2 ? VARIABLE_WRITTEN : VARIABLE_READ;

			touch(blocks[(name + thread) % BLOCKS], name * 977, 9 - thread, flags);
			touch(alone[0], name * 977, 9 - thread, flags);
		}
	assert_int_equal(memory_join(blocks, BLOCKS, false), memory_join(alone, BLOCKS, false));
	for (variable_name name = 1; name <= 200; name++) {
		assert_equal_variables(blocks, name * 977);
		assert_equal_variables(alone, name * 977);
		assert_int_equal(
			find(blocks[0], name * 977)->flags, find(alone[0], name * 977)->flags);
	}
	assert_int_equal(count_points(blocks[1]), count_points(alone[2]));
	assert_true(count_points(alone[0]) > 50);
	blocks_free(blocks);
	blocks_free(alone);
}

static void add_via(struct memory_variable *variable, uint16_t group)
{
	int i = 0;

	while (variable->via[i])
		i++;
	variable->via[i] = group;
}

static void test_memory_join__keeps_disjoint_groups(void **unused)
{
	struct contract_memory *blocks[BLOCKS];
	const struct memory_variable *joined;

	(void)unused;
	blocks_new(blocks);
	for (int i = 0; i < BLOCKS; i++) /* groups 3 and 4, as they are written in via[] */
		blocks[i]->overlaps[2][0] = 1u << 3;
	add_via(touch(blocks[0], 7, 1, VARIABLE_READ), 9);
	add_via(touch(blocks[1], 7, 1, VARIABLE_READ), 4);
	add_via(touch(blocks[2], 7, 1, VARIABLE_READ), 3);
	(void)memory_join(blocks, BLOCKS, false);
	assert_equal_variables(blocks, 7);
	joined = find(blocks[0], 7);
	assert_int_equal(joined->via_known, 2);
	assert_int_equal(joined->via[0], 3);
	assert_int_equal(joined->via[1], 9);
	/* More than there is room for. */
	for (uint16_t group = 10; group < 13; group++)
		add_via(touch(blocks[group % BLOCKS], 7, 1, VARIABLE_READ), group);
	(void)memory_join(blocks, BLOCKS, false);
	assert_equal_variables(blocks, 7);
	assert_int_equal(find(blocks[0], 7)->via[0], MEMORY_VIA_UNKNOWN);
	blocks_free(blocks);
}

/* Modules are identified by name and fingerprint, wherever their sites lie in each block. */
static void test_memory_join__joins_sites_by_module(void **unused)
{
	const struct memory_module one = {.name = 11, .fingerprint = 1, .count = 10};
	const struct memory_module two = {.name = 12, .fingerprint = 2, .count = 20};
	struct contract_memory *blocks[BLOCKS];

	(void)unused;
	blocks_new(blocks);
	blocks[0]->modules[0] = one;
	blocks[0]->modules[1] = two;
	blocks[0]->modules[1].first = 10;
	blocks[0]->module_count = 2;
	blocks[0]->site_count = 30;
	blocks[1]->modules[0] = two;
	blocks[1]->module_count = 1;
	blocks[1]->site_count = 20;
	blocks[0]->sites[10 + 3] = SITE_SEEN | SITE_ON;
	blocks[1]->sites[3] = SITE_SHARED;
	blocks[1]->has_site_news = true;
	(void)memory_join(blocks, BLOCKS, false);
	assert_int_equal(blocks[0]->sites[13], SITE_SEEN | SITE_ON | SITE_SHARED);
	assert_int_equal(blocks[1]->sites[3], SITE_SEEN | SITE_SHARED);
	for (int i = 0; i < BLOCKS; i++) {
		assert_int_equal(blocks[i]->module_count, 2);
		assert_int_equal(blocks[i]->site_count, 30);
		assert_false(blocks[i]->has_site_news);
	}
	assert_true(blocks[1]->modules[1].name == 11);
	assert_int_equal(blocks[1]->modules[1].first, 20);
	blocks_free(blocks);
}

static void test_memory_join__shares_racy_sites(void **unused)
{
	const struct memory_module module = {.name = 11, .fingerprint = 1, .count = 100};
	struct contract_memory *blocks[BLOCKS];

	(void)unused;
	blocks_new(blocks);
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i]->mode = MEMORY_RACY_SITES;
		blocks[i]->modules[0] = module;
		blocks[i]->module_count = 1;
		blocks[i]->site_count = 100;
	}
	memory_note_racy_site(blocks[2], 70);
	assert_true(memory_join(blocks, BLOCKS, false));
	for (int i = 0; i < BLOCKS; i++) {
		assert_true(bitset_has(blocks[i]->racy_sites, 70));
		assert_int_equal(blocks[i]->points_version, 1);
	}
	memory_note_racy_site(blocks[1], 70);
	assert_false(memory_join(blocks, BLOCKS, false));
	blocks_free(blocks);
}

/* Room for three more variables; variable 1 is known. */
static void fill(struct contract_memory **blocks)
{
	for (int i = 0; i < BLOCKS; i++)
		(void)memory_find_variable(blocks[i], 1, true);
	(void)memory_join(blocks, BLOCKS, true);
	for (int i = 0; i < BLOCKS; i++)
		blocks[i]->variable_count = MEMORY_VARIABLES_ROOM - 3;
}

static void find_more(struct contract_memory *memory, variable_name from, variable_name to)
{
	for (variable_name name = from; name <= to; name++)
		(void)memory_find_variable(memory, name, true);
}

static void assert_knows(struct contract_memory **blocks, variable_name name, bool is_known)
{
	for (int i = 0; i < BLOCKS; i++)
		assert_int_equal(memory_find_variable(blocks[i], name, true) != NULL, is_known);
}

/* Four new variables: no worker alone has too many, or one worker has. */
static void test_memory_join__drops_what_a_full_table_cannot_take(void **unused)
{
	for (int share = 1; share <= 4; share++) {
		struct contract_memory *blocks[BLOCKS];

		(void)unused;
		blocks_new(blocks);
		fill(blocks);
		touch(blocks[2], 1, 5, VARIABLE_WRITTEN);
		touch(blocks[1], 1, 6, VARIABLE_READ);
		find_more(blocks[0], 11, 10 + (variable_name)share);
		find_more(blocks[1], 11 + (variable_name)share, 14);
		assert_true(memory_join(blocks, BLOCKS, false));
		assert_knows(blocks, 1, true);
		assert_equal_variables(blocks, 1);
		assert_true(find(blocks[0], 1)->flags & VARIABLE_POINT);
		for (variable_name name = 11; name <= 14; name++)
			assert_knows(blocks, name, false);
		assert_false(memory_join(blocks, BLOCKS, false));
		assert_knows(blocks, 11, false);
		assert_knows(blocks, 20, false);
		blocks_free(blocks);
	}
}

/* The order within the run decides, in whichever worker. */
static void test_memory_join__keeps_what_one_run_found_room_for(void **unused)
{
	for (int worker = 0; worker < BLOCKS; worker++) {
		struct contract_memory *blocks[BLOCKS];

		(void)unused;
		blocks_new(blocks);
		fill(blocks);
		find_more(blocks[worker], 11, 14);
		(void)memory_join(blocks, BLOCKS, true);
		for (variable_name name = 11; name <= 14; name++)
			assert_knows(blocks, name, name < 14);
		assert_knows(blocks, 20, false);
		blocks_free(blocks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_join__shares_what_two_workers_saw_one_thread_each_do),
		cmocka_unit_test(test_memory_join__is_independent_of_the_learner),
		cmocka_unit_test(test_memory_join__keeps_disjoint_groups),
		cmocka_unit_test(test_memory_join__joins_sites_by_module),
		cmocka_unit_test(test_memory_join__shares_racy_sites),
		cmocka_unit_test(test_memory_join__drops_what_a_full_table_cannot_take),
		cmocka_unit_test(test_memory_join__keeps_what_one_run_found_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
