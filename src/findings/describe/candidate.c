#include "findings/describe/candidate.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/search.h"
#include "findings/describe/builder.h"
#include "trace/schedule_text.h"

static void candidate_release(struct candidate *candidate)
{
	struct finding words = {.title = candidate->title,
		.waits = candidate->waits,
		.wait_count = candidate->wait_count};

	finding_release(&words);
	free(candidate->set);
	free(candidate->units[0]);
	free(candidate->units[1]);
	*candidate = (struct candidate){0};
}

void candidates_release(struct candidates *candidates)
{
	for (uint32_t i = 0; i < candidates->count; i++)
		candidate_release(&candidates->items[i]);
	free(candidates->items);
	*candidates = (struct candidates){0};
}

void candidates_cut(struct candidates *candidates, uint32_t count)
{
	while (candidates->count > count)
		candidate_release(&candidates->items[--candidates->count]);
	candidates->is_cut = true;
}

uint32_t candidates_find(const struct candidates *candidates, uint64_t key)
{
	uint32_t index = 0;

	while (index < candidates->count && candidates->items[index].key != key)
		index++;
	return index;
}

void candidates_add(struct candidates *candidates, struct candidate *candidate)
{
	const uint32_t known = candidates_find(candidates, candidate->key);

	if (known < candidates->count) {
		candidates->items[known].times++;
		candidate_release(candidate);
		return;
	}
	candidates->items =
		array_room(candidates->items, candidates->count, sizeof *candidates->items);
	candidate->times = 1;
	candidates->items[candidates->count++] = *candidate;
	*candidate = (struct candidate){0};
}

void candidates_move(struct candidates *from, struct candidates *to)
{
	for (uint32_t i = 0; i < from->count; i++)
		candidates_add(to, &from->items[i]);
	to->is_cut |= from->is_cut;
	from->count = 0;
}

static uint64_t candidate_event_code(const struct trace_event *event)
{
	uint64_t code = hash_pair(event->kind, event->site);

	for (unsigned i = 0; i < TRACE_LOCATION_CALLERS; i++)
		code = hash_pair(code, event->callers[i]);
	return code;
}

uint64_t candidate_scenario_key(const struct candidate *candidate)
{
	uint64_t key = hash_pair((uint64_t)candidate->kind + 1, candidate->pattern);

	for (uint32_t i = 0; i < candidate->location_count; i++) {
		const struct candidate_location *location = &candidate->locations[i];

		key = hash_pair(key, hash_pair(location->op.site, location->context));
	}
	return key;
}

uint64_t candidate_key(const struct candidate *candidate)
{
	uint64_t codes[CANDIDATE_LOCATIONS_MAX];
	uint64_t key = hash_mix((uint64_t)candidate->kind + 1);

	for (uint32_t i = 0; i < candidate->location_count; i++)
		codes[i] = hash_pair(candidate_event_code(&candidate->locations[i].op),
			candidate_event_code(&candidate->locations[i].taken));
	qsort(codes, candidate->location_count, sizeof *codes, compare_numbers);
	for (uint32_t i = 0; i < candidate->location_count; i++)
		if (!i || codes[i] != codes[i - 1])
			key = hash_pair(key, codes[i]);
	return key;
}

bool candidate_is_shown(const struct candidate *candidate, const struct outcome *outcome)
{
	uint32_t on_cycle = 0;

	if (candidate->kind != CANDIDATE_LOCK_CYCLE || outcome->kind != OUTCOME_DEADLOCK)
		return false;
	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		const struct wait_edge *edge = &outcome->waits[i];
		bool is_location = false;

		if (!edge->is_on_cycle)
			continue;
		on_cycle++;
		for (uint32_t location = 0; location < candidate->location_count; location++)
			is_location |= candidate->locations[location].op.kind == edge->op &&
				       candidate->locations[location].op.site == edge->site;
		if (!is_location)
			return false;
	}
	/* A shorter cycle through some of the locations is another candidate. */
	for (uint32_t location = 0; location < candidate->location_count && on_cycle; location++) {
		bool is_taken = false;

		for (uint32_t i = 0; i < outcome->wait_count; i++)
			is_taken |=
				outcome->waits[i].is_on_cycle &&
				outcome->waits[i].op == candidate->locations[location].op.kind &&
				outcome->waits[i].site == candidate->locations[location].op.site;
		if (!is_taken)
			return false;
	}
	return on_cycle != 0;
}

/* The thread's index in the run that provides the names; THREAD_NONE: not in that run. */
static struct thread_id candidate_find_thread(const struct finding_source *source, thread_name name)
{
	for (uint32_t i = 0; i < source->thread_count; i++) {
		FREE_SCOPED char *path =
			finding_thread_path(source->threads, source->thread_count, i);
		const bool is_it = path && thread_path_name(path) == name;

		if (is_it)
			return (struct thread_id){(uint16_t)i};
	}
	return THREAD_NONE;
}

/* Makes an outcome as if the run had ended with the threads blocked at their locations. */
static void candidate_fill_outcome(const struct candidate *candidate,
	const struct finding_source *source, struct outcome *outcome)
{
	const uint32_t count = candidate->location_count;

	outcome_set(outcome, OUTCOME_DEADLOCK, THREAD_NONE, 0);
	outcome->wait_count = count;
	for (uint32_t i = 0; i < count; i++) {
		const struct candidate_location *location = &candidate->locations[i];
		const struct candidate_location *next = &candidate->locations[(i + 1) % count];

		outcome->waits[i] = (struct wait_edge){
			.waiter = candidate_find_thread(source, location->thread),
			.holder = candidate_find_thread(source, next->thread),
			.op = location->op.kind,
			.is_on_cycle = 1,
			.object = location->op.object,
			.object_address = location->op.address,
			.site = location->op.site,
			.holder_site = next->taken.site,
		};
	}
}

static void candidate_add_location(const struct finding_frame *frame, struct strbuf *out)
{
	strbuf_adds(out, " (");
	frame_location(frame, out);
	strbuf_adds(out, ")");
}

/* "main.0 locks mutex b (x.c:12) while it holds mutex a (x.c:11)" */
static void candidate_add_clause(
	const struct candidate *candidate, uint32_t index, struct strbuf *out)
{
	const struct finding_wait *wait = &candidate->waits[index];
	const struct finding_wait *before =
		&candidate->waits[(index + candidate->wait_count - 1) % candidate->wait_count];
	const char *object = wait->object ? wait->object : "something";

	strbuf_addf(
		out, "%s %s %.*s", wait->thread, wait->verb, finding_short_name(object), object);
	candidate_add_location(finding_user_frame(&wait->at), out);
	if (candidate->locations[index].taken.kind == OP_NONE || !before->object)
		return;
	strbuf_addf(
		out, " while it holds %.*s", finding_short_name(before->object), before->object);
	candidate_add_location(&before->held_since, out);
}

static void candidate_fill_title(struct candidate *candidate)
{
	struct strbuf title = STRBUF_EMPTY;

	for (uint32_t i = 0; i < candidate->wait_count; i++) {
		strbuf_adds(&title, i ? "; " : "");
		candidate_add_clause(candidate, i, &title);
	}
	candidate->title = strbuf_detach(&title);
}

int candidate_describe(struct candidate *candidate, const struct finding_source *source,
	struct symbols *symbols, struct error *err)
{
	struct outcome outcome;
	struct finding_source as_if = *source;
	struct finding words;
	int result;

	candidate_fill_outcome(candidate, source, &outcome);
	as_if.outcome = &outcome;
	as_if.steps_most = 1;
	result = finding_build(&words, &as_if, symbols, err);
	if (result < 0)
		return result;
	candidate->waits = words.waits;
	candidate->wait_count = words.wait_count;
	words.waits = NULL;
	words.wait_count = 0;
	finding_release(&words);
	candidate_fill_title(candidate);
	return 0;
}
