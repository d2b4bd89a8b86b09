/*
 * The inner loop of the walk: executes ops (code.h) with direct threading. A frame without terms
 * uses a table of labels that handle values only. Ops without a specialised form, and accesses that
 * are events, call walk_perform().
 */
#include <string.h>

#include "base/bitset.h"
#include "branches/interpret/walk_internal.h"

/* Labels as values are a GNU extension of gcc and clang; a switch in a loop is slower. */
#pragma GCC diagnostic ignored "-Wpedantic"

/* Returns whether the access is an event or involves terms. Counts the step of any other access. */
static inline bool walk_loop_is_relevant_access(
	struct walker *walker, uint32_t site, uint64_t address, uint32_t bytes, bool is_write)
{
	if (walker->is_checked || walk_may_have_term(walker, address, bytes))
		return true;
	if (!walker->is_live)
		return is_write && walk_may_be_shared(walker->walk, address, bytes);
	if (!bitset_has(walker->walk->chosen, site))
		return false;
	if (walk_may_be_shared(walker->walk, address, bytes))
		return true;
	walker->steps++;
	return false;
}

static inline void walk_loop_make_moves(const struct edge *edge, uint64_t *r)
{
	for (uint32_t i = 0; i < edge->count; i++)
		r[edge->moves[i].to] = r[edge->moves[i].from];
}

static inline void walk_loop_make_symbolic_moves(
	const struct edge *edge, uint64_t *r, struct term **t)
{
	for (uint32_t i = 0; i < edge->count; i++) {
		const struct move move = edge->moves[i];

		r[move.to] = r[move.from];
		t[move.to] = t[move.from];
	}
}

/* Deletes a fixed term, so that it is checked once only. */
static inline bool walk_loop_has_term(struct term **t, int32_t number)
{
	if (!t[number])
		return false;
	if (!term_is_fixed(t[number]))
		return true;
	t[number] = NULL;
	return false;
}

/* Returns whether an operand has a term. Evaluation without short circuit needs only one branch. */
static inline bool walk_loop_has_terms(struct term **t, int32_t first, int32_t second)
{
	return (unsigned)walk_loop_has_term(t, first) | (unsigned)walk_loop_has_term(t, second);
}

/* Returns whether walk_loop_derive() handles the code; else walk_set_computed_term() does. */
static inline bool walk_loop_derives(const struct code *code)
{
	return code->op == CODE_COMPARE ||
	       (code->op == CODE_BINARY && (code->sub < LLVMUDiv || code->sub > LLVMFRem));
}

/* Derives a term; at least one operand must have a term. */
static inline uint64_t walk_loop_derive(
	struct walker *walker, const struct code *code, const uint64_t *r, struct term **t)
{
	struct term_arena *arena = &walker->walk->terms;
	const bool is_compare = code->op == CODE_COMPARE;
	const uint64_t a = r[code->a], b = r[code->b];
	struct term_like like = {.op = code->op,
		.sub = code->sub,
		.width = is_compare ? 1 : code->width,
		.value = is_compare ? compute_compare(code->sub, code->width, a, b)
				    : compute_binary(code->sub, code->width, a, b),
		.a = t[code->a],
		.b = t[code->b]};

	if (!like.a)
		like.a = term_constant(arena, code->width, a);
	if (!like.b)
		like.b = term_constant(arena, code->width, b);
	t[code->to] = term_make(arena, &like);
	return like.value;
}

#define DISPATCH goto *table[op->run]
#define NEXT                                                                                       \
	do {                                                                                       \
		op++;                                                                              \
		DISPATCH;                                                                          \
	} while (0)

/* A walk tests for an interruption after this many instructions: some milliseconds. */
#define INSTRUCTIONS_AT_ONCE 1000000u

/* The callee may change frame, tables and cached state. */
#define SLOWLY(perform)                                                                            \
	do {                                                                                       \
		if (UNLIKELY(code_book_is_interrupted(walker->book)))                              \
			goto interrupted;                                                          \
		walker->instructions += instructions;                                              \
		instructions = 0;                                                                  \
		frame->at = function->codes + (op - function->ops);                                \
		step = perform(walker, frame->at, r);                                              \
		if (step != STEP_NEXT)                                                             \
			goto enter;                                                                \
		table = frame->is_symbolic ? symbolic : plain;                                     \
		NEXT;                                                                              \
	} while (0)

/* The bodies of runs.def. `b` is the second operand, for one operand 0. */
#define RESULT(second, expression)                                                                 \
	{                                                                                          \
		const uint64_t a = r[op->a], b = second;                                           \
		(void)b;                                                                           \
		r[op->to] = (expression);                                                          \
		NEXT;                                                                              \
	}

#define GO(second, expression)                                                                     \
	{                                                                                          \
		const uint64_t a = r[op->a], b = second;                                           \
		const bool is_true = (expression);                                                 \
		r[op->to] = is_true;                                                               \
		op++;                                                                              \
		edge = &op->edges[!is_true];                                                       \
		goto branch;                                                                       \
	}

#define LOAD(bytes, type)                                                                          \
	{                                                                                          \
		const uint64_t address = r[op->a];                                                 \
		type value;                                                                        \
		if (UNLIKELY(!walker->left) ||                                                     \
			(UNLIKELY(walker->is_watching) &&                                          \
				walk_loop_is_relevant_access(                                      \
					walker, op->number, address, bytes, false)))               \
			goto slow_load;                                                            \
		memcpy(&value, memory + record_slot_of(address), bytes);                           \
		r[op->to] = value;                                                                 \
		walker->left--;                                                                    \
		walker->pending = 0;                                                               \
		if (walker->is_noting)                                                             \
			walk_note_access(walker, op->number, address, bytes, false);               \
		NEXT;                                                                              \
	}

#define STORE(bytes, type)                                                                         \
	{                                                                                          \
		const uint64_t address = r[op->b];                                                 \
		const type value = (type)r[op->a];                                                 \
		if (UNLIKELY(walker->is_watching) &&                                               \
			walk_loop_is_relevant_access(walker, op->number, address, bytes, true))    \
			goto slow_store;                                                           \
		memcpy(memory + record_slot_of(address), &value, bytes);                           \
		touched[record_slot_of(address) >> ROOM_PAGE_BITS] = 1;                            \
		touched[(record_slot_of(address) + bytes - 1) >> ROOM_PAGE_BITS] = 1;              \
		walker->pending = address;                                                         \
		walker->pending_bytes = bytes;                                                     \
		if (walker->is_noting)                                                             \
			walk_note_access(walker, op->number, address, bytes, true);                \
		NEXT;                                                                              \
	}

/* Leaves the plain form if the access is not inside of the walk's locals, or has a term. */
#define CHECK_LOCAL(address, bytes, slow)                                                          \
	if (UNLIKELY(address - locals + bytes > walker->local_bytes) ||                            \
		(UNLIKELY(walker->is_watching) &&                                                  \
			walk_may_have_term(walker, address | WALK_LOCAL_KEY, bytes)))              \
	goto slow

#define LOCAL_LOAD(bytes, type)                                                                    \
	{                                                                                          \
		type value;                                                                        \
		CHECK_LOCAL(r[op->a], bytes, slow_load);                                           \
		memcpy(&value, walker->locals + (r[op->a] - locals), bytes);                       \
		r[op->to] = value;                                                                 \
		NEXT;                                                                              \
	}

#define LOCAL_STORE(bytes, type)                                                                   \
	{                                                                                          \
		const type value = (type)r[op->a];                                                 \
		CHECK_LOCAL(r[op->b], bytes, slow_store);                                          \
		memcpy(walker->locals + (r[op->b] - locals), &value, bytes);                       \
		NEXT;                                                                              \
	}

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Defines the variant of an operation for registers that may have terms (values that depend on shared
 * memory). The label `slow` handles operands with terms; without any, the plain operation computes the
 * result, which gets no term. */
#define DERIVE(name, has_terms, slow, plain_run)                                                   \
	symbolic_##name : if (has_terms) goto slow;                                                \
	t[op->to] = NULL;                                                                          \
	goto *plain[plain_run];

/*
 * One long function: labels as values are local to a function. Smaller functions would need a call
 * per op and pass the cached state (registers, edges, counters) through memory.
 */
void walk_frames(struct walker *walker)
{
	static const void *const plain[] = {
#define RUN(name, symbolic, body) &&run_##name,
#define SPECIAL(name, symbolic) &&run_##name,
#include "branches/decode/runs.def"
#undef SPECIAL
#undef RUN
	};
	static const void *const symbolic[] = {
#define RUN(name, symbolic, body) &&symbolic_##symbolic,
#define SPECIAL(name, symbolic) &&symbolic_##symbolic,
#include "branches/decode/runs.def"
#undef SPECIAL
#undef RUN
	};
	uint8_t *const memory = walker->memory, *const touched = walker->touched;
	const uint64_t locals = (uint64_t)(uintptr_t)walker->locals;
	const void *const *table;
	const struct function *function;
	const struct edge *edge;
	const struct op *op;
	struct frame *frame;
	struct term **t;
	uint64_t instructions = 0, *r, *visits;
	enum step step;

enter:
	if (walker->is_over || !walker->frame_count)
		return;
	frame = &walker->frames[walker->frame_count - 1];
	function = frame->function;
	r = walker->registers + frame->registers;
	t = walker->terms + frame->registers;
	visits = walker->visits;
	if (frame->at == function->codes && function->address_count &&
		walk_report_addresses(walker) != STEP_NEXT)
		goto enter;
	table = frame->is_symbolic ? symbolic : plain;
	op = function->ops + (frame->at - function->codes);
	DISPATCH;

run_SLOW:
symbolic_slow:
	SLOWLY(walk_perform);
slow_load:
	SLOWLY(walk_load);
slow_store:
	SLOWLY(walk_store);
run_COMPUTE:
	r[op->to] = compute_code(function->codes + (op - function->ops), r);
	NEXT;

#define RUN(name, symbolic, body) run_##name : body
#define SPECIAL(name, symbolic)
#include "branches/decode/runs.def"
#undef SPECIAL
#undef RUN

run_SELECT:
	if (op->number != UINT32_MAX) {
		if (UNLIKELY(visits[op->number] & WALK_WATCHED))
			goto run_SLOW;
		visits[op->number]++;
	}
	r[op->to] = r[op->a] ? r[op->b] : r[op->c];
	NEXT;

run_BRANCH:
	edge = &op->edges[!r[op->a]];
branch:
	if (UNLIKELY(visits[op->b] & WALK_WATCHED))
		goto run_SLOW;
	visits[op->b]++;
	goto take;

run_GO:
symbolic_go:
	edge = op->edges;
take:
	instructions += (uint32_t)op->to;
	if (UNLIKELY(instructions > INSTRUCTIONS_AT_ONCE)) {
		walker->instructions += instructions;
		instructions = 0;
		if (code_book_is_interrupted(walker->book))
			goto interrupted;
	}
	if (UNLIKELY(edge->is_entangled))
		walk_take_edge(walker, edge);
	else if (table == symbolic)
		walk_loop_make_symbolic_moves(edge, r, t);
	else
		walk_loop_make_moves(edge, r);
	op = function->ops + edge->target;
	DISPATCH;

	/* The operations from here on belong to frames that have symbolic registers. */
	DERIVE(both_go, walk_loop_has_terms(t, op->a, op->b), derive, op->run - 1)
	DERIVE(both, walk_loop_has_terms(t, op->a, op->b), derive, op->run)
	DERIVE(first_go, walk_loop_has_term(t, op->a), derive, op->run - 1)
	DERIVE(first, walk_loop_has_term(t, op->a), derive, op->run)
	DERIVE(load, walk_loop_has_term(t, op->a), slow_load, op->run)
symbolic_store:
	if (walk_loop_has_terms(t, op->a, op->b))
		goto slow_store;
	goto *plain[op->run];
symbolic_select:
	if ((unsigned)walk_loop_has_terms(t, op->a, op->b) | (unsigned)walk_loop_has_term(t, op->c))
		goto run_SLOW;
	t[op->to] = NULL;
	goto run_SELECT;
symbolic_branch:
	if (!walk_loop_has_term(t, op->a))
		goto run_BRANCH;
	if (UNLIKELY(visits[op->b] & WALK_WATCHED))
		goto run_SLOW;
	walk_note_branch(walker, function->codes + (op - function->ops), r[op->a], !r[op->a]);
	edge = &op->edges[!r[op->a]];
	goto take;
derive:
	if (walk_loop_derives(function->codes + (op - function->ops))) {
		r[op->to] = walk_loop_derive(walker, function->codes + (op - function->ops), r, t);
		NEXT;
	}
symbolic_compute:
	frame->at = function->codes + (op - function->ops);
	{
		const uint64_t value = compute_code(frame->at, r);

		walk_set_computed_term(walker, frame->at, value);
		r[op->to] = value;
	}
	NEXT;

interrupted:
	(void)walk_end_at(walker, WALK_UNKNOWN, "interrupted");
}
