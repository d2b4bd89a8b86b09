/* Reads the record of a thread: entries, predictions, calls by code without bitcode, and jumps. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "branches/values/segments.h"
#include "branches/interpret/walk_internal.h"
#include "abi/instrument_abi.h"

static uint64_t walk_number(struct walker *walker)
{
	uint64_t number = 0;
	const uint8_t *next = record_number_get(walker->at, walker->end, &number);

	walker->at = next ? next : walker->end; /* zeros follow behind the end */
	return number;
}

void walk_next_entry(struct walker *walker)
{
	uint64_t number;

	if (walker->at >= walker->end) {
		walker->left = 0;
		walker->tag = RECORD_END;
		return;
	}
	number = walk_number(walker);
	walker->left = number >> RECORD_TAG_BITS;
	walker->tag = number & ((1u << RECORD_TAG_BITS) - 1);
}

enum step walk_end_at(struct walker *walker, enum walk_end end, const char *format, ...)
{
	va_list arguments;

	walker->is_over = true;
	walker->summary->end = end;
	va_start(arguments, format);
	(void)vsnprintf(walker->summary->reason, sizeof walker->summary->reason, format, arguments);
	va_end(arguments);
	return STEP_OVER;
}

void walk_drop(struct walker *walker)
{
	if (!walker->pending)
		return;
	walk_touch(walker, walker->pending, walker->pending_bytes);
	memset(walker->memory + record_slot_of(walker->pending), 0, walker->pending_bytes);
	walker->pending = 0;
}

bool walk_push(struct walker *walker, struct function *function, bool is_from_outside)
{
	struct frame *frame;

	code_decode(walker->book, function);
	if (walker->frame_count == FRAMES_MOST ||
		walker->register_count + function->register_count + 1 > REGISTERS_MOST) {
		(void)walk_end_at(walker, WALK_UNKNOWN, "calls nested too deeply");
		return false;
	}
	frame = &walker->frames[walker->frame_count++];
	*frame = (struct frame){.function = function,
		.at = function->codes,
		.registers = walker->register_count,
		.locals = walker->local_bytes,
		.is_from_outside = is_from_outside};
	if (function->constant_count)
		memcpy(walker->registers + walker->register_count + function->value_count,
			function->constants,
			function->constant_count * sizeof *function->constants);
	walker->register_count += function->register_count;
	if (walker->book->branch_count > walker->visit_capacity)
		walk_open_visits(walker);
	return true;
}

static void walk_stream_pop_to(struct walker *walker, uint32_t count)
{
	while (walker->frame_count > count) {
		const struct frame *frame = &walker->frames[--walker->frame_count];

		walker->register_count = frame->registers;
		walker->local_bytes = frame->locals;
	}
}

/* Makes simultaneous moves: all sources are read before the first write. */
static void walk_stream_move_values(
	struct walker *walker, const struct edge *edge, uint64_t *values, struct term **terms)
{
	uint64_t *registers = walk_registers(walker);

	for (uint32_t i = 0; i < edge->count; i++) {
		values[i] = registers[edge->moves[i].from];
		terms[i] = walk_operand_term(walker, edge->moves[i].from);
	}
	for (uint32_t i = 0; i < edge->count; i++) {
		walk_set_term(walker, edge->moves[i].to, terms[i]);
		registers[edge->moves[i].to] = values[i];
	}
}

#define MOVES_INLINE 64

void walk_take_edge(struct walker *walker, const struct edge *edge)
{
	const bool is_long = edge->count > MOVES_INLINE;
	struct frame *frame = &walker->frames[walker->frame_count - 1];
	uint64_t values[MOVES_INLINE];
	struct term *terms[MOVES_INLINE];
	FREE_SCOPED uint64_t *more = is_long ? array_new(edge->count, sizeof *more) : NULL;
	FREE_SCOPED struct term **more_terms =
		is_long ? array_new(edge->count, sizeof(struct term *)) : NULL;

	frame->at = frame->function->codes + edge->target;
	walk_stream_move_values(
		walker, edge, is_long ? more : values, is_long ? more_terms : terms);
}

static enum step walk_stream_enter(struct walker *walker)
{
	const uint32_t site =
		walker->tag == RECORD_ENTER_AGAIN ? walker->entered : (uint32_t)walk_number(walker);
	struct function *function = code_book_of_site(walker->book, site);

	walk_drop(walker);
	walker->entered = site;
	if (!function)
		return walk_end_at(walker, WALK_LOST, "a call of a function that is not known");
	if (!walk_push(walker, function, true))
		return STEP_OVER;
	for (uint32_t i = 0; i < function->argument_count; i++) {
		uint64_t *known = &walker->values[record_argument_slot(site, i)];

		*known = record_with_difference(walk_number(walker), *known);
		walk_room_note(walker->room->reported, record_argument_slot(site, i));
		walk_registers(walker)[function->argument_sites[i]] = *known;
	}
	walk_next_entry(walker);
	return STEP_MOVED;
}

/* Ops to try before a binary search: ops of other threads lie in between. */
#define OPS_BETWEEN 16u

/* Returns the op with this step, from index `first` on; UINT64_MAX: none. */
static uint64_t walk_stream_find_op(const struct run_record *record, uint64_t step, uint64_t first)
{
	uint64_t end = record->op_count, found;

	for (uint32_t i = 0; i < OPS_BETWEEN && first < end && record->ops[first].step < step; i++)
		first++;
	if (first < end && record->ops[first].step >= step)
		end = first;
	SEARCH(found, first, end, record->ops[found].step < step);
	return found < record->op_count && record->ops[found].step == step ? found : UINT64_MAX;
}

const struct record_op *walk_coming_op(const struct walker *walker)
{
	const struct run_record *record = walker->walk->record;
	const bool is_next = walker->tag == RECORD_NEXT || walker->tag == RECORD_NEXT_OUTSIDE;
	struct walker look = {.at = walker->at, .end = walker->end};
	uint64_t number;

	if (walker->left ||
		!(is_next || walker->tag == RECORD_SYNC || walker->tag == RECORD_SYNC_OUTSIDE))
		return NULL;
	number = walk_stream_find_op(
		record, walker->op_step + (is_next ? 1 : walk_number(&look)), walker->op_number);
	return number == UINT64_MAX ? NULL : &record->ops[number];
}

static void walk_stream_read_sync(struct walker *walker)
{
	const bool is_next = walker->tag == RECORD_NEXT || walker->tag == RECORD_NEXT_OUTSIDE;
	const bool is_outside =
		walker->tag == RECORD_SYNC_OUTSIDE || walker->tag == RECORD_NEXT_OUTSIDE;
	const struct run_record *record = walker->walk->record;
	uint64_t op = UINT64_MAX;

	walker->op_step += is_next ? 1 : walk_number(walker);
	if (walker->mode & WALK_SHARING && walker->walk->segments)
		walker->segment = segments_at(
			walker->walk->segments, walker->thread, walker->segment, walker->op_step);
	walk_reach(walker, walker->position + (is_next ? 1 : walk_number(walker)));
	if (is_outside)
		walk_drop(walker);
	else
		walk_settle(walker);
	if (walker->mode & (WALK_EVENTS | WALK_SHARING) && !walker->is_over)
		op = walk_stream_find_op(record, walker->op_step, walker->op_number);
	if (op != UINT64_MAX)
		walker->op_number = op;
	if (walker->mode & WALK_EVENTS && !walker->is_over)
		walk_add_event(walker, EVENT_OP)->value = op;
	walker->steps++;
	if (op != UINT64_MAX)
		walk_note_comparison(walker, &record->ops[op]);
	walk_next_entry(walker);
}

/* Continues at a landing pad, after an exception. The innermost active call with this pad is the
 * right one. */
static enum step walk_stream_enter_landing_pad(
	struct walker *walker, LLVMValueRef pad, uint64_t value, uint64_t second)
{
	for (uint32_t i = walker->frame_count; i-- > 0;) {
		const struct frame *frame = &walker->frames[i];
		const struct code *call = frame->at, *landing;

		if (call->op != CODE_CALL || !call->unwind)
			continue;
		landing = frame->function->codes + call->unwind->target;
		if (landing->value != pad)
			continue;
		walker->instructions += call->instructions;
		walk_stream_pop_to(walker, i + 1);
		walk_take_edge(walker, call->unwind);
		walk_registers(walker)[landing->to] = value;
		walk_registers(walker)[landing->to + 1] = second;
		walker->frames[i].at = landing + 1;
		return STEP_MOVED;
	}
	return walk_end_at(walker, WALK_LOST, "an exception that lands nowhere");
}

static enum step walk_stream_return_again(struct walker *walker, LLVMValueRef call, uint64_t value)
{
	for (uint32_t i = walker->frame_count; i-- > 0;) {
		const struct function *function = walker->frames[i].function;

		if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)) != function->value)
			continue;
		for (uint32_t j = 0; j < function->code_count; j++) {
			const struct code *code = &function->codes[j];

			if (code->value != call || code->op != CODE_CALL)
				continue;
			walk_stream_pop_to(walker, i + 1);
			walk_registers(walker)[code->to] = value;
			walker->frames[i].at = code + 1;
			return STEP_MOVED;
		}
	}
	return walk_end_at(walker, WALK_LOST, "a longjmp to nowhere");
}

static enum step walk_stream_jump(struct walker *walker, uint32_t waiting)
{
	const struct image *image = walker->book->image;
	const uint8_t *start = walker->at;
	const uint32_t site = (uint32_t)walk_number(walker);
	const uint64_t value = walk_number(walker), second = walk_number(walker);
	const struct image_site *of;
	LLVMValueRef instruction;

	if (site == waiting) {
		walker->at = start;
		return STEP_JUMP;
	}
	if (site >= image->site_count || image->sites[site].unit == UINT32_MAX)
		return walk_end_at(walker, WALK_LOST, "a jump to a location that is not known");
	of = &image->sites[site];
	instruction = program_instruction(
		&image->program.units[of->unit], of->function_number, of->instruction_number);
	walk_drop(walker);
	walk_next_entry(walker);
	return of->kind == SITE_LANDING
		       ? walk_stream_enter_landing_pad(walker, instruction, value, second)
		       : walk_stream_return_again(walker, instruction, value);
}

static enum step walk_stream_check(struct walker *walker, uint32_t site, uint64_t address)
{
	const uint32_t recorded = (uint32_t)walk_number(walker);
	const uint64_t where = walk_number(walker);

	walk_next_entry(walker);
	if (site == recorded && (address == where || address == UINT64_MAX))
		return STEP_NEXT;
	return walk_end_at(walker, WALK_LOST, "site %u at %#llx, where the walk is at %u, %#llx",
		recorded, (unsigned long long)where, site, (unsigned long long)address);
}

static enum step walk_stream_at_entry(struct walker *walker, uint32_t waiting)
{
	switch (walker->tag) {
	case RECORD_ENTER:
	case RECORD_ENTER_AGAIN:
		return walk_stream_enter(walker);
	case RECORD_JUMP:
		return walk_stream_jump(walker, waiting);
	case RECORD_SYNC:
	case RECORD_NEXT:
	case RECORD_SYNC_OUTSIDE:
	case RECORD_NEXT_OUTSIDE:
		walk_stream_read_sync(walker);
		return walker->is_over ? STEP_OVER : STEP_NEXT;
	case RECORD_TURN:
		walk_reach(walker, walker->position + walk_number(walker));
		walk_next_entry(walker);
		return walker->is_over ? STEP_OVER : STEP_NEXT;
	case RECORD_LIVE:
		walk_drop(walker);
		walker->is_live = true;
		walker->is_noting = walker->mode & WALK_NOTING;
		walk_next_entry(walker);
		return STEP_NEXT;
	case RECORD_BAD:
		return walk_end_at(walker, WALK_CRASHED, "an access to memory that is not there");
	case RECORD_END:
		walker->is_over = true;
		walker->summary->end = WALK_COMPLETE;
		return STEP_OVER;
	default:
		return walk_end_at(walker, WALK_LOST, "an entry that does not belong there");
	}
}

/*
 * Processes entries until the report of `site` is due: STEP_NEXT (predicted), STEP_ENTRY or
 * STEP_JUMP. After any other result the frame must not continue here.
 */
static enum step walk_wait(struct walker *walker, uint32_t site, uint64_t address)
{
	enum step step = walk_pass(walker, site, address);

	for (; step == STEP_NEXT; step = walk_stream_at_entry(walker, site)) {
		if (walker->left) {
			walker->left--;
			return STEP_NEXT;
		}
		if (walker->tag == RECORD_READ || walker->tag == RECORD_VALUE)
			return STEP_ENTRY;
	}
	return step;
}

enum step walk_pass(struct walker *walker, uint32_t site, uint64_t address)
{
	enum step step = STEP_NEXT;

	for (; walker->is_checked && site != SITE_NONE && step == STEP_NEXT;
		step = walk_stream_at_entry(walker, site)) {
		if (walker->left)
			return walk_end_at(
				walker, WALK_LOST, "a report that was predicted elsewhere");
		if (walker->tag == RECORD_REPORT)
			return walk_stream_check(walker, site, address);
	}
	return step;
}

enum step walk_wait_outside(struct walker *walker)
{
	enum step step = STEP_NEXT;

	while (step == STEP_NEXT) {
		if (walker->left || walker->tag == RECORD_READ || walker->tag == RECORD_VALUE)
			return walk_end_at(walker, WALK_LOST, "a report where none should come");
		if (walker->tag == RECORD_REPORT) { /* report of a landing pad */
			(void)walk_number(walker);
			(void)walk_number(walker);
			walk_next_entry(walker);
		} else {
			step = walk_stream_at_entry(walker, SITE_NONE);
		}
	}
	return step;
}

enum step walk_value(struct walker *walker, uint32_t site, uint32_t part, uint64_t *value)
{
	uint64_t *known = &walker->values[record_value_slot(site, part)];
	const struct image_site *of = &walker->book->image->sites[site];
	const enum step step = walk_wait(walker, site, UINT64_MAX);

	if (step >= STEP_MOVED)
		return step;
	if (of->kind == SITE_RESULT || step == STEP_JUMP)
		walk_drop(walker);
	else
		walk_settle(walker);
	if (step == STEP_JUMP) {
		(void)walk_number(walker);
		*value = walk_number(walker);
		(void)walk_number(walker);
		walk_next_entry(walker);
		return STEP_NEXT;
	}
	if (step == STEP_NEXT) {
		*value = *known;
		return STEP_NEXT;
	}
	if (walker->tag != RECORD_VALUE)
		return walk_end_at(walker, WALK_LOST, "a read where a value should come");
	*value = *known = record_with_difference(walk_number(walker), *known);
	walk_room_note(walker->room->reported, record_value_slot(site, part));
	walk_next_entry(walker);
	return STEP_NEXT;
}

enum step walk_read_entry(
	struct walker *walker, uint32_t site, uint64_t address, uint32_t bytes, uint64_t *value)
{
	const enum step step = walk_wait(walker, site, address);

	if (step >= STEP_MOVED)
		return step;
	walk_settle(walker);
	if (step == STEP_NEXT) {
		*value = walk_known(walker, address, bytes);
		return STEP_NEXT;
	}
	if (walker->tag != RECORD_READ)
		return walk_end_at(walker, WALK_LOST, "a value where a read should come");
	*value = compute_mask(
		record_with_difference(walk_number(walker), walk_known(walker, address, bytes)),
		8 * bytes);
	walk_touch(walker, address, bytes);
	memcpy(walker->memory + record_slot_of(address), value, bytes);
	walk_next_entry(walker);
	return STEP_NEXT;
}
