/*
 * Names local variables of stopped threads. The search finds the frame that contains the address,
 * and the variable of its function (or of an inlined one) at that location. A variable in a register
 * has no address, and is not found.
 */
#include <string.h>

#include "base/array.h"
#include "symbols/symbols_internal.h"

#define FRAMES_MAX 128
#define DEPTH_MAX 32
#define STACK_MAX 16
/* Size of the red zone, in which the innermost function may keep variables below the stack
 * pointer. */
#define RED_ZONE_BYTES 128

/* Visits the variables of a scope. `is_thorough`: also of its other blocks, whose variables may
 * still be in their places. */
static bool locals_visit_scope(struct symbols *symbols, Dwarf_Die *scope, const struct local *local,
	bool is_thorough, locals_visit *visit, void *argument, unsigned depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(scope, &child))
		return false;
	do {
		struct local found = *local;

		switch (dwarf_tag(&child)) {
		case DW_TAG_lexical_block:
			if ((is_thorough || dwarf_haspc(&child, local->address) > 0) &&
				locals_visit_scope(symbols, &child, local, is_thorough, visit,
					argument, depth + 1))
				return true;
			break;
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			found.variable = child;
			if (visit(symbols, &found, argument))
				return true;
			break;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

bool locals_each(struct symbols *symbols, uint64_t address, locals_visit *visit, void *argument)
{
	Dwfl_Module *module = symbols_module_at(symbols, address);
	struct chain chain = symbols_chain_at(symbols, address);
	/* The innermost function comes first in frames[], and last in chain.functions[]. */
	struct symbols_frame frames[CHAIN_MAX];
	const unsigned count = symbols_lookup(symbols, address, false, frames, CHAIN_MAX);
	struct local local;
	Dwarf_Addr bias;

	if (!chain.count || !dwfl_module_getdwarf(module, &bias))
		return false;
	local.address = address - bias;
	local.outermost = chain.functions[0];
	for (int is_thorough = 0; is_thorough < 2; is_thorough++) {
		bool is_program_inside = false;

		for (unsigned i = chain.count, k = 0; i--; k++) {
			const bool is_of_program =
				k < count && frames[k].file && !frames[k].is_system;

			local.function = chain.functions[i];
			local.is_around_program = is_program_inside && !is_of_program;
			if (locals_visit_scope(symbols, &local.function, &local, is_thorough, visit,
				    argument, 0))
				return true;
			is_program_inside |= is_of_program;
		}
	}
	return false;
}

struct evaluation {
	struct symbols *symbols;
	pid_t pid;
	const struct stack_frame *frame;
	uint64_t canonical; /* frame address: the caller's stack pointer */
	uint64_t stack[STACK_MAX];
	unsigned count;
};

static bool locals_push(struct evaluation *evaluation, uint64_t value)
{
	if (evaluation->count == STACK_MAX)
		return false;
	evaluation->stack[evaluation->count++] = value;
	return true;
}

static bool locals_push_register(struct evaluation *evaluation, unsigned number, uint64_t offset)
{
	return number < REGISTER_RETURN && evaluation->frame->known >> number & 1 &&
	       locals_push(evaluation, evaluation->frame->registers[number] + offset);
}

static bool locals_frame_base(struct evaluation *evaluation, struct local *local, uint64_t *base);

static bool locals_combine(struct evaluation *evaluation, unsigned atom)
{
	uint64_t *stack = evaluation->stack;

	if (evaluation->count < 2)
		return false;
	evaluation->count--;
	if (atom == DW_OP_plus)
		stack[evaluation->count - 1] += stack[evaluation->count];
	else if (atom == DW_OP_minus)
		stack[evaluation->count - 1] -= stack[evaluation->count];
	else
		stack[evaluation->count - 1] &= stack[evaluation->count];
	return true;
}

static bool locals_step(struct evaluation *evaluation, const Dwarf_Op *op, struct local *local)
{
	uint64_t value;

	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return locals_push_register(evaluation, op->atom - DW_OP_breg0, op->number);
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return locals_push(evaluation, op->atom - DW_OP_lit0);
	switch (op->atom) {
	case DW_OP_fbreg:
		return local && locals_frame_base(evaluation, local, &value) &&
		       locals_push(evaluation, value + op->number);
	case DW_OP_call_frame_cfa:
		return locals_push(evaluation, evaluation->canonical);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return locals_push(evaluation, op->number);
	case DW_OP_plus_uconst:
		return evaluation->count &&
		       ((void)(evaluation->stack[evaluation->count - 1] += op->number), true);
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_and:
		return locals_combine(evaluation, op->atom);
	case DW_OP_deref:
		return evaluation->count && unwind_read(evaluation->symbols, evaluation->pid,
						    evaluation->stack[evaluation->count - 1],
						    &evaluation->stack[evaluation->count - 1]);
	case DW_OP_nop:
		return true;
	default: /* the variable is in registers, in pieces, or not in memory */
		return false;
	}
}

static bool locals_evaluate(struct evaluation *evaluation, const Dwarf_Op *ops, size_t count,
	struct local *local, uint64_t *value)
{
	const unsigned before = evaluation->count;

	for (size_t i = 0; i < count; i++)
		if (!locals_step(evaluation, &ops[i], local))
			return false;
	if (evaluation->count != before + 1)
		return false;
	*value = evaluation->stack[--evaluation->count];
	return true;
}

static bool locals_frame_base(struct evaluation *evaluation, struct local *local, uint64_t *base)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr_integrate(&local->outermost, DW_AT_frame_base, &attribute) ||
		dwarf_getlocation_addr(&attribute, local->address, &ops, &count, 1) != 1)
		return false;
	/* Such an operation means the value of the register here. */
	if (count == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) {
		if (!locals_push_register(evaluation, ops[0].atom - DW_OP_reg0, 0))
			return false;
		*base = evaluation->stack[--evaluation->count];
		return true;
	}
	return locals_evaluate(evaluation, ops, count, NULL, base);
}

struct local_search {
	struct evaluation evaluation;
	uint64_t address, bytes, object_bytes;
	bool is_brief, has_object;
	struct strbuf *out;
};

/* Notes whether the type has the wanted size. A declared but undefined class has no known size and
 * is accepted. */
static void locals_note_object(Dwarf_Die *type, void *argument)
{
	struct local_search *search = argument;

	const uint64_t size = types_size(type);

	search->has_object |= !size || size == search->object_bytes;
}

static bool locals_holds_object(struct local_search *search, Dwarf_Die *type, uint64_t offset)
{
	STRBUF_SCOPED unused = STRBUF_EMPTY;

	if (!search->object_bytes)
		return true;
	search->has_object = false;
	(void)types_follow(
		&(struct types_path){
			.type = type, .offset = offset, .bytes = search->bytes, .out = &unused},
		locals_note_object, search); /* the result is in has_object */
	return search->has_object;
}

static void locals_add_function_name(Dwarf_Die *function, struct strbuf *out)
{
	const char *raw = symbols_die_linkage_name(function);
	FREE_SCOPED char *name = NULL;

	raw = raw ? raw : dwarf_diename(function);
	name = raw ? symbols_readable_name(raw) : NULL;
	strbuf_adds(out, name ? name : "a function");
}

/* Returns whether a location relative to the frame base holds in the whole function. Other
 * registers change. */
static bool locals_is_in_frame(const Dwarf_Op *op, struct local *local)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *base;
	size_t count;

	if (op->atom == DW_OP_fbreg || op->atom == DW_OP_call_frame_cfa)
		return true;
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31 &&
	       dwarf_attr_integrate(&local->outermost, DW_AT_frame_base, &attribute) &&
	       dwarf_getlocation_addr(&attribute, local->address, &base, &count, 1) == 1 &&
	       count == 1 && base->atom - DW_OP_reg0 == op->atom - DW_OP_breg0;
}

/* Finds where a variable begins. Location lists have gaps at -O2, but a variable in the frame has
 * one location, so any entry serves. */
static bool locals_find_start(struct evaluation *evaluation, struct local *local, uint64_t *start)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(&local->variable, DW_AT_location, &attribute))
		return false;
	evaluation->count = 0;
	if (dwarf_getlocation_addr(&attribute, local->address, &ops, &count, 1) == 1 &&
		locals_evaluate(evaluation, ops, count, local, start))
		return true;
	while ((at = dwarf_getlocations(&attribute, at, &base, &from, &to, &ops, &count)) > 0) {
		evaluation->count = 0;
		if (count && locals_is_in_frame(ops, local) &&
			locals_evaluate(evaluation, ops, count, local, start))
			return true;
	}
	return false;
}

static bool locals_describe_if_there(struct symbols *symbols, struct local *local, void *argument)
{
	struct local_search *search = argument;
	const char *name = dwarf_diename(&local->variable);
	uint64_t start, size;
	Dwarf_Die type;

	(void)symbols;
	if (!name || !types_of(&local->variable, &type) ||
		!locals_find_start(&search->evaluation, local, &start))
		return false;
	size = types_size(&type);
	if (search->address - start >= (size ? size : 1))
		return false;
	if (!locals_holds_object(search, &type, search->address - start))
		return false;
	strbuf_addf(search->out, search->is_brief ? "%s" : "local '%s", name);
	types_describe_inside(&type, search->address - start, search->bytes, search->out);
	if (search->is_brief)
		return true;
	strbuf_adds(search->out, "' of ");
	locals_add_function_name(&local->function, search->out);
	return true;
}

/* Returns the index of the outermost frame of the user's code: main, or a thread's start
 * function. */
static unsigned locals_first_call(
	struct symbols *symbols, const struct stack_frame *frames, unsigned count)
{
	while (count--) {
		struct symbols_frame found[CHAIN_MAX];
		const unsigned inlined =
			symbols_lookup(symbols, frames[count].address, true, found, CHAIN_MAX);

		if (inlined && !found[inlined - 1].is_system && found[inlined - 1].file)
			return count;
	}
	return 0;
}

bool locals_describe(
	struct symbols *symbols, const struct local_location *location, struct strbuf *out)
{
	struct stack_frame frames[FRAMES_MAX];
	const unsigned count =
		unwind_frames(symbols, location->pid, location->stack_pointer, frames, FRAMES_MAX);
	const unsigned least = location->is_standing || location->object_bytes
				       ? 0
				       : locals_first_call(symbols, frames, count);

	for (unsigned i = least; i + 1 < count; i++) {
		const uint64_t low = frames[i].registers[REGISTER_RSP] - (i ? 0 : RED_ZONE_BYTES);
		const uint64_t high = frames[i + 1].registers[REGISTER_RSP];
		struct local_search search = {.evaluation = {.symbols = symbols,
						      .pid = location->pid,
						      .frame = &frames[i],
						      .canonical = high},
			.address = location->address,
			.bytes = location->bytes,
			.object_bytes = location->object_bytes,
			.is_brief = location->is_brief,
			.out = out};

		if (!(frames[i].known & frames[i + 1].known & 1u << REGISTER_RSP) ||
			location->address - low >= high - low)
			continue;
		return locals_each(
			symbols, frames[i].address - 1, locals_describe_if_there, &search);
	}
	return false;
}

/* Placeholder for the address of a frame that no longer exists; only offsets from it matter. */
#define FRAME_ADDRESS (UINT64_C(1) << 40)
/* Offset of %rbp from the frame's address in functions with a frame pointer: psABI, figure 3.3. */
#define FRAME_BASE 16

bool symbols_describe_local(
	struct symbols *symbols, const struct symbols_frame_location *location, struct strbuf *out)
{
	struct stack_frame frame = {.address = location->code, .known = 1u << REGISTER_RBP};
	struct local_search search = {
		.evaluation = {.symbols = symbols, .frame = &frame, .canonical = FRAME_ADDRESS},
		.address = FRAME_ADDRESS + (uint64_t)location->offset,
		.object_bytes = location->object_bytes,
		.is_brief = true,
		.out = out};

	frame.registers[REGISTER_RBP] = FRAME_ADDRESS - FRAME_BASE;
	return locals_each(symbols, location->code - 1, locals_describe_if_there, &search);
}
