/* Calls and returns: of functions with bitcode, which are interpreted, and of code without. */
#include "branches/interpret/walk_internal.h"

static void walk_call_continue_behind(struct walker *walker, const struct code *call)
{
	if (call->normal) {
		walker->instructions += call->instructions;
		walk_take_edge(walker, call->normal);
		return;
	}
	walker->frames[walker->frame_count - 1].at = call + 1;
}

/* Sets the term of a result. The results of calls in an excluded function are constants. */
static void walk_call_set_result_term(
	struct walker *walker, const struct code *call, uint32_t number, struct term *term)
{
	if (term && walker->frames[walker->frame_count - 1].function->is_excluded) {
		(void)walk_pin(walker, EVENT_VALUE, term, call);
		term = NULL;
	}
	walk_set_term(walker, call->to + (int32_t)number, term);
}

/* Returns whether the recorder omitted the result because the walk interprets the callee. */
static bool walk_call_is_recomputed(
	const struct walker *walker, const struct code *call, const struct function *callee)
{
	return walker->book->image->sites[call->site].order & SITE_CALLEES && callee->is_marked;
}

enum step walk_finish(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const struct frame left = walker->frames[walker->frame_count - 1];
	const struct code *call;

	walker->instructions += code->instructions;
	walker->frame_count--;
	walker->register_count = left.registers;
	walker->local_bytes = left.locals;
	if (left.is_from_outside || !walker->frame_count)
		return STEP_MOVED;
	call = walker->frames[walker->frame_count - 1].at;
	for (uint32_t i = 0; i < code->count && call->to >= 0; i++) {
		walk_registers(walker)[call->to + (int32_t)i] = registers[code->a + (int32_t)i];
		if (walker->mode & WALK_EVENTS)
			walk_call_set_result_term(walker, call, i,
				left.is_symbolic
					? walker->terms[left.registers + (uint64_t)code->a + i]
					: NULL);
	}
	/* Some call sites report a result that the walk already computed: consume the report. */
	if (call->site != SITE_NONE && !walk_call_is_recomputed(walker, call, left.function)) {
		walker->frames[walker->frame_count - 1].at = call;
		walker->frames[walker->frame_count - 1].addresses = UINT8_MAX;
		return STEP_MOVED;
	}
	walk_call_continue_behind(walker, call);
	return STEP_MOVED;
}

/* Returns NULL for code without bitcode. Caches the last callee, which is usually right. */
static struct function *walk_call_callee_of(
	struct walker *walker, const struct code *code, uint64_t target)
{
	struct function *caller = walker->frames[walker->frame_count - 1].function;
	struct code *known = &caller->codes[code - caller->codes];

	if (code->sub)
		return NULL;
	if (!known->callee_address || known->callee_address != target) {
		known->callee = code_book_at(walker->book, target);
		known->callee_address = target;
	}
	return known->callee;
}

static enum step walk_call_inside(
	struct walker *walker, const struct code *code, struct function *callee)
{
	const struct frame caller = walker->frames[walker->frame_count - 1];
	const uint64_t before = walker->register_count;
	uint32_t count;

	if (!walk_push(walker, callee, false))
		return STEP_OVER;
	count = code->count < callee->parameter_registers ? code->count
							  : callee->parameter_registers;
	for (uint32_t i = 0; i < count; i++)
		walker->registers[before + i] =
			walker->registers[caller.registers + (uint64_t)code->operands[i]];
	for (uint32_t i = 0; i < count && caller.is_symbolic && !callee->is_excluded; i++)
		walk_set_term(walker, (int32_t)i,
			walker->terms[caller.registers + (uint64_t)code->operands[i]]);
	return STEP_MOVED;
}

/* Leaves a symbolic allocation size open: it may become smaller, but not zero. Other sizes are
 * pinned. */
static bool walk_call_open_size(struct walker *walker, const struct code *code, uint32_t argument)
{
	struct term_arena *arena = &walker->walk->terms;
	const bool is_size = (code->allocates == ALLOCATION_FIRST && argument == 0) ||
			     (code->allocates == ALLOCATION_SECOND && argument == 1);
	struct term *size = walk_operand_term(walker, code->operands[argument]);

	if (!is_size || !size || size->op == TERM_CONSTANT || size->is_pinned || !size->value)
		return false;
	(void)walk_pin(walker, EVENT_VALUE,
		term_comparison(arena, LLVMIntULT,
			term_binary(arena, LLVMSub, size, term_constant(arena, size->width, 1)),
			term_constant(arena, size->width, size->value)),
		code);
	return true;
}

static void walk_call_pin_arguments(struct walker *walker, const struct code *code, bool is_noted)
{
	bool has_any = false;

	for (uint32_t i = 0; i < code->count; i++)
		if (!walk_call_open_size(walker, code, i))
			has_any |=
				walk_pin(walker, EVENT_VALUE,
					walk_operand_term(walker, code->operands[i]), code) != NULL;
	if (has_any && !is_noted)
		walk_note_unknown(walker, code, true);
}

/* Takes a call's results from the record, in units of 64 bits. A vector's units are then divided
 * into lanes. */
enum step walk_report_results(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const struct image *image = walker->book->image;
	uint64_t parts[RESHAPED_BITS / 64];
	uint32_t count = 0;

	if (code->is_vector)
		memset(parts, 0, sizeof parts);
	for (uint32_t site = code->site; site != SITE_NONE; site = image->sites[site].next) {
		const struct image_site *of = &image->sites[site];
		uint64_t value;
		enum step step;

		if (of->kind != SITE_RESULT && of->kind != SITE_RETURNS_TWICE)
			continue;
		step = walk_value(walker, site, of->bytes, &value);
		if (step != STEP_NEXT)
			return step;
		if (code->is_vector && of->bytes < RESHAPED_BITS / 64) {
			parts[of->bytes] = value;
			count = of->bytes + 1u > count ? of->bytes + 1u : count;
		} else if (code->to >= 0 && of->bytes < (uint32_t)code->b) {
			registers[code->to + of->bytes] =
				code->width ? compute_mask(value, code->width) : value;
		}
	}
	if (code->is_vector && code->width)
		compute_as_lanes(parts, (struct compute_lanes){count, 64}, registers + code->to,
			(struct compute_lanes){(uint32_t)code->b, code->width});
	return STEP_NEXT;
}

/* Returns whether a memory access of the function is a scheduling point of the run. */
static bool walk_call_has_point(const struct walker *walker, const struct code *code)
{
	const struct image *image = walker->book->image;
	uint32_t site = walker->walk->record->points
				? value_map_get(&image->first_site, code->value)
				: SITE_NONE;

	for (; site != SITE_NONE; site = image->sites[site].next)
		if (image->sites[site].kind >= SITE_RANGE_READ &&
			image->sites[site].kind <= SITE_STRING_WRITE && walk_is_point(walker, site))
			return true;
	return false;
}

/* Returns whether the function's effect depends on shared memory whose address it received. */
static bool walk_call_note_reads(
	struct walker *walker, const struct code *code, const uint64_t *registers)
{
	if (!walker->is_live || !(walker->mode & (WALK_SHARING | WALK_EVENTS)) ||
		!code->reads_bytes)
		return false;
	for (uint32_t i = 0; i < code->count && i < LLVMGetNumArgOperands(code->value); i++) {
		const uint64_t address = registers[code->operands[i]];

		if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(code->value, i))) !=
			LLVMPointerTypeKind)
			continue;
		if (walker->mode & WALK_SHARING) {
			walk_note_access(walker, SITE_NONE, address, 1, false);
		} else if (walk_is_shared(walker->walk, address, 1)) {
			walk_note_unknown(walker, code, true);
			return true;
		}
	}
	return false;
}

/* Notes that a library function or assembly code wrote shared memory through one of its
 * arguments. */
static void walk_call_note_effect(
	struct walker *walker, const struct code *code, const uint64_t *registers)
{
	bool has_any = code->is_blind;

	if (!walker->is_live || !(code->sub || code->writes_bytes))
		return;
	for (uint32_t i = 0; i < code->count && !has_any; i++)
		has_any = walk_is_shared(walker->walk, registers[code->operands[i]], 1);
	if (has_any)
		walk_note_unknown(walker, code, false);
}

/* Does the same in WALK_SHARING, before the shared memory is known. */
static void walk_call_note_opaque(
	struct walker *walker, const struct code *code, const uint64_t *registers)
{
	if (code->is_blind)
		walker->walk->shared.is_ordered = false;
	for (uint32_t i = 0; i < code->count; i++)
		walk_note_opaque(walker, registers[code->operands[i]]);
}

/* Pins the called function: otherwise another function might be called here, or an address that is
 * no function. */
static void walk_call_pin_callee(struct walker *walker, const struct code *code)
{
	struct term *term = walk_operand_term(walker, code->a);

	if (walk_pin(walker, EVENT_TARGET, term, code))
		(void)walk_add_term_event(walker, EVENT_ADDRESS, term, code); /* complete */
}

enum step walk_call(struct walker *walker, const struct code *code, uint64_t *registers)
{
	struct frame *frame = &walker->frames[walker->frame_count - 1];
	const bool has_returned = frame->addresses == UINT8_MAX;
	struct function *callee =
		has_returned ? NULL : walk_call_callee_of(walker, code, registers[code->a]);
	struct library_walk *library = walker->room->library;
	const bool is_followed = code->reads && !has_returned;
	const bool makes_terms = walker->mode & WALK_EVENTS && !has_returned;
	enum step step;
	bool is_noted;

	if (makes_terms && !code->sub)
		walk_call_pin_callee(walker, code);
	if (callee) {
		if (makes_terms && callee->is_excluded)
			/* Excluded on purpose: not counted as unknown */
			walk_call_pin_arguments(walker, code, true);
		return walk_call_inside(walker, code, callee);
	}
	if (is_followed) {
		step = walk_library_read(walker, code, registers, library);
		if (step != STEP_NEXT)
			return step;
	}
	if (!has_returned && walk_call_has_point(walker, code))
		walk_settle(walker);
	is_noted = !has_returned && !is_followed && walk_call_note_reads(walker, code, registers);
	if (makes_terms && !is_followed && code->is_used)
		walk_call_pin_arguments(walker, code, is_noted);
	if (makes_terms && code->outcome)
		walk_note_entry(walker, code, registers);
	if (code->is_noreturn && !has_returned)
		return walk_wait_outside(walker);
	step = walk_report_results(walker, code, registers);
	if (step != STEP_NEXT)
		return step;
	if (makes_terms && !is_followed)
		walk_call_note_effect(walker, code, registers);
	if (walker->mode & WALK_SHARING && walker->is_live && !has_returned &&
		(code->sub || code->writes_bytes))
		walk_call_note_opaque(walker, code, registers);
	if (code->allocates && !has_returned)
		walk_note_allocation(walker, code, registers);
	frame->addresses = 0;
	for (int32_t i = 0; makes_terms && i < code->b; i++)
		walk_set_term(walker, code->to + i, NULL);
	if (makes_terms && code->outcome && code->to >= 0)
		walk_set_term(walker, code->to, walk_outcome(walker, code, registers));
	if (makes_terms && is_followed)
		walk_library_result(walker, code, registers, library);
	if (!code->normal)
		return STEP_NEXT;
	walk_call_continue_behind(walker, code);
	return STEP_MOVED;
}

enum step walk_report_addresses(struct walker *walker)
{
	struct frame *frame = &walker->frames[walker->frame_count - 1];
	const struct image *image = walker->book->image;
	const struct function *function = frame->function;
	uint32_t site = function->address_count
				? value_map_get(&image->first_site, function->codes->value)
				: SITE_NONE;
	uint32_t number = 0;

	for (; site != SITE_NONE; site = image->sites[site].next) {
		uint64_t value;
		enum step step;

		if (image->sites[site].kind != SITE_ADDRESS || !image->sites[site].bytes)
			continue;
		step = walk_value(walker, site, image->sites[site].bytes, &value);
		if (step != STEP_NEXT)
			return step;
		walk_registers(walker)[function->address_registers[number++]] = value;
	}
	return STEP_NEXT;
}
