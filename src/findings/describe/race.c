/* Describes a race or a use after free: variable, accesses, stacks, locks held. */
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "findings/describe/builder.h"

/* Limit on the reported locks of a thread. */
#define HELD_MAX 8

struct held_locks {
	const struct trace_event *taken[HELD_MAX];
	unsigned count;
};

static void race_add_held(struct held_locks *held, const struct trace_event *event)
{
	for (unsigned i = 0; i < held->count; i++)
		if (held->taken[i]->address == event->address)
			return;
	if (held->count < HELD_MAX)
		held->taken[held->count++] = event;
}

static void race_remove_held(struct held_locks *held, uint64_t address)
{
	for (unsigned i = 0; i < held->count; i++)
		if (held->taken[i]->address == address) {
			held->taken[i] = held->taken[--held->count];
			return;
		}
}

/* A try-lock succeeded if the thread's next operation on the lock is a release. */
static bool race_try_has_succeeded(const struct finding_source *source, uint64_t at)
{
	const struct trace_event *try = &source->events[at];

	for (uint64_t i = at + 1; i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i];

		if (event->thread == try->thread && event->address == try->address)
			return op_descriptions[event->kind].flags & OP_RELEASE;
	}
	return false;
}

static void race_find_held(const struct finding_source *source, struct thread_id thread,
	uint64_t step, struct held_locks *held)
{
	for (uint64_t i = 0; i < source->event_count && source->events[i].step < step; i++) {
		const struct trace_event *event = &source->events[i];
		const struct op_description *op = &op_descriptions[event->kind];

		if (event->thread != thread.index)
			continue;
		if (op->flags & OP_RELEASE)
			race_remove_held(held, event->address);
		else if (op->flags & OP_ACQUIRE && event->kind != OP_COND_WAKE &&
			 (op->flags & OP_MAYBLOCK || race_try_has_succeeded(source, i)))
			race_add_held(held, event);
	}
}

bool builder_holds(
	const struct builder *builder, struct thread_id thread, uint64_t address, uint64_t step)
{
	struct held_locks held = {.count = 0};

	race_find_held(builder->source, thread, step, &held);
	for (unsigned i = 0; i < held.count; i++)
		if (held.taken[i]->address == address)
			return true;
	return false;
}

char *builder_held_words(
	const struct builder *builder, struct thread_id thread, uint64_t step, uint64_t own)
{
	struct held_locks held = {.count = 0};
	struct strbuf text = STRBUF_EMPTY;

	race_find_held(builder->source, thread, step, &held);
	race_remove_held(&held, own);
	if (!held.count)
		return NULL;
	for (unsigned i = 0; i < held.count; i++) {
		FREE_SCOPED char *object =
			builder_object(builder, (enum op_kind)held.taken[i]->kind,
				held.taken[i]->address, held.taken[i]->step);

		strbuf_addf(&text, "%s%.*s", i ? ", " : "", finding_short_name(object), object);
	}
	return strbuf_detach(&text);
}

char *builder_race_variable(const struct builder *builder, bool is_brief)
{
	const struct outcome *outcome = builder->source->outcome;
	const bool is_live = outcome_is_of_pair(outcome->kind) || !outcome->other_step;

	if (outcome_is_of_destroyed(outcome))
		return builder_object(
			builder, (enum op_kind)outcome->op, outcome->address, UINT64_MAX);
	/* A free concerns the whole block, which keeps the name that it had before. */
	return builder_memory(
		builder, &(struct symbols_access){.address = outcome->address,
				 .bytes = outcome->kind == OUTCOME_DOUBLE_FREE ? UINT32_MAX : 1,
				 .site = outcome->site,
				 .step = is_live ? outcome->step : outcome->other_step - 1,
				 .is_brief = is_brief});
}

/* Was the accessed memory freed at the step? Where frees are no operations, only its block tells. */
static bool race_is_free(const struct finding_source *source, uint64_t step)
{
	const uint64_t address = source->outcome->address;

	for (uint32_t i = 0; i < source->block_count; i++) {
		const struct memory_block *block = &source->blocks[i];

		if (step && block->freed_step == step && address >= block->start &&
			address - block->start < block->bytes)
			return true;
	}
	return false;
}

/* The verb of a racing access. A free is recorded as a write to the whole block, but is named "frees". */
static char *race_verb(
	const struct builder *builder, struct thread_id thread, uint64_t step, enum op_kind op)
{
	const struct finding_source *source = builder->source;

	for (uint64_t i = source->event_count; i-- > 0 && source->events[i].step >= step;) {
		const struct trace_event *event = &source->events[i];

		if (event->step == step && event->thread == thread.index && event->kind == op)
			return builder_event_verb(event);
	}
	return string_copy(
		race_is_free(source, step) ? call_verbs[CALL_FREE] : op_descriptions[op].verb);
}

uint64_t builder_find_earlier(const struct builder *builder)
{
	const struct finding_source *source = builder->source;
	const struct outcome *outcome = source->outcome;
	/* The runtime notes a free by the number of steps behind it. */
	const uint64_t step = outcome->other_step - !outcome_is_of_pair(outcome->kind);

	for (uint64_t i = source->event_count; i-- > 0;)
		if (source->events[i].step == step &&
			source->events[i].thread == outcome->other_thread.index &&
			(op_descriptions[source->events[i].kind].object == OBJECT_MEMORY ||
				source->events[i].kind == outcome->other_op))
			return i;
	return NO_EVENT;
}

/* The stack of the earlier access; of a free, the callers that the trace has. */
static void race_fill_earlier_stack(const struct builder *builder, struct finding_stack *stack)
{
	const struct finding_source *source = builder->source;
	const uint64_t site = source->outcome->other_site;
	const uint64_t event = builder_find_earlier(builder);
	uint64_t addresses[1 + TRACE_CALLERS] = {site};
	uint32_t count = 1;

	if (source->earlier_count || event == NO_EVENT) {
		builder_access_stack(
			builder, site, source->earlier_stack, source->earlier_count, stack);
		return;
	}
	for (; count <= TRACE_CALLERS && source->events[event].callers[count - 1]; count++)
		addresses[count] = source->events[event].callers[count - 1];
	builder_access_stack(builder, site, addresses, count, stack);
}

void builder_fill_race(struct builder *builder)
{
	const struct outcome *outcome = builder->source->outcome;
	struct finding_access *earlier = &builder->finding->race[FINDING_EARLIER];
	struct finding_access *later = &builder->finding->race[FINDING_LATER];
	/* The later access was prevented, so the trace may lack it. */
	uint64_t now = outcome->step ? outcome->step : UINT64_MAX;

	if (!outcome_has_accesses(outcome))
		return;
	builder->finding->variable = builder_race_variable(builder, false);
	earlier->thread = string_copy(builder_thread(builder, outcome->other_thread));
	earlier->verb =
		outcome_is_of_pair(outcome->kind)
			? race_verb(builder, outcome->other_thread, outcome->other_step,
				  (enum op_kind)outcome->other_op)
			: string_copy(outcome_is_of_destroyed(outcome) ? "destroys" : "frees");
	earlier->held = builder_held_words(builder, outcome->other_thread, outcome->other_step, 0);
	race_fill_earlier_stack(builder, &earlier->at);
	later->thread = string_copy(builder_thread(builder, outcome->thread));
	later->verb = outcome->kind == OUTCOME_DOUBLE_FREE
			      ? string_copy("frees")
			      : race_verb(builder, outcome->thread, now, (enum op_kind)outcome->op);
	later->held = builder_held_words(builder, outcome->thread, now,
		op_descriptions[outcome->op].flags & OP_ACQUIRE ? outcome->address : 0);
	builder_stack(builder, outcome->thread, outcome->site, &later->at);
}
