/* The state is in shared memory, which a rewind does not restore. */
#include "runtime/contexts.h"

#include "base/hash.h"
#include "base/hot_state.h"
#include "runtime/runtime.h"

/* A larger distance from the stack pointer is no frame pointer. */
#define FRAME_DISTANCE_MOST (UINT64_C(1) << 24)

struct context_frame {
	uint64_t site;
	uint64_t return_address;
	uintptr_t frame;
	uint32_t context;
	bool is_reported; /* the trace contains the function's OP_ENTER */
	bool is_tail;	  /* the function has reached a tail call */
};

struct context_stack {
	uint32_t generation; /* number of the run that wrote the stack */
	uint32_t depth;
	struct context_frame frames[CONTEXTS_DEPTH];
};

/* Shared memory, mapped once. */
static HOT_STATE struct context_table {
	uint32_t generation;
	struct context_stack stacks[THREAD_CAPACITY];
} * contexts;

bool contexts_set_up(void)
{
	contexts = platform_map(sizeof *contexts, true);
	return contexts != NULL;
}

void contexts_begin_run(void)
{
	if (contexts)
		contexts->generation++;
}

static struct context_stack *contexts_context_stack(struct thread_id thread)
{
	struct context_stack *stack = &contexts->stacks[thread.index];

	if (stack->generation != contexts->generation) {
		stack->generation = contexts->generation;
		stack->depth = 0;
	}
	return stack;
}

static void contexts_context_trace(struct thread_id thread, const struct context_frame *frame,
	enum op_kind kind, uint64_t step, bool has_returned)
{
	struct contract *contract = runtime.contract;
	struct contract_event *events = contract_area(contract, contract->trace_offset);

	if (contract->trace_count < contract->trace_bytes / sizeof *events)
		events[contract->trace_count] = (struct contract_event){
			.step = step,
			.site = frame->site,
			.address = frame->frame,
			.object = frame->context,
			.thread = thread.index,
			.kind = (uint8_t)kind,
			.bytes = !has_returned,
			.callers = {frame->return_address},
		};
	contract->trace_count++;
}

void contexts_report(struct thread_id thread, uint64_t step)
{
	struct context_stack *stack;

	if (!contexts)
		return;
	stack = contexts_context_stack(thread);
	for (uint32_t i = 0; i < stack->depth; i++) {
		if (stack->frames[i].is_reported)
			continue;
		stack->frames[i].is_reported = true;
		contexts_context_trace(thread, &stack->frames[i], OP_ENTER, step, true);
	}
}

bool contexts_callers(struct thread_id thread, uint64_t *callers, unsigned capacity)
{
	const struct context_stack *stack;

	if (!contexts)
		return false;
	stack = contexts_context_stack(thread);
	if (!stack->depth)
		return false;
	for (uint32_t i = 0; i < stack->depth && i < capacity; i++)
		callers[i] = stack->frames[stack->depth - 1 - i].return_address;
	return true;
}

/* Drops the frames below `below`, whose functions have been left. `returning`: frame of a function
 * that returns now; 0: none. Others were left by a tail call, an exception or longjmp. */
static void contexts_context_drop(
	struct thread_id thread, struct context_stack *stack, uintptr_t below, uintptr_t returning)
{
	while (stack->depth && stack->frames[stack->depth - 1].frame < below) {
		const struct context_frame *frame = &stack->frames[--stack->depth];

		if (frame->is_reported)
			contexts_context_trace(thread, frame, OP_LEAVE, engine_step(),
				frame->is_tail || frame->frame == returning);
	}
}

static uint64_t contexts_context_site(const struct site_record *record)
{
	return (uint64_t)(uintptr_t)&record->point + (uint64_t)(int64_t)record->point;
}

static void contexts_context_enter(
	struct context_stack *stack, const struct site_record *record, uintptr_t frame)
{
	const uint32_t outer = stack->depth ? stack->frames[stack->depth - 1].context : 0;
	struct context_frame *entered;

	if (stack->depth == CONTEXTS_DEPTH)
		return;
	entered = &stack->frames[stack->depth++];
	*entered = (struct context_frame){
		.site = contexts_context_site(record),
		.return_address = ((const uint64_t *)frame)[1],
		.frame = frame,
	};
	entered->context =
		(uint32_t)hash_pair(outer, hash_pair(entered->site, entered->return_address)) | 1;
}

/* Returns whether the innermost function has made a tail call to this one. Both have the same
 * frame. */
static bool contexts_context_is_called_instead(
	const struct context_stack *stack, const struct site_record *record, uintptr_t frame)
{
	const struct context_frame *top = stack->depth ? &stack->frames[stack->depth - 1] : NULL;

	/* The same function again is more likely a new call than a tail call. */
	return top && top->is_tail && top->frame == frame &&
	       top->return_address == ((const uint64_t *)frame)[1] &&
	       top->site != contexts_context_site(record);
}

void contexts_note(const struct site_record *record, uintptr_t frame)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct context_stack *stack;
	struct thread_id thread;

	/* In code without frame pointers, `frame` may be any value. */
	if (!contexts || frame % sizeof(uint64_t) || frame < here ||
		frame - here > FRAME_DISTANCE_MOST)
		return;
	thread = engine_current()->id;
	stack = contexts_context_stack(thread);
	switch (record->kind) {
	case SITE_FUNCTION_ENTRY:
		contexts_context_drop(thread, stack,
			frame + !contexts_context_is_called_instead(stack, record, frame), 0);
		contexts_context_enter(stack, record, frame);
		break;
	case SITE_FUNCTION_EXIT:
		contexts_context_drop(thread, stack, frame + (record->bytes != SITE_TAIL), frame);
		if (stack->depth && stack->frames[stack->depth - 1].frame == frame)
			stack->frames[stack->depth - 1].is_tail = true;
		break;
	default:
		contexts_context_drop(thread, stack, frame, 0);
	}
}

uint32_t contexts_of(struct thread_id thread)
{
	const struct context_stack *stack = contexts_context_stack(thread);

	return stack->depth ? stack->frames[stack->depth - 1].context : 0;
}
