/*
 * Fast path for events in the inner loop: one scalar access to memory at a known address, or one
 * plain branch. In these common cases the functions have the effect of walk_load(), walk_store()
 * and walk_note_branch().
 */
#ifndef RADDLE_BRANCHES_INTERPRET_WALK_QUICK_H
#define RADDLE_BRANCHES_INTERPRET_WALK_QUICK_H

#include "branches/interpret/walk_internal.h"

/*
 * Returns whether the access becomes an event and needs no other processing. The address must have
 * no term, or one that will be pinned.
 */
static inline bool quick_is_event(const struct walker *walker, const struct function *function,
	uint64_t address, uint32_t bytes)
{
	return walker->is_quick && walker->is_live && !walker->is_before &&
	       !function->is_excluded && walk_is_shared(walker->walk, address, bytes);
}

static inline struct walk_event *quick_add(struct walker *walker, enum event_kind kind,
	const struct code *code, uint32_t bytes, uint64_t address, uint64_t value)
{
	struct walked_thread *out = walker->out;
	struct walk_event *event;

	if (__builtin_expect(out->count == out->capacity, 0))
		walk_grow_events(walker);
	event = &out->events[out->count++];
	out->critical_count++;
	*event = (struct walk_event){.kind = (uint8_t)kind,
		.bytes = bytes & 15,
		.instruction_high = (uint16_t)((uint64_t)(uintptr_t)code->value >> 32),
		.instruction_low = (uint32_t)(uintptr_t)code->value,
		.site = code->site,
		.step = (uint32_t)(walker->steps - 1),
		.position = (uint32_t)walker->position,
		.address = address,
		.value = value};
	return event;
}

/* A read that the record predicts. */
static inline struct term *quick_read(struct walker *walker, const struct code *code,
	uint64_t address, uint32_t bytes, uint64_t value)
{
	struct term *term;

	walker->left--;
	walker->pending = 0;
	walk_count_step(walker, code->site);
	walk_pin_address(walker, code, code->a);
	term = term_variable(&walker->walk->terms, 8 * bytes, value);
	quick_add(walker, EVENT_READ, code, bytes, address, value)->term =
		term_place(&walker->walk->terms, term);
	return term;
}

/* A write; `t` are the terms of the frame's registers, NULL: none. */
static inline void quick_write(struct walker *walker, const struct code *code, uint32_t bytes,
	const uint64_t *r, struct term *const *t)
{
	const uint64_t value = compute_mask(r[code->a], 8 * bytes);
	struct term *term = NULL;

	walk_written(walker, r[code->b], bytes, &value);
	walk_count_step(walker, code->site);
	if (t) {
		walk_pin_address(walker, code, code->b);
		term = t[code->a] && !term_is_fixed(t[code->a])
			       ? walk_resize(walker, t[code->a], 8 * bytes)
			       : NULL;
	}
	quick_add(walker, EVENT_WRITE, code, bytes, r[code->b], value)->term =
		term_place(&walker->walk->terms, term);
}

/* Returns whether quick_derive() handles the code; else walk_derive() does. */
static inline bool quick_derives(const struct code *code)
{
	return code->op == CODE_COMPARE ||
	       (code->op == CODE_BINARY && (code->sub < LLVMUDiv || code->sub > LLVMFRem));
}

/* Computes the value and sets its term. At least one operand must have a term. */
static inline uint64_t quick_derive(
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

/* Records a branch or choice on a symbolic condition. No watch may refer to it. */
static inline void quick_decide(struct walker *walker, const struct code *code,
	enum event_kind kind, const struct term *term, bool is_true)
{
	struct walked_thread *out = walker->out;
	const uint64_t occurrence = walker->visits[code->branch]++;

	if (term->op == TERM_CONSTANT)
		return;
	if (__builtin_expect(out->count == out->capacity, 0))
		walk_grow_events(walker);
	out->branch_count++;
	out->events[out->count++] = (struct walk_event){.kind = (uint8_t)kind,
		.is_taken = is_true,
		.instruction_high = (uint16_t)((uint64_t)(uintptr_t)code->value >> 32),
		.instruction_low = (uint32_t)(uintptr_t)code->value,
		.case_value = kind == EVENT_BRANCH ? !is_true : is_true,
		.step = (uint32_t)walker->steps,
		.position = (uint32_t)walker->position,
		.term = term_place(&walker->walk->terms, term),
		.value = is_true,
		.occurrence = occurrence};
}

/* Evaluates a select with a symbolic condition and sets the result's term. */
static inline uint64_t quick_select(
	struct walker *walker, const struct code *code, const uint64_t *r, struct term **t)
{
	struct term_arena *arena = &walker->walk->terms;
	const uint64_t value = r[r[code->a] ? code->b : code->c];
	struct term_like like = {.op = CODE_SELECT,
		.width = code->width,
		.value = value,
		.a = t[code->a],
		.b = t[code->b],
		.c = t[code->c]};

	quick_decide(walker, code, EVENT_CHOICE, like.a, r[code->a]);
	if (!like.b)
		like.b = term_constant(arena, code->width, r[code->b]);
	if (!like.c)
		like.c = term_constant(arena, code->width, r[code->c]);
	t[code->to] = term_make(arena, &like);
	return value;
}

#endif
