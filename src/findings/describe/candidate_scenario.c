#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "findings/describe/builder.h"
#include "findings/describe/candidate.h"
#include "model/pattern.h"

static char *candidate_scenario_object_words(
	const struct candidate_words *words, const struct trace_event *event)
{
	const struct symbols_access access = {.address = event->address,
		.bytes = event->bytes,
		.site = event->site,
		.step = event->step,
		.is_brief = true};
	struct strbuf text = STRBUF_EMPTY;

	if (!words->symbols || !words->memory ||
		!symbols_describe_data(words->symbols, words->memory, &access, &text))
		strbuf_adds(&text, object_class_text(op_descriptions[event->kind].object));
	return strbuf_detach(&text);
}

static void candidate_scenario_describe_location(const struct candidate_words *words,
	const struct candidate_location *location, struct finding_wait *out)
{
	const struct finding_source nothing = {0};
	const struct builder builder = {.source = &nothing, .symbols = words->symbols};
	unsigned count = 0;

	while (count < TRACE_LOCATION_CALLERS && location->op.callers[count])
		count++;
	*out = (struct finding_wait){
		.thread = string_copy(location->op.thread < words->path_count
					      ? words->paths[location->op.thread]
					      : "a thread"),
		.verb = string_copy(op_descriptions[location->op.kind].verb),
		.object = candidate_scenario_object_words(words, &location->op),
	};
	builder_access_stack(&builder, location->op.site, location->op.callers, count, &out->at);
}

/* The function of an access that belongs to no unit of work. */
static const char *candidate_scenario_function_of(
	const struct candidate *candidate, uint32_t location)
{
	const struct finding_frame *frame = finding_user_frame(&candidate->waits[location].at);

	return frame && frame->function ? frame->function : "a thread";
}

static char *candidate_scenario_title_of(const struct candidate *candidate)
{
	const char *first = candidate->units[0], *second = candidate->units[1];
	char *title;

	if (candidate->kind == CANDIDATE_VIOLATION)
		BUG_ON(asprintf(&title, "%s and %s are not serialisable over %s: %s (%s)",
			       first ? first : "a thread", second ? second : "another thread",
			       candidate->set, pattern_descriptions[candidate->pattern].meaning,
			       pattern_descriptions[candidate->pattern].text) < 0);
	else if (candidate->kind == CANDIDATE_RACE)
		BUG_ON(asprintf(&title, "race for %s: %s and %s", candidate->waits[0].object,
			       candidate_scenario_function_of(candidate, 0),
			       candidate_scenario_function_of(candidate, 1)) < 0);
	else
		BUG_ON(asprintf(&title,
			       "%s acquires %s twice in one critical section, and %s acquires it in between",
			       first ? first : "a thread", candidate->waits[0].object,
			       second ? second : "another thread") < 0);
	return title;
}

void candidate_describe_scenario(struct candidate *candidate, const struct candidate_words *words)
{
	if (candidate->title)
		return;
	candidate->waits = array_new(candidate->location_count + 1u, sizeof *candidate->waits);
	for (uint32_t i = 0; i < candidate->location_count; i++)
		candidate_scenario_describe_location(
			words, &candidate->locations[i], &candidate->waits[i]);
	candidate->wait_count = candidate->location_count;
	candidate->title = candidate_scenario_title_of(candidate);
}

static bool candidate_scenario_has_same_name(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool candidate_scenario_has_same_units(const struct candidate *a, const struct candidate *b)
{
	return a->kind == b->kind && candidate_scenario_has_same_name(a->units[0], b->units[0]) &&
	       candidate_scenario_has_same_name(a->units[1], b->units[1]);
}

void candidates_mix(struct candidates *candidates)
{
	const uint32_t count = candidates->count;
	FREE_SCOPED struct candidate *mixed = array_new(count + 1u, sizeof *mixed);
	FREE_SCOPED uint32_t *turns = array_new(count + 1u, sizeof *turns);
	uint32_t next = 0;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t before = i; before-- > 0;)
			if (candidate_scenario_has_same_units(
				    &candidates->items[before], &candidates->items[i])) {
				turns[i] = turns[before] + 1;
				break;
			}
	for (uint32_t turn = 0; next < count; turn++)
		for (uint32_t i = 0; i < count; i++)
			if (turns[i] == turn)
				mixed[next++] = candidates->items[i];
	for (uint32_t i = 0; i < count; i++)
		candidates->items[i] = mixed[i];
}
