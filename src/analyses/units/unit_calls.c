#include "analyses/units/unit_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/op.h"

#define STACK_MOST 160

/* An inlined call has no entry event: it begins when the code address enters its range. */
struct inlined_call {
	const struct atomic_routine *routine;
	uint32_t activation;
	uint64_t began; /* code address where the call began */
};

struct frame {
	const struct atomic_routine *routine; /* NULL if unknown */
	uint32_t activation;
	uint32_t context;
	uint64_t address;
	struct inlined_call inlined[ATOMIC_INLINED_MAX];
	uint32_t inlined_count;
};

struct call_stack {
	struct frame frames[STACK_MOST];
	uint32_t depth;
};

struct unit_calls {
	struct atomic_sets *sets;
	struct call_stack *stacks; /* stacks by thread */
	uint32_t thread_count;
	uint32_t activations;
	uint8_t *
		endings; /* enum unit_ending of each known activation; UNIT_RETURNED for later activations */
	uint32_t ending_count;
};

/* Updates the inlined calls of the innermost entered function for the thread's code address. */
static void unit_calls_be_at(struct unit_calls *calls, struct call_stack *stack, uint64_t address)
{
	const struct atomic_location *location = atomic_sets_location(calls->sets, address);
	struct frame *frame;
	uint32_t kept = 0;

	if (!stack->depth || !location->count)
		return;
	frame = &stack->frames[stack->depth - 1];
	/* The address belongs to another function, such as one of an uninstrumented library. */
	if (!frame->routine ||
		strcmp(location->routines[0].routine.name, frame->routine->routine.name) != 0)
		return;
	while (kept < frame->inlined_count && kept + 1 < location->count &&
		frame->inlined[kept].routine->routine.key ==
			location->routines[kept + 1].routine.key &&
		frame->inlined[kept].began != address)
		kept++;
	for (frame->inlined_count = kept; frame->inlined_count + 1 < location->count;
		frame->inlined_count++)
		frame->inlined[frame->inlined_count] = (struct inlined_call){
			.routine = &location->routines[frame->inlined_count + 1],
			.activation = ++calls->activations,
			.began = address};
}

static void unit_calls_enter(struct unit_calls *calls, const struct trace_event *event)
{
	struct call_stack *stack = &calls->stacks[event->thread];
	const struct atomic_location *location = atomic_sets_location(calls->sets, event->site);

	if (event->callers[0])
		unit_calls_be_at(calls, stack, event->callers[0] - 1);
	if (stack->depth == STACK_MOST)
		return;
	stack->frames[stack->depth++] = (struct frame){
		.routine = location->count ? &location->routines[0] : NULL,
		.activation = ++calls->activations,
		.context = event->object,
		.address = event->address,
	};
}

static void unit_calls_end_activation(
	struct unit_calls *calls, uint32_t activation, enum unit_ending ending)
{
	while (calls->ending_count <= activation)
		ARRAY_APPEND(calls->endings, calls->ending_count, UNIT_RETURNED);
	calls->endings[activation] = (uint8_t)ending;
}

static void unit_calls_end_frame(
	struct unit_calls *calls, const struct frame *frame, enum unit_ending ending)
{
	if (ending == UNIT_RETURNED)
		return;
	unit_calls_end_activation(calls, frame->activation, ending);
	for (uint32_t i = 0; i < frame->inlined_count; i++)
		unit_calls_end_activation(calls, frame->inlined[i].activation, ending);
}

static void unit_calls_leave(struct unit_calls *calls, const struct trace_event *event)
{
	struct call_stack *stack = &calls->stacks[event->thread];

	/* Inner functions without a leave event end with it. */
	while (stack->depth && stack->frames[stack->depth - 1].address <= event->address)
		unit_calls_end_frame(calls, &stack->frames[--stack->depth],
			event->bytes ? UNIT_LEFT : UNIT_RETURNED);
}

static void unit_calls_leave_all(struct unit_calls *calls, uint32_t thread, enum unit_ending ending)
{
	struct call_stack *stack = &calls->stacks[thread];

	while (stack->depth)
		unit_calls_end_frame(calls, &stack->frames[--stack->depth], ending);
}

static void unit_calls_add_call(struct atomic_call *list, uint32_t *count,
	const struct atomic_routine *routine, uint32_t activation)
{
	if (*count < UNIT_CALLS_MOST)
		list[(*count)++] =
			(struct atomic_call){.routine = routine, .activation = activation};
}

uint32_t unit_calls_list(
	const struct unit_calls *calls, uint32_t thread, struct atomic_call out[UNIT_CALLS_MOST])
{
	const struct call_stack *stack = &calls->stacks[thread];
	uint32_t count = 0;

	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct frame *frame = &stack->frames[i];

		unit_calls_add_call(out, &count, frame->routine, frame->activation);
		for (uint32_t inlined = 0; inlined < frame->inlined_count; inlined++)
			unit_calls_add_call(out, &count, frame->inlined[inlined].routine,
				frame->inlined[inlined].activation);
	}
	for (uint32_t i = 0; thread && i < count; i++) {
		if (!out[i].routine || out[i].routine->routine.is_system)
			continue;
		out[i].is_first = true;
		break;
	}
	return count;
}

uint32_t unit_calls_context(const struct unit_calls *calls, uint32_t thread)
{
	const struct call_stack *stack = &calls->stacks[thread];

	return stack->depth ? stack->frames[stack->depth - 1].context : 0;
}

enum unit_ending unit_calls_ending(const struct unit_calls *calls, uint32_t activation)
{
	return activation < calls->ending_count ? (enum unit_ending)calls->endings[activation]
						: UNIT_RETURNED;
}

bool unit_calls_add(struct unit_calls *calls, const struct trace_event *event)
{
	struct call_stack *stack = &calls->stacks[event->thread];

	switch (event->kind) {
	case OP_ENTER:
		unit_calls_enter(calls, event);
		return true;
	case OP_LEAVE:
		unit_calls_leave(calls, event);
		return true;
	case OP_THREAD_EXIT:
		unit_calls_leave_all(calls, event->thread, UNIT_LEFT);
		break;
	}
	/* `site` is the address of an access itself, but the return address of a call. */
	if (op_descriptions[event->kind].object == OBJECT_MEMORY)
		unit_calls_be_at(calls, stack, event->site);
	else if (event->site)
		unit_calls_be_at(calls, stack, event->site - 1);
	return false;
}

void unit_calls_end(struct unit_calls *calls)
{
	for (uint32_t i = 0; i < calls->thread_count; i++)
		unit_calls_leave_all(calls, i, UNIT_OPEN);
}

struct unit_calls *unit_calls_new(struct atomic_sets *sets, uint32_t thread_count)
{
	struct unit_calls *calls = array_new(1, sizeof *calls);

	calls->sets = sets;
	calls->thread_count = thread_count;
	calls->stacks = array_new(thread_count + 1u, sizeof *calls->stacks);
	return calls;
}

void unit_calls_free(struct unit_calls *calls)
{
	free(calls->stacks);
	free(calls->endings);
	free(calls);
}
