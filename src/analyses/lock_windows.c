/*
 * Finds a lock that is acquired, released and acquired again within one critical section, with an
 * acquisition by another thread in between. This is AtomFuzzer's pattern, implemented for
 * comparison with raddle's own prediction.
 *
 * Park, Sen, "Randomized Active Atomicity Violation Detection in Concurrent Programs", FSE 2008. A
 * critical section is assumed to be atomic, as in the paper.
 */
#include "analyses/shown.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/order/held_locks.h"
#include "analyses/order/thread_order.h"
#include "base/array.h"

/* Limits: acquisitions of a lock per run, earlier ones examined per section, and candidates. */
#define TAKINGS_MOST 4096
#define WINDOW_TAKINGS 4
#define CANDIDATES_MOST 5000

struct taking {
	uint32_t event;
	uint64_t address;
	uint32_t thread;
	uint32_t context;
	/* step of the outermost lock's acquisition; 0: this is the outermost lock */
	uint64_t section;
	uint64_t section_lock;
	const struct epoch *epoch;
};

struct lock_windows {
	struct candidates found;
};

struct window_search {
	const struct trace_event *events;
	struct thread_order *order;
	struct taking *takings;
	uint32_t count;
	uint32_t run;
	uint64_t only_key;
	/* true: finds windows that the run itself shows; false: windows that another run could
	 * show */
	bool is_shown;
	struct candidates *out;
};

static void *lock_windows_begin(const struct analysis_setting *setting)
{
	(void)setting;
	return array_new(1, sizeof(struct lock_windows));
}

static void lock_windows_add_taking(struct window_search *search, const struct held_locks *held,
	uint32_t index, uint32_t context)
{
	const struct trace_event *event = &search->events[index];
	uint32_t count;
	const struct held_lock *locks = held_locks_of(held, event->thread, &count);

	if (search->count == TAKINGS_MOST)
		return;
	search->takings[search->count++] = (struct taking){
		.event = index,
		.address = event->address,
		.thread = event->thread,
		.context = context,
		.section = count ? locks[0].taken.step + 1 : 0,
		.section_lock = count ? locks[0].address : 0,
		.epoch = thread_order_epoch(search->order, event->thread),
	};
}

/* The active calls of a thread, each with the hash of all calls up to it. */
struct context_walk {
	struct {
		uint64_t frame;
		uint32_t context;
	} calls[128];
	uint32_t depth;
};

static void lock_windows_walk_contexts(struct context_walk *walk, const struct trace_event *event)
{
	const uint64_t limit = event->address + (event->kind == OP_LEAVE);

	while (walk->depth && walk->calls[walk->depth - 1].frame < limit)
		walk->depth--;
	if (event->kind != OP_ENTER || walk->depth == 128)
		return;
	walk->calls[walk->depth].frame = event->address;
	walk->calls[walk->depth++].context = event->object;
}

static void lock_windows_read_takings(
	struct window_search *search, uint32_t count, uint32_t thread_count)
{
	struct held_locks *held = held_locks_new(thread_count);
	FREE_SCOPED struct context_walk *walks = array_new(thread_count + 1u, sizeof *walks);

	for (uint32_t i = 0; i < count; i++) {
		const struct trace_event *event = &search->events[i];
		struct context_walk *walk = &walks[event->thread];

		if (event->kind == OP_ENTER || event->kind == OP_LEAVE) {
			lock_windows_walk_contexts(walk, event);
			continue;
		}
		if (held_locks_effect(held, event) != LOCK_NOTHING)
			lock_windows_add_taking(search, held, i,
				walk->depth ? walk->calls[walk->depth - 1].context : 0);
		thread_order_add_waits(search->order, event);
		held_locks_add(held, event, 0);
	}
	held_locks_free(held);
}

static bool lock_windows_can_interleave(const struct window_search *search,
	const struct taking *first, const struct taking *other, const struct taking *last)
{
	if (other->thread == first->thread || other->address != first->address ||
		other->section_lock == first->section_lock)
		return false;
	if (search->is_shown)
		return first->event < other->event && other->event < last->event;
	return !epoch_is_before(other->epoch, first->epoch) &&
	       !epoch_is_before(last->epoch, other->epoch);
}

static void lock_windows_add_window(
	struct window_search *search, const struct taking *const takings[3])
{
	struct candidate candidate = {.kind = CANDIDATE_LOCK_WINDOW, .location_count = 3};

	for (uint32_t i = 0; i < 3; i++)
		candidate.locations[i] = (struct candidate_location){
			.thread = thread_order_name(search->order, takings[i]->thread),
			.run = search->run,
			.op = search->events[takings[i]->event],
			.context = takings[i]->context,
			.party = i == 1,
		};
	candidate.key = candidate_scenario_key(&candidate);
	if (search->only_key && search->only_key != candidate.key)
		return;
	if (search->out->count >= CANDIDATES_MOST)
		search->out->is_cut = true;
	else
		candidates_add(search->out, &candidate);
}

static void lock_windows_find_windows(struct window_search *search)
{
	for (uint32_t last = 0; last < search->count; last++) {
		const struct taking *takings[3] = {NULL, NULL, &search->takings[last]};
		uint32_t seen = 0;

		if (!takings[2]->section)
			continue;
		for (uint32_t first = last; first-- > 0 && seen < WINDOW_TAKINGS;) {
			takings[0] = &search->takings[first];
			if (takings[0]->thread != takings[2]->thread ||
				takings[0]->address != takings[2]->address ||
				takings[0]->section != takings[2]->section)
				continue;
			seen++;
			for (uint32_t other = 0; other < search->count; other++) {
				takings[1] = &search->takings[other];
				if (lock_windows_can_interleave(
					    search, takings[0], takings[1], takings[2]))
					lock_windows_add_window(search, takings);
			}
		}
	}
}

static int lock_windows_search_run(
	struct window_search *search, struct trace_reader *trace, struct error *err)
{
	const struct trace_run *about = trace_reader_run(trace);
	uint32_t count;
	struct trace_event *events = analysis_read_events(trace, &count, err);

	if (!events)
		return ERROR_FORMAT;
	search->events = events;
	search->order = thread_order_new(about);
	search->takings = array_new(TAKINGS_MOST, sizeof *search->takings);
	lock_windows_read_takings(search, count, about->thread_count);
	lock_windows_find_windows(search);
	free(search->takings);
	thread_order_free(search->order);
	free(events);
	return 0;
}

int lock_windows_shown(struct trace_reader *trace, const struct analysis_run *run,
	uint64_t only_key, struct candidates *out, struct error *err)
{
	struct window_search search = {
		.run = run->number, .only_key = only_key, .is_shown = true, .out = out};

	return lock_windows_search_run(&search, trace, err);
}

static int lock_windows_add_run(
	void *state, struct trace_reader *trace, const struct analysis_run *run, struct error *err)
{
	struct lock_windows *windows = state;
	struct window_search search = {.run = run->number, .out = &windows->found};

	return lock_windows_search_run(&search, trace, err);
}

static void lock_windows_find(void *state, struct candidates *out)
{
	struct lock_windows *windows = state;

	candidates_move(&windows->found, out);
}

static void lock_windows_end(void *state)
{
	struct lock_windows *windows = state;

	candidates_release(&windows->found);
	free(windows);
}

const struct analysis analysis_lock_windows = {
	.name = "lock_windows",
	.summary =
		"a lock acquired twice in one critical section, which other threads may acquire in between",
	.begin = lock_windows_begin,
	.add_run = lock_windows_add_run,
	.find = lock_windows_find,
	.end = lock_windows_end,
};
