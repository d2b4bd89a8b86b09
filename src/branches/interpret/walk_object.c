/* Objects in a walk, and accesses whose symbolic address indexes an object. */

#include "base/array.h"
#include "branches/interpret/walk_internal.h"

static struct object_time walk_object_time_now(const struct walker *walker)
{
	return (struct object_time){walker->position, walker->object_count};
}

void walk_note_object(struct walker *walker, uint64_t address, uint64_t bytes)
{
	struct object_table *table = &walker->walk->objects;

	walker->object_count++;
	if (!table->is_complete)
		objects_add(table, address, bytes, walk_object_time_now(walker));
}

/* Longer blocks are not recorded word by word. */
#define ZEROS_MOST (UINT64_C(1) << 20)

/* Notes a calloc() before the second thread exists. */
static void walk_object_note_zeros(struct walker *walker, uint64_t given, uint64_t bytes)
{
	for (uint64_t done = 0; bytes <= ZEROS_MOST && done < bytes; done += 8)
		walk_note_initial(
			walker, given + done, bytes - done < 8 ? (uint32_t)(bytes - done) : 8, 0);
}

static void walk_object_note_release(struct walker *walker, uint64_t address)
{
	struct walk *walk = walker->walk;

	if (!(walker->mode & WALK_EVENTS) || walker->is_before || !walker->is_live ||
		!walker->out->count || !walk_is_shared(walk, address, RELEASED_BYTES))
		return;
	ARRAY_APPEND(walk->releases, walk->release_count,
		(struct walk_release){.address = address,
			.index = (uint32_t)walker->out->count,
			.thread = walker->thread});
}

void walk_note_allocation(struct walker *walker, const struct code *call, const uint64_t *registers)
{
	const uint64_t first = call->count > 0 ? registers[call->operands[0]] : 0;
	const uint64_t second = call->count > 1 ? registers[call->operands[1]] : 0;
	const uint64_t given = call->to >= 0 ? registers[call->to] : 0;

	if ((call->allocates == ALLOCATION_END || call->allocates == ALLOCATION_MOVE) && first) {
		walk_note_object(walker, first, 0);
		walk_object_note_release(walker, first);
	}
	if (call->allocates == ALLOCATION_END || !given)
		return;
	if (call->allocates == ALLOCATION_PRODUCT && !walker->is_live)
		walk_object_note_zeros(walker, given, first * second);
	walk_note_object(walker, given,
		call->allocates == ALLOCATION_FIRST	? first
		: call->allocates == ALLOCATION_PRODUCT ? first * second
							: second);
}

/* Returns false if the object is unknown. */
static bool walk_object_find_part(
	const struct walker *walker, const struct code *code, uint64_t *begin, uint64_t *bytes)
{
	const struct object_part *object = &code->object;
	const struct frame *frame = &walker->frames[walker->frame_count - 1];
	uint64_t base;

	if (object->base < 0)
		return false;
	base = walker->registers[frame->registers + (uint64_t)object->base];
	*begin = base + (uint64_t)object->offset;
	*bytes = object->bytes ? object->bytes
			       : objects_bytes(&walker->walk->objects, base,
					 walk_object_time_now(walker));
	return *bytes != 0;
}

/*
 * Restricts the term to the object of this run, whose bounds alone are known. The result is the
 * address while the base has this run's value, and this run's address otherwise.
 */
static struct term *walk_object_restrict_to_base(
	struct walker *walker, struct term *address, struct term *base)
{
	struct term_arena *arena = &walker->walk->terms;
	struct term *is_same =
		term_comparison(arena, LLVMIntEQ, base, term_constant(arena, 64, base->value));

	return term_selection(arena, is_same, address, term_constant(arena, 64, address->value));
}

/* Adds the event of an index. The event pins the address unless the base is symbolic or the address
 * stays open. */
static void walk_object_add_index(struct walker *walker, const struct code *code,
	struct term *address, struct term *base, bool is_open)
{
	struct walk_event *event;

	if (!base && !is_open) {
		(void)walk_pin(walker, EVENT_INDEX, address, code);
		return;
	}
	event = walk_add_term_event(walker, EVENT_INDEX,
		base ? walk_object_restrict_to_base(walker, address, base) : address, code);
	event->is_open = is_open;
}

#define CHOICES_MOST 64

/* Possible values of an address term, given an unchanged base pointer (NULL: none). */
struct choice {
	const struct term *base;
	uint64_t bytes;
	uint32_t left; /* number of terms that may still be visited */
};

/* Returns whether all values of the term are constants inside the object that starts at `begin`. */
static bool walk_object_is_choice_in(struct choice *choice, const struct term *term, uint64_t begin)
{
	if (!choice->left)
		return false;
	choice->left--;
	if (term->op == TERM_CONSTANT || term == choice->base)
		return term->value - begin < choice->bytes;
	if (term->op == CODE_SELECT)
		return walk_object_is_choice_in(choice, term_operand(term, 1), begin) &&
		       walk_object_is_choice_in(choice, term_operand(term, 2), begin);
	if (term->op != CODE_BINARY || term->sub != LLVMAdd)
		return false;
	if (term_operand(term, 1)->op == TERM_CONSTANT)
		return walk_object_is_choice_in(
			choice, term_operand(term, 0), begin - term_operand(term, 1)->value);
	return term_operand(term, 0) == choice->base &&
	       walk_object_is_choice_in(
		       choice, term_operand(term, 1), begin - term_operand(term, 0)->value);
}

static bool walk_object_is_choice(
	const struct term *term, const struct term *base, uint64_t begin, uint64_t bytes)
{
	struct choice choice = {.base = base, .bytes = bytes, .left = CHOICES_MOST};

	return walk_object_is_choice_in(&choice, term, begin);
}

static void walk_object_report_address(
	struct walker *walker, const struct code *code, struct term *term, bool is_open)
{
	const uint64_t number = walker->out->count;
	uint64_t begin, bytes;
	const bool has_part = walk_object_find_part(walker, code, &begin, &bytes);
	struct term *base;

	/*
	 * No index event is needed in three cases. The address is outside already; to verify
	 * another run, branches/solve/entry.c finds the address event instead. In the second case,
	 * the part is not the first one; entry.c counts events from the start of the run. In the
	 * third case, every possible address lies in the object while the base pointer is the same.
	 */
	base = has_part ? walk_operand_term(walker, code->object.base) : NULL;
	if (has_part && !walker->walk->part.begin && term->value - begin < bytes &&
		!((is_open || base) && walk_object_is_choice(term, base, begin, bytes)))
		walk_object_add_index(walker, code, term, base, is_open);
	/* The question about a known object is whether the index leaves it. */
	if (is_open) {
		struct walk_event *event = walk_add_term_event(walker, EVENT_ADDRESS, term, code);

		event->is_open = true;
		event->is_never_null = (has_part && !base) ||
				       walk_object_is_choice(term, NULL, NULL_PAGE, INT64_MAX);
	} else {
		/* NULL: the index event pinned the term */
		(void)walk_pin(walker, EVENT_ADDRESS, term, code);
	}
	if (has_part) {
		walker->out->events[number].address = begin;
		walker->out->events[number].occurrence = bytes;
	}
}

struct term *walk_open_address(
	struct walker *walker, const struct code *code, int32_t operand, uint64_t address)
{
	struct walk *walk = walker->walk;
	struct term *term = walk_operand_term(walker, operand);

	if (!term || term->op == TERM_CONSTANT || term->is_pinned)
		return NULL;
	if (walk->has_open_addresses && code->location == LOCATION_SITE && walker->is_live &&
		!walker->is_before && !code->is_vector && code->bytes <= 8 &&
		!walker->frames[walker->frame_count - 1].function->is_excluded) {
		if (walk_is_shared(walk, address, code->bytes)) {
			if (!term->is_reported)
				walk_object_report_address(walker, code, term, true);
			term->is_reported = true;
			return term;
		}
		walk_want(walk, address >> 3);
	}
	walk_object_report_address(walker, code, term, false);
	return NULL;
}
