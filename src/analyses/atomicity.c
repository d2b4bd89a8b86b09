/*
 * Predicts violations of atomic-set serializability: violations.h says which; here they are gathered
 * over all runs.
 */
#include "analyses/atomicity.h"

#include <stdlib.h>

#include "analyses/violations.h"
#include "base/bug.h"

struct atomicity {
	struct atomic_sets *sets;
	struct candidates found;
};

static const struct atomic_rules no_rules;
static const struct symbols_memory no_memory;

static void *atomicity_begin(const struct analysis_setting *setting)
{
	struct atomicity *state = calloc(1, sizeof *state);

	BUG_ON(!state);
	state->sets =
		atomic_sets_new(setting->symbols, setting->rules ? setting->rules : &no_rules);
	return state;
}

static int look_at_run(struct atomic_sets *sets, struct trace_reader *trace,
	const struct analysis_run *run, struct violations_query *query, struct candidates *out,
	struct error *err)
{
	uint32_t count;
	struct trace_event *events = analysis_read_events(trace, &count, err);
	struct unit_trace *units;

	if (!events)
		return ERROR_FORMAT;
	atomic_sets_begin_run(sets, run->memory ? run->memory : &no_memory, events, count);
	units = unit_trace_new(sets, trace_reader_run(trace), events, count);
	query->trace = units;
	query->sets = sets;
	query->run = run->number;
	violations_find(query, out);
	out->is_cut |= units->is_cut;
	unit_trace_free(units);
	free(events);
	return 0;
}

static int atomicity_add_run(
	void *state, struct trace_reader *trace, const struct analysis_run *run, struct error *err)
{
	struct atomicity *atomicity = state;
	struct violations_query query = {.mode = VIOLATIONS_POSSIBLE};

	return look_at_run(atomicity->sets, trace, run, &query, &atomicity->found, err);
}

static void atomicity_find(void *state, struct candidates *out)
{
	struct atomicity *atomicity = state;

	for (uint32_t i = 0; i < atomicity->found.count; i++)
		candidates_add(out, &atomicity->found.items[i]);
	out->is_cut |= atomicity->found.is_cut;
	atomicity->found.count = 0;
}

static void atomicity_end(void *state)
{
	struct atomicity *atomicity = state;

	candidates_release(&atomicity->found);
	atomic_sets_free(atomicity->sets);
	free(atomicity);
}

const struct atomic_sets *atomicity_sets(const void *state)
{
	const struct atomicity *atomicity = state;

	return atomicity->sets;
}

int atomicity_shown(void *state, struct trace_reader *trace, const struct analysis_run *run,
	uint64_t only_key, struct candidates *out, struct error *err)
{
	struct atomicity *atomicity = state;
	struct violations_query query = {.mode = VIOLATIONS_SHOWN, .only_key = only_key};

	return look_at_run(atomicity->sets, trace, run, &query, out, err);
}

const struct analysis analysis_atomicity = {
	.name = "atomicity",
	.summary = "violations of atomic sets: units of work that are interrupted where it shows",
	.needs_memory = true,
	.begin = atomicity_begin,
	.add_run = atomicity_add_run,
	.find = atomicity_find,
	.end = atomicity_end,
};
