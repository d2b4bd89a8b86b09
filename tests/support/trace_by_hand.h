/*
 * Runs that are made by hand, event by event, as walks leave them; and what the solver says of their branches. Before it
 * the C library's headers that cmocka wants, and cmocka's.
 */
#pragma once

#include <stdlib.h>

#include "model/op.h"
#include "branches/constraints/solver.h"

#define THREADS 3
#define MEMORY UINT64_C(0x1000) /* 64 bytes that are zero at first */
#define X MEMORY
#define Y (MEMORY + 8)
#define SEEN_X (MEMORY + 16)
#define SEEN_Y (MEMORY + 24)
#define LOCK UINT64_C(0x9000)

/* A run; events are added in its order. */
struct trace {
	struct walk walk;
	struct run_record record;
	struct walked_thread walked[THREADS];
	struct run_thread threads[THREADS];
	struct record_op ops[64];
	struct record_image image;
	uint8_t bytes[64];
	uint64_t position;
	uint64_t steps[THREADS];
};

static inline int set_up(void **state)
{
	struct trace *trace = calloc(1, sizeof *trace);

	assert_non_null(trace);
	trace->image = (struct record_image){.address = MEMORY, .bytes = sizeof trace->bytes};
	trace->record = (struct run_record){.threads = trace->threads,
		.thread_count = THREADS,
		.ops = trace->ops,
		.images = &trace->image,
		.image_count = 1,
		.image_bytes = trace->bytes,
		.image_size = sizeof trace->bytes};
	trace->walk = (struct walk){.record = &trace->record, .threads = trace->walked};
	*state = trace;
	return 0;
}

static inline int tear_down(void **state)
{
	struct trace *trace = *state;

	for (int i = 0; i < THREADS; i++)
		free(trace->walked[i].events);
	term_arena_release(&trace->walk.terms);
	free(trace);
	return 0;
}

static inline struct walk_event *add(struct trace *trace, uint16_t thread, enum event_kind kind)
{
	struct walked_thread *walked = &trace->walked[thread];
	struct walk_event *event;

	walked->events = realloc(walked->events, (walked->count + 1) * sizeof *walked->events);
	assert_non_null(walked->events);
	event = &walked->events[walked->count++];
	*event = (struct walk_event){
		.kind = (uint8_t)kind, .position = trace->position++, .step = trace->steps[thread]};
	trace->steps[thread] += kind <= EVENT_OP;
	return event;
}

static inline void write(struct trace *trace, uint16_t thread, uint64_t address, uint64_t value)
{
	struct walk_event *event = add(trace, thread, EVENT_WRITE);

	event->address = address;
	event->bytes = 8;
	event->value = value;
}

static inline struct term *read(
	struct trace *trace, uint16_t thread, uint64_t address, uint64_t value)
{
	struct walk_event *event = add(trace, thread, EVENT_READ);
	struct term *term;

	event->address = address;
	event->bytes = 8;
	event->value = value;
	term = term_variable(&trace->walk.terms, 64, value);
	event->term = term_index(&trace->walk.terms, term);
	return term;
}

/* Adds a read at an address that is a term. */
static inline struct term *read_through(struct trace *trace, uint16_t thread, struct term *pointer,
	uint64_t address, uint64_t value)
{
	struct term *term = read(trace, thread, address, value);

	trace->walked[thread].events[trace->walked[thread].count - 1].access.at =
		term_index(&trace->walk.terms, pointer);
	return term;
}

/* A branch on `term == value`. */
static inline struct event_id branch(
	struct trace *trace, uint16_t thread, struct term *term, uint64_t value)
{
	struct term_like like = {.op = CODE_COMPARE,
		.sub = LLVMIntEQ,
		.width = 1,
		.a = term,
		.b = term_constant(&trace->walk.terms, 64, value),
		.value = term->value == value};
	struct walk_event *event = add(trace, thread, EVENT_BRANCH);

	event->term = term_index(&trace->walk.terms, term_make(&trace->walk.terms, &like));
	event->is_taken = term->value == value;
	return (struct event_id){thread, (uint32_t)trace->walked[thread].count - 1};
}

static inline struct record_op *op(
	struct trace *trace, uint16_t thread, enum op_kind kind, uint64_t address)
{
	struct walk_event *event = add(trace, thread, EVENT_OP);
	struct record_op *result = &trace->ops[trace->record.op_count];

	assert_true(trace->record.op_count < sizeof trace->ops / sizeof *trace->ops);
	*result = (struct record_op){.step = event->position,
		.address = address,
		.thread = thread,
		.other = UINT16_MAX,
		.kind = (uint8_t)kind};
	event->value = trace->record.op_count++;
	return result;
}

/* May the branch go the other way? `begins`: of the chunk, by thread; NULL: all of the run. */
static inline bool may_flip(
	struct trace *trace, struct event_id goal, const uint32_t *begins, bool is_open)
{
	uint32_t begin[THREADS] = {0}, end[THREADS];
	const struct order_window window = {begin, end};
	struct solver solver;
	struct order order;
	Z3_lbool answer;

	for (int i = 0; i < THREADS; i++) {
		begin[i] = begins ? begins[i] : 0;
		end[i] = (uint32_t)trace->walked[i].count;
	}
	order_build(&order, &trace->walk);
	solver_open(&solver, &(struct solver_question){.walk = &trace->walk,
				     .order = &order,
				     .window = &window,
				     .has_open_addresses = is_open});
	/* The constraints must permit the recorded run. */
	assert_int_equal(Z3_solver_check(solver.z3, solver.handle), Z3_L_TRUE);
	solver_add_yields(&solver);
	solver_add(
		&solver, solver_otherwise(&solver, &trace->walked[goal.thread].events[goal.index]));
	solver_add(&solver, solver_stops_before(&solver, goal));
	answer = Z3_solver_check(solver.z3, solver.handle);
	assert_int_not_equal(answer, Z3_L_UNDEF);
	solver_close(&solver);
	order_release(&order);
	return answer == Z3_L_TRUE;
}
