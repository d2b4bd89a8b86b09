/* Environment for tests of memory accesses: two threads, addresses that serve as names, sites that
 * are bytes. The tested files of the runtime are part of the test program, because a process with
 * the loaded library would itself be under control. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/memory_settle.c"
#include "runtime/contexts.h"
#include "runtime/sites/filter.c"
#include "runtime/memory/main_locals.c"
#include "runtime/memory/awaited.c"
#include "runtime/memory/memory_variable.c"
#include "runtime/memory/memory_waits.c"
#include "runtime/memory/reported.c"
#include "runtime/memory/memory.c"
#include "runtime/memory/memory_freed.c"
#include "runtime/memory/memory_prepare.c"
#include "runtime/sites/quick.c"
#include "runtime/memory/sampling.c"
#include "runtime/memory/site_visit.c"
#include "runtime/memory/strengthened.c"

static struct contract contract;
static struct contract_memory *memory;
static struct engine_thread threads[2] = {{.name = 1}, {.name = 2, .id = {1}}};
static struct engine_thread *current = threads;
static struct engine_op last_op;
static unsigned points, notes, switches, gave_way, turns;
static uint64_t step;
static uintptr_t unnamed;      /* an address without a quick name */
static uint8_t kind_of_sites;  /* enum site_kind of every site */
static uint8_t flags_of_sites; /* SITE_WAITS or 0 */
static bool has_lasting_names = true;
static uint64_t lives; /* blocks that have lain there: names differ */
static unsigned names_made, turned_off;

struct runtime runtime = {.contract = &contract};
uint8_t sites_are_live;
struct contract_quick *sites_quick;
struct quick_now sites_now;
const uint8_t filter_all[FILTER_LINES]; /* the address alone counts */
const uint8_t *filter_lines = filter_all;

struct contract_memory *sites_memory(void)
{
	return memory;
}

void contexts_note(const struct site_record *record, uintptr_t frame)
{
	(void)record;
	(void)frame;
}

/* Returns the number of variables whose accesses are scheduling points. */
static inline uint32_t count_points(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < memory->variable_count; i++)
		count += (memory_entry(memory, i)->flags & VARIABLE_POINT) != 0;
	return count;
}

bool undo_has_shared(void)
{
	return false;
}

/* The runs are sequentially consistent. */
bool engine_has_store_buffers(void)
{
	return false;
}

bool engine_has_buffered(void)
{
	return false;
}

void engine_note_feature(enum feature feature)
{
	(void)feature;
}

enum memory_model engine_memory_model(void)
{
	return MEMORY_MODEL_SC;
}

void c11_access(const struct engine_op *op, bool is_point)
{
	(void)op;
	(void)is_point;
}

void engine_note_point(const struct engine_op *op)
{
	(void)op;
}

bool c11_knows(const void *start, size_t bytes)
{
	(void)start;
	return bytes == 0;
}

void c11_forget(const void *start, size_t bytes)
{
	(void)start;
	(void)bytes;
}

void engine_note_direct_access(const struct engine_op *op)
{
	(void)op;
}

void engine_drain_freed(const void *start, size_t bytes)
{
	(void)start;
	(void)bytes;
}

bool memory_write_is_direct(const struct memory_access *access)
{
	(void)access;
	return false;
}

bool memory_buffer_write(const struct memory_visit *visit)
{
	(void)visit;
	return false;
}

/* Threads are never cancelled. */
void runtime_test_cancel_anywhere(void)
{
}

/* Nothing is on the heap. */
bool heap_find_any(const void *address, struct heap_block *out)
{
	(void)address;
	(void)out;
	return false;
}

/* The one live block. */
static struct heap_block live = {.start = 0x800, .bytes = 64};

/* All that has a name is static data. */
bool engine_static_location(const void *address, uint32_t *module, uint64_t *offset)
{
	*module = 0;
	*offset = (uintptr_t)address;
	return true;
}

const void *engine_static_address(uint32_t module, uint64_t offset)
{
	return module ? NULL : (const void *)offset;
}

variable_name engine_static_name(const void *address)
{
	return memory_variable_name(address);
}

void heap_each(void (*visit)(const struct heap_block *block))
{
	visit(&live);
}

bool heap_find(const void *address, struct heap_block *out)
{
	*out = live;
	return (uintptr_t)address - live.start < live.bytes;
}

/* Memory up to there was freed. */
static uintptr_t freed_end;
static struct outcome failed;

/* Stacks belong to other threads. A function has returned if its frame lies below left_end. */
static uintptr_t left_end;
static unsigned left_frames;

bool memory_is_first_on_other_stack(const void *address, object_name variable)
{
	(void)variable;
	return (uintptr_t)address < left_end;
}

void memory_forget_strangers(void)
{
}

void memory_check_left_frame(const struct memory_access *access)
{
	left_frames += (uintptr_t)access->address < left_end;
}

bool heap_was_freed(const void *address, struct heap_free *out)
{
	*out = (struct heap_free){.site = 70, .step = 7, .thread = {1}};
	return (uintptr_t)address < freed_end;
}

void outcome_set(struct outcome *outcome, enum outcome_kind kind, struct thread_id thread, int code)
{
	*outcome = (struct outcome){.kind = (uint16_t)kind, .thread = thread, .code = code};
}

void engine_fail_by_verdict(const struct outcome *verdict)
{
	failed = *verdict;
}

bool sites_switch(bool (*is_on)(const struct site_record *record, uint8_t *state))
{
	const struct {
		struct site_record record;
		uint8_t flags;
	} site = {.record = {.info = (int32_t)(sizeof site.record -
					       offsetof(struct site_record, info)),
			  .kind = kind_of_sites},
		.flags = flags_of_sites};

	switches++;
	for (uint32_t i = 0; i < memory->site_count; i++)
		(void)is_on(&site.record, &memory->sites[i]);
	return true;
}

void site_turn_off(const struct site_record *record)
{
	(void)record;
	turned_off++;
}

uint32_t site_index(const struct site_record *record)
{
	(void)record;
	return UINT32_MAX;
}

uint8_t *site_state(const struct site_record *record)
{
	(void)record;
	return &memory->sites[0];
}

variable_name memory_variable_name(const void *address)
{
	names_made++;
	return (variable_name)((uintptr_t)address / 8 + 1) + (lives << 32);
}

variable_name memory_lasting_name(const void *address, bool *is_freed)
{
	*is_freed = (uintptr_t)address < freed_end;
	return has_lasting_names ? memory_quick_name(address) : 0;
}

variable_name memory_quick_name(const void *address)
{
	return (uintptr_t)address / 8 == unnamed / 8 ? 0 : memory_variable_name(address);
}

/* Runs are not recorded. */
bool record_is_on(void)
{
	return false;
}

bool record_quickly(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame)
{
	(void)site;
	(void)address;
	(void)length;
	(void)frame;
	return false;
}

void record_settle(const struct site_record *site, bool is_point)
{
	(void)site;
	(void)is_point;
}

void record_resume(void)
{
}

bool record_may_end_turn(const struct site_record *site)
{
	(void)site;
	return false;
}

bool record_turn_is_over(void)
{
	return false;
}

void record_report(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame)
{
	(void)site;
	(void)address;
	(void)length;
	(void)frame;
}

void spinning_note(const struct memory_access *access)
{
	(void)access;
}

bool guarded_read(const void *address, size_t bytes, uint64_t *value)
{
	*value = 0;
	memcpy(value, address, bytes);
	return true;
}

size_t guarded_string_bytes(const char *string, size_t most)
{
	size_t length = strlen(string) + 1;

	return length < most ? length : most;
}

bool engine_is_live(void)
{
	return true;
}

struct engine_thread *engine_current(void)
{
	return current;
}

uint64_t engine_step(void)
{
	return step;
}

void engine_spin_point(uint64_t site)
{
	(void)site;
	turns++;
}

void engine_clock_note_calls(uint32_t count)
{
	(void)count;
}

void engine_delay_current(void)
{
	gave_way++;
}

void engine_delay_repeating(void)
{
	gave_way++;
}

/* The strategy never requires that a thread continues. */
bool engine_must_continue(void)
{
	return false;
}

/* Accesses that need no decision behind one that did. */
static int64_t lease;

enum engine_result engine_perform(struct engine_op *op)
{
	last_op = *op;
	points++;
	step++;
	if (sites_now.engine.wants_lease)
		sites_now.engine.lease = lease;
	return WAIT_DONE;
}

/* Accesses reported past the engine, if the detector accepts them. */
static bool reports_quickly;
static unsigned reported;

bool runtime_detect_quickly(const struct memory_access *access, enum op_kind kind, object_name name)
{
	(void)kind;
	(void)access;
	(void)name;
	reported += reports_quickly;
	return reports_quickly;
}

/* The detector of races: accesses on the fastest path, and whether that path suffices. */
static bool has_detector, passes_plain;
static unsigned reported_plainly;

bool runtime_looks_for_races(void)
{
	return runtime.contract->plan.detectors;
}

void *runtime_detects_quickly(void)
{
	return has_detector ? &has_detector : NULL;
}

bool race_passes_plain(void *race, const struct race_plain *access, uint32_t *allocation_site)
{
	(void)race;
	(void)access;
	(void)allocation_site;
	reported_plainly += passes_plain;
	return passes_plain;
}

void engine_count_epochs(struct engine_epochs *epochs)
{
	(void)epochs;
}

void engine_report_rest(void)
{
}

static unsigned leases_ended;

void engine_end_lease(void)
{
	leases_ended++;
	sites_now.engine.lease = 0;
}

uint32_t engine_thread_count(void)
{
	return 2;
}

void engine_note_access(const struct engine_op *op)
{
	(void)op;
	notes++;
}

static inline int set_up(void **state)
{
	(void)state;
	free(memory);
	memory = calloc(1, sizeof *memory);
	contract = (struct contract){.has_memory_sites = 1};
	runtime.is_forked_child = runtime.is_run_over = false;
	lease = 0;
	points = notes = switches = gave_way = turns = 0;
	kind_of_sites = SITE_LOAD;
	flags_of_sites = 0;
	waiting.visits = 0;
	unnamed = 1;
	freed_end = 0;
	left_end = 0;
	left_frames = 0;
	failed = (struct outcome){0};
	lives = 0;
	reports_quickly = false;
	reported = reported_plainly = 0;
	has_detector = passes_plain = false;
	sites_are_live = SITES_OFF;
	sites_now.left = (int32_t)PROFILE_COST_ACCESSES;
	has_lasting_names = true;
	if (!memory)
		return -1;
	memory->site_count = 4;
	return 0;
}

static inline void access_by(
	unsigned thread, uint32_t site, uint8_t kind, uintptr_t address, size_t bytes)
{
	const struct memory_access access = {.address = (const void *)address,
		.bytes = bytes,
		.kind = kind,
		.site_state = &memory->sites[site]};

	current = &threads[thread];
	memory_access(&access);
}

static inline void run(uint64_t number)
{
	points = 0;
	memory_prepare_run(number);
	memory_switch_sites();
}

static inline bool is_on(uint32_t site)
{
	return memory->sites[site] & SITE_ON;
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

static inline int tear_down(void **state)
{
	(void)state;
	free(memory);
	return 0;
}
