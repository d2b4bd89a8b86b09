/* Executes one code completely: the general case, for codes without a specialised op. */
#include "branches/interpret/walk_internal.h"
#include "abi/instrument_abi.h"

static bool walk_perform_is_division(const struct code *code)
{
	return code->op == CODE_BINARY && code->sub >= LLVMUDiv && code->sub <= LLVMSRem &&
	       code->sub != LLVMFDiv;
}

static enum step walk_perform_jump(
	struct walker *walker, const struct code *code, uint64_t *registers)
{
	uint32_t edge = 0;

	walker->instructions += code->instructions;
	/* If a limit is set, walk_open_visits() marks every branch as watched: all branches call
	 * this function. */
	if (walker->walk->instructions_most &&
		walker->instructions > walker->walk->instructions_most)
		return walk_end_at(walker, WALK_UNKNOWN, "more instructions than were wanted");
	if (code->op == CODE_BRANCH) {
		edge = registers[code->a] ? 0 : 1;
	} else if (code->op == CODE_SWITCH) {
		const uint64_t value = registers[code->a];

		for (uint32_t i = 1; i < code->count && !edge; i++)
			if (code->edges[i].value == value)
				edge = i;
	}
	if (walker->mode & (WALK_EVENTS | WALK_COUNTING | WALK_PATHS) && code->op != CODE_GO)
		walk_note_branch(walker, code, registers[code->a], edge);
	walk_take_edge(walker, &code->edges[edge]);
	return STEP_MOVED;
}

void walk_set_computed_term(struct walker *walker, const struct code *code, uint64_t value)
{
	if (walk_perform_is_division(code))
		walk_pin(walker, EVENT_DIVISOR, walk_operand_term(walker, code->b), code);
	if (code_reports_overflow(code))
		walk_set_overflow_terms(walker, code);
	else
		walk_set_term(walker, code->to, walk_derive(walker, code, value));
}

static void walk_perform_select_value(
	struct walker *walker, const struct code *code, uint64_t *registers)
{
	const uint64_t condition = registers[code->a];

	if (walker->mode & (WALK_EVENTS | WALK_COUNTING | WALK_PATHS) && code->branch != UINT32_MAX)
		walk_note_branch(walker, code, condition, condition != 0);
	if (walker->mode & WALK_EVENTS) {
		struct term *term = walk_operand_term(walker, code->a);

		if (term && code->width) {
			walk_set_term(walker, code->to,
				term_selection(&walker->walk->terms, term,
					walk_term_of(walker, code->b, code->width),
					walk_term_of(walker, code->c, code->width)));
		} else {
			walk_set_term(walker, code->to,
				walk_operand_term(walker, condition ? code->b : code->c));
		}
	}
	registers[code->to] = registers[condition ? code->b : code->c];
}

static void walk_perform_pick(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const bool is_pick = code->op == CODE_PICK;
	const uint64_t lane = registers[is_pick ? code->b : code->c];
	const int32_t from = is_pick ? decode_lane(code->a, (uint32_t)lane) : code->b;
	const int32_t to = is_pick ? code->to : code->to + (int32_t)lane;

	if (lane >= code->count)
		return;
	if (walker->mode & WALK_EVENTS) {
		walk_pin(walker, EVENT_VALUE,
			walk_operand_term(walker, is_pick ? code->b : code->c), code);
		walk_set_term(walker, to, walk_operand_term(walker, from));
	}
	registers[to] = registers[from];
}

/* Takes a result from the record instead of computing it, and pins the operands. */
static enum step walk_perform_recorded(
	struct walker *walker, const struct code *code, uint64_t *registers)
{
	const enum step step = walk_report_results(walker, code, registers);

	if (step != STEP_NEXT || !(walker->mode & WALK_EVENTS))
		return step;
	for (uint32_t i = 0; i < code->count; i++)
		(void)walk_pin(
			walker, EVENT_VALUE, walk_operand_term(walker, code->operands[i]), code);
	for (int32_t i = 0; i < code->b; i++)
		walk_set_term(walker, code->to + i, NULL);
	return STEP_NEXT;
}

static void walk_perform_reshape(
	struct walker *walker, const struct code *code, uint64_t *registers)
{
	compute_reshape(code, registers);
	if (!(walker->mode & WALK_EVENTS))
		return;
	for (uint32_t i = 0; i < code->count; i++)
		walk_pin(walker, EVENT_VALUE, walk_operand_term(walker, decode_lane(code->a, i)),
			code);
	for (uint32_t i = 0; i < code->bytes; i++)
		walk_set_term(walker, code->to + (int32_t)i, NULL);
}

/* Passes a fence. The pending write stays pending, unless the fence is a scheduling point of the
 * run. */
static enum step walk_perform_pass_fence(struct walker *walker, uint32_t site)
{
	if (walk_is_point(walker, site))
		walk_settle(walker);
	return walk_pass(walker, site, UINT64_MAX);
}

enum step walk_perform(struct walker *walker, const struct code *code, uint64_t *registers)
{
	switch (code->op) {
	case CODE_LOAD:
		return walk_load(walker, code, registers);
	case CODE_STORE:
		return walk_store(walker, code, registers);
	case CODE_GO:
	case CODE_BRANCH:
	case CODE_SWITCH:
		return walk_perform_jump(walker, code, registers);
	case CODE_CALL:
		return walk_call(walker, code, registers);
	case CODE_RETURN:
		return walk_finish(walker, code, registers);
	case CODE_SELECT:
		walk_perform_select_value(walker, code, registers);
		return STEP_NEXT;
	case CODE_PICK:
	case CODE_LOCATION:
		walk_perform_pick(walker, code, registers);
		return STEP_NEXT;
	case CODE_LOCAL:
		return walk_local(walker, code, registers);
	case CODE_UPDATE:
	case CODE_EXCHANGE:
		return walk_update(walker, code, registers);
	case CODE_COPY:
		return walk_copy(walker, code, registers);
	case CODE_FILL:
		return walk_fill(walker, code, registers);
	case CODE_VALUE:
		return walk_perform_recorded(walker, code, registers);
	case CODE_REPORT:
		return walk_perform_pass_fence(walker, code->site);
	case CODE_RESHAPE:
		walk_perform_reshape(walker, code, registers);
		return STEP_NEXT;
	case CODE_NOTHING:
		return STEP_NEXT;
	case CODE_STOP:
	case CODE_LANDING:
		return walk_wait_outside(walker);
	default:
		return walk_end_at(walker, WALK_UNKNOWN, "%s", code->text);
	}
}
