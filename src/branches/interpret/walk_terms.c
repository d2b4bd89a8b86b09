/* Terms of computed values, and the events of branches. */
#include <string.h>

#include "base/array.h"
#include "branches/interpret/walk_internal.h"

void walk_make_symbolic(struct walker *walker)
{
	struct frame *frame = &walker->frames[walker->frame_count - 1];

	memset(walker->terms + frame->registers, 0,
		(frame->function->register_count + 1) * sizeof *walker->terms);
	frame->is_symbolic = true;
}

struct term *walk_term_of(struct walker *walker, int32_t operand, uint32_t width)
{
	struct term *term = walk_operand_term(walker, operand);

	return term ? term
		    : term_constant(&walker->walk->terms, width, walk_registers(walker)[operand]);
}

/* Returns the term of the sum a + b of 64 bits, which is `a` itself if `b` is the constant 0. */
static struct term *walk_terms_sum_of(struct term_arena *arena, struct term *a, struct term *b)
{
	return b->op == TERM_CONSTANT && !b->value ? a : term_binary(arena, LLVMAdd, a, b);
}

/* Returns the index, sign-extended to 64 bits and multiplied by its scale. */
static struct term *walk_terms_scaled(struct walker *walker, const struct address_term *of)
{
	struct term_arena *arena = &walker->walk->terms;
	struct term *index =
		term_extended(arena, walk_term_of(walker, of->operand, of->width), true);

	return of->scale == 1 ? index
			      : term_binary(arena, LLVMMul, index,
					term_constant(arena, 64, (uint64_t)of->scale));
}

static struct term *walk_terms_derive_address(struct walker *walker, const struct code *code)
{
	struct term_arena *arena = &walker->walk->terms;
	bool has_term = walk_operand_term(walker, code->a) != NULL;
	struct term *sum;

	for (uint32_t i = 0; i < code->count; i++)
		has_term |= walk_operand_term(walker, code->terms[i].operand) != NULL;
	if (!has_term)
		return NULL;
	sum = walk_term_of(walker, code->a, 64);
	if (code->immediate)
		sum = walk_terms_sum_of(
			arena, sum, term_constant(arena, 64, (uint64_t)code->immediate));
	for (uint32_t i = 0; i < code->count; i++)
		sum = walk_terms_sum_of(arena, sum, walk_terms_scaled(walker, &code->terms[i]));
	return sum;
}

/* Returns the number of operands. Also sets the width of the first operands. */
static uint32_t walk_terms_operands_of(const struct code *code, uint32_t *width)
{
	*width = code->width;
	switch (code->op) {
	case CODE_BINARY:
	case CODE_COMPARE:
	case CODE_FLOAT:
	case CODE_FLOAT_COMPARE:
		return 2;
	case CODE_FLOAT_NEGATE:
	case CODE_MOVE:
		return 1;
	case CODE_INTRINSIC:
		return 3;
	default:
		*width = code->sub;
		return 1;
	}
}

struct term *walk_derive(struct walker *walker, const struct code *code, uint64_t value)
{
	uint32_t width;
	const uint32_t count = walk_terms_operands_of(code, &width);
	struct term *a, *b, *c;
	struct term_like like = {
		.op = code->op, .sub = code->sub, .width = code->width, .value = value};

	if (code->op == CODE_ADDRESS)
		return walk_terms_derive_address(walker, code);
	a = walk_operand_term(walker, code->a);
	b = count > 1 ? walk_operand_term(walker, code->b) : NULL;
	c = count > 2 ? walk_operand_term(walker, code->c) : NULL;
	if (!a && !b && !c)
		return NULL;
	if (code->op == CODE_MOVE)
		return a;
	if (code->op == CODE_COMPARE || code->op == CODE_FLOAT_COMPARE)
		like.width = 1;
	like.a = walk_term_of(walker, code->a, width);
	if (count > 1)
		like.b = walk_term_of(walker, code->b, width);
	if (!c && code->op == CODE_INTRINSIC &&
		(code->sub == INTRINSIC_FUNNEL_LEFT || code->sub == INTRINSIC_FUNNEL_RIGHT))
		return walk_funnel_term(
			walker, code, like.a, like.b, walk_registers(walker)[code->c]);
	return term_make(&walker->walk->terms, &like);
}

void walk_open_visits(struct walker *walker)
{
	const struct code_book *book = walker->book;
	const struct walk *walk = walker->walk;
	const uint32_t before = walker->visit_capacity;

	walker->visit_capacity = book->branch_count;
	walker->visits =
		array_resize(walker->visits, walker->visit_capacity, sizeof *walker->visits);
	for (uint32_t i = before; i < book->branch_count; i++) {
		walker->visits[i] =
			walker->mode & WALK_PATHS || walk->instructions_most ? WALK_WATCHED : 0;
		for (uint32_t j = 0; j < walk->watch_count; j++)
			if (walk->watches[j].instruction == book->branches[i])
				walker->visits[i] = WALK_WATCHED;
	}
}

static void walk_terms_note_callers(const struct walker *walker, struct walk_watch *watch)
{
	watch->caller_count = 0;
	for (uint64_t i = walker->frame_count - 1; i-- && watch->caller_count < WALK_CALLERS_MOST;)
		watch->callers[watch->caller_count++] = walker->frames[i].at->value;
}

static void walk_terms_check_watches(
	struct walker *walker, const struct code *code, uint64_t occurrence, uint64_t outcome)
{
	for (uint32_t i = 0; i < walker->walk->watch_count; i++) {
		struct walk_watch *watch = &walker->walk->watches[i];

		if (watch->thread != walker->thread || watch->instruction != code->value ||
			watch->occurrence != occurrence)
			continue;
		watch->is_reached = true;
		watch->outcome = outcome;
		watch->position = walker->position;
		walk_terms_note_callers(walker, watch);
	}
}

static bool walk_terms_is_noted(const struct walker *walker, const struct term *term)
{
	if (walker->mode & WALK_PATHS)
		return walker->is_live;
	return walker->mode & WALK_EVENTS && term && term->op != TERM_CONSTANT;
}

void walk_note_branch(
	struct walker *walker, const struct code *code, uint64_t condition, uint32_t outcome)
{
	const uint64_t occurrence = walker->visits[code->branch]++ & ~WALK_WATCHED;
	struct term *term = walk_operand_term(walker, code->a);
	struct walk_event *event;

	if (walker->mode & WALK_COUNTING)
		walk_terms_check_watches(walker, code, occurrence, outcome);
	if (!walk_terms_is_noted(walker, term))
		return;
	event = walk_add_event(walker, code->op == CODE_SELECT ? EVENT_CHOICE : EVENT_BRANCH);
	event->term = term_index(&walker->walk->terms, term);
	event->value = condition;
	event->is_taken = condition != 0;
	event->case_value = outcome;
	event->occurrence = occurrence;
	event_set_instruction(event, code->value);
}
