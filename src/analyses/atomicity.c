/* Predicts violations of atomic-set serializability (violations.h) from all runs together. */
#include "analyses/shown.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/violations.h"
#include "base/array.h"

struct atomicity {
	struct atomic_sets *sets;
	struct party_pool pool; /* parties of all runs */
	struct thread_order **orders;
	uint32_t order_count;
	const char **unended[UNIT_OPEN + 1]; /* functions with units of each ending; owned */
	uint32_t unended_counts[UNIT_OPEN + 1];
};

static const struct atomic_rules no_rules;
static const struct symbols_memory no_memory;

static void *atomicity_begin(const struct analysis_setting *setting)
{
	struct atomicity *state = array_new(1, sizeof *state);

	state->sets =
		atomic_sets_new(setting->symbols, setting->rules ? setting->rules : &no_rules);
	return state;
}

static void atomicity_note_ending(struct atomicity *state, const struct unit *unit)
{
	const char ***names = &state->unended[unit->ending];
	uint32_t *count = &state->unended_counts[unit->ending];

	for (uint32_t i = 0; i < *count; i++)
		if (strcmp((*names)[i], unit->routine->routine.name) == 0)
			return;
	ARRAY_APPEND(*names, *count, unit->routine->routine.name);
}

static void atomicity_note_endings(struct atomicity *state, const struct unit_trace *trace)
{
	for (uint32_t i = 0; i < trace->unit_count; i++)
		if (trace->units[i].ending != UNIT_RETURNED && trace->units[i].routine)
			atomicity_note_ending(state, &trace->units[i]);
}

/* Adds a run. `order` receives the order of the parties' epochs; NULL if the run is added with all
 * accesses. */
static int atomicity_add_to_pool(struct atomicity *state, struct trace_reader *trace,
	const struct analysis_run *run, struct party_pool *pool, struct thread_order **order,
	struct error *err)
{
	uint32_t count;
	FREE_SCOPED struct trace_event *events = analysis_read_events(trace, &count, err);
	struct unit_trace *units;

	if (!events)
		return ERROR_FORMAT;
	atomic_sets_begin_run(state->sets, run->memory ? run->memory : &no_memory, events, count);
	units = unit_trace_new(state->sets, trace_reader_run(trace), events, count);
	party_pool_add(pool, units, run->number, order == NULL);
	if (order) {
		atomicity_note_endings(state, units);
		*order = units->order;
		units->order = NULL;
	}
	unit_trace_free(units);
	return 0;
}

static int atomicity_add_run(
	void *state, struct trace_reader *trace, const struct analysis_run *run, struct error *err)
{
	struct atomicity *atomicity = state;
	struct thread_order *order;
	const int result =
		atomicity_add_to_pool(atomicity, trace, run, &atomicity->pool, &order, err);

	if (result < 0)
		return result;
	ARRAY_APPEND(atomicity->orders, atomicity->order_count, order);
	return 0;
}

static void atomicity_find(void *state, struct candidates *out)
{
	struct atomicity *atomicity = state;

	violations_find(&(struct violations_query){.mode = VIOLATIONS_POSSIBLE,
				.pool = &atomicity->pool,
				.sets = atomicity->sets},
		out);
}

static void atomicity_end(void *state)
{
	struct atomicity *atomicity = state;

	party_pool_release(&atomicity->pool);
	for (uint32_t i = 0; i < atomicity->order_count; i++)
		thread_order_free(atomicity->orders[i]);
	free(atomicity->orders);
	for (unsigned ending = 0; ending <= UNIT_OPEN; ending++)
		free(atomicity->unended[ending]);
	atomic_sets_free(atomicity->sets);
	free(atomicity);
}

#define NAMES_LISTED 4

/* Appends a list such as "pair_watch, pair_wait and 3 more". */
static void atomicity_add_names(const char *const *names, uint32_t count, struct strbuf *out)
{
	for (uint32_t i = 0; i < count && i < NAMES_LISTED; i++)
		strbuf_addf(out, "%s%s", i ? ", " : "", names[i]);
	if (count > NAMES_LISTED)
		strbuf_addf(out, " and %u more", count - NAMES_LISTED);
}

static void atomicity_add_notes(const void *state, struct strbuf *out)
{
	const struct atomicity *atomicity = state;
	static const char *const words[UNIT_OPEN + 1] = {
		[UNIT_LEFT] =
			"units of work that were left by an exception, longjmp or the end of their thread end there: ",
		[UNIT_OPEN] =
			"units of work that had not ended when a run did count up to there (if they are none: no-unit in --atomic-sets): ",
	};

	for (unsigned ending = UNIT_LEFT; ending <= UNIT_OPEN; ending++) {
		if (!atomicity->unended_counts[ending])
			continue;
		strbuf_adds(out, words[ending]);
		atomicity_add_names(
			atomicity->unended[ending], atomicity->unended_counts[ending], out);
		strbuf_adds(out, "\n");
	}
}

const struct atomic_sets *atomicity_sets(const void *state)
{
	const struct atomicity *atomicity = state;

	return atomicity->sets;
}

int atomicity_shown(void *state, struct trace_reader *trace, const struct analysis_run *run,
	uint64_t only_key, struct candidates *out, struct error *err)
{
	struct party_pool pool = {0};
	struct atomicity *atomicity = state;
	const int result = atomicity_add_to_pool(atomicity, trace, run, &pool, NULL, err);

	if (result == 0)
		violations_find(&(struct violations_query){.mode = VIOLATIONS_SHOWN,
					.only_key = only_key,
					.pool = &pool,
					.sets = atomicity->sets},
			out);
	party_pool_release(&pool);
	return result;
}

const struct analysis analysis_atomicity = {
	.name = "atomicity",
	.summary =
		"violations of atomic sets: another thread interrupts a unit of work with a visible effect",
	.begin = atomicity_begin,
	.add_run = atomicity_add_run,
	.find = atomicity_find,
	.end = atomicity_end,
	.add_notes = atomicity_add_notes,
};
