/* Names the steps of both runs to a branch: threads, locks and variables. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "commands/branches/branches_internal.h"
#include "symbols/symbols.h"

#define FRAMES_MAX 16

static char *branches_interleaving_copy(const char *text)
{
	return text && *text ? string_copy(text) : NULL;
}

static char *branches_interleaving_path_in(const char *directory, const char *file)
{
	const struct sensitive_location location = {.file = file, .directory = directory};

	return *file ? branches_path_of(&location) : NULL;
}

/* Returns a text such as "mutex m" for a lock that has a name. */
static char *branches_interleaving_object_of(
	struct symbols *symbols, const struct sensitive_step *from)
{
	const struct symbols_memory memory = {0};
	const struct symbols_access access = {
		.address = from->address, .step = UINT64_MAX, .is_brief = true};
	struct strbuf text = STRBUF_EMPTY;

	strbuf_adds(&text, from->object);
	if (symbols && from->site && from->address && *from->object) {
		strbuf_adds(&text, " ");
		if (!symbols_describe_data(symbols, &memory, &access, &text))
			text.text[--text.length] = '\0';
	}
	return strbuf_detach(&text);
}

/* Finds the source line of an operation. If functions were inlined there, this is the innermost line in
 * the user's own code, or the innermost line of all if none is the user's. */
static void branches_interleaving_find_location(
	struct symbols *symbols, const struct sensitive_step *from, struct branch_step *to)
{
	struct symbols_frame frames[FRAMES_MAX];
	const unsigned count = symbols && from->site ? symbols_lookup(symbols, from->site, true,
							       frames, FRAMES_MAX)
						     : 0;

	const struct symbols_frame *best = NULL;

	for (unsigned i = 0; i < count; i++)
		if (frames[i].line && (!best || (best->is_system && !frames[i].is_system)))
			best = &frames[i];
	if (!best)
		return;
	to->function = branches_interleaving_copy(best->function);
	to->file = branches_interleaving_copy(best->file);
	to->line = best->line;
}

static void branches_interleaving_take(struct branches_state *state,
	const struct run_record *record, const struct sensitive_interleaving *from,
	struct branch_interleaving *to)
{
	to->steps = array_new(from->count + 1u, sizeof *to->steps);
	to->left_out = from->left_out;
	for (; to->count < from->count; to->count++) {
		const struct sensitive_step *step = &from->steps[to->count];
		struct branch_step *out = &to->steps[to->count];

		*out = (struct branch_step){.thread = branches_thread_name(record, step->thread),
			.verb = string_copy(step->verb),
			.value = branches_interleaving_copy(step->value),
			.function = branches_interleaving_copy(step->function),
			.file = branches_interleaving_path_in(step->directory, step->file),
			.line = step->line,
			.is_switch = to->count && step[-1].thread != step->thread};
		out->object = step->other < record->thread_count
				      ? branches_thread_name(record, step->other)
				      : branches_interleaving_object_of(state->symbols, step);
		if (!out->line)
			branches_interleaving_find_location(state->symbols, step, out);
	}
}

void branches_add_interleavings(
	struct branches_state *state, struct sensitive_branch *branch, const struct run_record *run)
{
	const struct run_record *records[SENSITIVE_RUNS] = {
		[SENSITIVE_RECORDED] = &state->trace->run.record, [SENSITIVE_FLIPPED] = run};
	struct sensitive_interleaving reported[SENSITIVE_RUNS];

	sensitivity->interleavings(state->analysis, run, reported);
	branch->called_from = reported[SENSITIVE_FLIPPED].called_from;
	for (int i = 0; i < SENSITIVE_RUNS; i++) {
		/* An interrupted analysis has not seen all steps. */
		if (!*state->options->campaign.is_interrupted)
			branches_interleaving_take(
				state, records[i], &reported[i], &branch->interleavings[i]);
		sensitive_interleaving_release(&reported[i]);
	}
}

void branches_release_interleaving(struct branch_interleaving *interleaving)
{
	for (uint32_t i = 0; i < interleaving->count; i++) {
		struct branch_step *step = &interleaving->steps[i];

		free(step->thread);
		free(step->verb);
		free(step->object);
		free(step->value);
		free(step->function);
		free(step->file);
	}
	free(interleaving->steps);
	*interleaving = (struct branch_interleaving){0};
}
