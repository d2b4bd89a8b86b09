/* The list of places that are asked about, and their description: kind, line, variables. */
#include <fnmatch.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "branches/solve/sensitivity_internal.h"
#include "base/slots.h"
#include "symbols/symbols.h"

static bool places_ends_the_program(LLVMBasicBlockRef block)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName("noreturn", 8);

	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		LLVMValueRef callee;

		if (!LLVMIsACallInst(i))
			continue;
		callee = LLVMGetCalledValue(i);
		if (LLVMGetCallSiteEnumAttribute(i, LLVMAttributeFunctionIndex, kind) ||
			(LLVMIsAFunction(callee) && LLVMGetEnumAttributeAtIndex(callee,
							    LLVMAttributeFunctionIndex, kind)))
			return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(block)) != NULL;
	}
	return false;
}

enum sensitive_kind places_kind(const struct walk_event *event)
{
	switch (event->kind) {
	case EVENT_ADDRESS:
		return SENSITIVE_NULL;
	case EVENT_TARGET:
		return SENSITIVE_TARGET;
	case EVENT_DIVISOR:
		return SENSITIVE_DIVISOR;
	case EVENT_INDEX:
		return SENSITIVE_INDEX;
	case EVENT_CHOICE:
		return SENSITIVE_CHOICE;
	default:
		if (LLVMIsASwitchInst(event_instruction(event)))
			return SENSITIVE_SWITCH;
		return places_ends_the_program(LLVMGetSuccessor(
			       event_instruction(event), event->case_value ? 0 : 1))
			       ? SENSITIVE_ASSERTION
			       : SENSITIVE_BRANCH;
	}
}

bool places_is_asked(const struct walk_event *event)
{
	return event->kind == EVENT_BRANCH || event->kind == EVENT_CHOICE ||
	       (event->kind == EVENT_ADDRESS && !event->is_never_null) ||
	       event->kind == EVENT_TARGET || event->kind == EVENT_DIVISOR ||
	       event->kind == EVENT_INDEX;
}

bool places_are_one(LLVMValueRef a, LLVMValueRef b)
{
	const unsigned line = LLVMGetDebugLocLine(a);
	unsigned length_a = 0, length_b = 0;
	const char *file_a, *file_b;

	if (a == b)
		return true;
	/* Optimisers split a select of pointers into selects of the pointed-to addresses. */
	if (LLVMIsASelectInst(a) && LLVMIsASelectInst(b) &&
		LLVMGetOperand(a, 0) == LLVMGetOperand(b, 0))
		return true;
	if (!line || line != LLVMGetDebugLocLine(b))
		return false;
	file_a = LLVMGetDebugLocFilename(a, &length_a);
	file_b = LLVMGetDebugLocFilename(b, &length_b);
	return length_a == length_b && file_a && memcmp(file_a, file_b, length_a) == 0;
}

/* Events share a place if class and source line are equal; with splits_lines, the instruction. */
static uint32_t places_find(
	const struct sensitivity *analysis, LLVMValueRef instruction, enum sensitive_kind kind)
{
	const struct places *places = &analysis->places;

	for (uint32_t i = 0; i < places->count; i++)
		if ((analysis->options.splits_lines
				    ? places->items[i].instruction == instruction
				    : places_are_one(places->items[i].instruction, instruction)) &&
			(places->items[i].kind == kind ||
				(sensitive_is_condition(places->items[i].kind) &&
					sensitive_is_condition(kind))))
			return i;
	return PLACE_NONE;
}

static uint64_t places_key_of(const struct walk_event *event)
{
	return (uint64_t)(uintptr_t)event_instruction(event) << 4 | event->kind;
}

/* Returns whether a pattern such as "name" or "*part*" matches the instruction's function or
 * file. */
static bool places_is_excluded(struct sensitivity *analysis, LLVMValueRef instruction)
{
	struct sensitive_place place;
	const char *linked;
	size_t length;

	if (!analysis->options.exclude_count)
		return false;
	places_describe(analysis, instruction, &place);
	linked = LLVMGetValueName2(
		LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)), &length);
	for (uint32_t i = 0; i < analysis->options.exclude_count; i++)
		if (fnmatch(analysis->options.excludes[i], place.function, 0) == 0 ||
			fnmatch(analysis->options.excludes[i], linked, 0) == 0 ||
			code_book_matches(analysis->options.excludes[i], place.file)) {
			analysis->is_matched[i] = true;
			return true;
		}
	return false;
}

static bool places_is_known(struct sensitivity *analysis, const struct asked *asked)
{
	struct sensitive_place place;

	if (!analysis->options.is_known)
		return false;
	places_describe(analysis, asked->instruction, &place);
	return analysis->options.is_known(analysis->options.context, asked->kind, &place);
}

static uint32_t places_add(struct sensitivity *analysis, const struct walk_event *event)
{
	struct places *places = &analysis->places;
	const enum sensitive_kind kind = places_kind(event);
	const uint32_t known = places_find(analysis, event_instruction(event), kind);

	if (known != PLACE_NONE)
		return known;
	places->items = array_room(places->items, places->count, sizeof *places->items);
	places->items[places->count] =
		(struct asked){.instruction = event_instruction(event), .kind = kind};
	places->items[places->count].is_excluded =
		places_is_known(analysis, &places->items[places->count]);
	return places->count++;
}

static LLVMValueRef places_object_of(LLVMValueRef pointer)
{
	while (LLVMIsAGetElementPtrInst(pointer) ||
		(LLVMIsAConstantExpr(pointer) && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr))
		pointer = LLVMGetOperand(pointer, 0);
	return pointer;
}

/* Notes the edge that the branch took, which determines the pass that asks about the event. */
static void places_note_edge(
	struct places *places, struct place_slot *slot, const struct walk_event *event)
{
	bool *is_edge_noted = &slot->is_edge_noted[event->case_value != 0];
	struct asked *place;

	if (*is_edge_noted || slot->place == PLACE_NONE)
		return;
	*is_edge_noted = true;
	place = &places->items[slot->place];
	if (sensitive_is_failure(places_kind(event)))
		place->has_failures = true;
	else
		place->has_others = true;
}

void places_fill(struct sensitivity *analysis)
{
	struct places *places = &analysis->places;
	const struct walk *walk = &analysis->walk;

	for (uint32_t thread = 0; thread < walk->record->thread_count; thread++)
		for (uint64_t i = 0; i < walk->threads[thread].count; i++) {
			const struct walk_event *event = &walk->threads[thread].events[i];
			struct place_slot *slot;

			if (!places_is_asked(event))
				continue;
			places->slots = slots_reserve(places->slots, &places->slot_capacity,
				sizeof *places->slots, places->slot_count, 256);
			slot = slots_find(places->slots, places->slot_capacity,
				sizeof *places->slots, places_key_of(event));
			if (!slot->key) {
				slot->key = places_key_of(event);
				slot->place = places_is_excluded(analysis, event_instruction(event))
						      ? PLACE_NONE
						      : places_add(analysis, event);
				places->slot_count++;
			}
			places_note_edge(places, slot, event);
		}
}

void places_release(struct places *places)
{
	free(places->items);
	free(places->slots);
	*places = (struct places){0};
}

uint32_t places_of(const struct places *places, const struct walk_event *event)
{
	const struct place_slot *slot;

	if (!places_is_asked(event))
		return PLACE_NONE;
	slot = slots_find(
		places->slots, places->slot_capacity, sizeof *places->slots, places_key_of(event));
	return slot->place;
}

static char *places_text_of(const char *text, unsigned length)
{
	char *copy = string_copy_part(text ? text : "", text ? length : 0);

	return copy;
}

/* Returns an instruction with a source location. Optimisers drop some; those of operands or earlier
 * instructions replace them. */
static LLVMValueRef places_nearest_located(LLVMValueRef instruction)
{
	const int count = LLVMGetNumOperands(instruction);

	if (LLVMGetDebugLocLine(instruction))
		return instruction;
	for (int i = 0; i < count; i++) {
		LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);

		if (LLVMIsAInstruction(operand) && LLVMGetDebugLocLine(operand))
			return operand;
	}
	for (LLVMValueRef i = LLVMGetPreviousInstruction(instruction); i;
		i = LLVMGetPreviousInstruction(i))
		if (LLVMGetDebugLocLine(i))
			return i;
	for (LLVMValueRef i = LLVMGetNextInstruction(instruction); i; i = LLVMGetNextInstruction(i))
		if (LLVMGetDebugLocLine(i))
			return i;
	return instruction;
}

void places_describe(
	struct sensitivity *analysis, LLVMValueRef instruction, struct sensitive_place *place)
{
	unsigned length = 0;
	const char *text;

	instruction = places_nearest_located(instruction);
	text = LLVMGetDebugLocFilename(instruction, &length);
	free(analysis->file);
	free(analysis->function);
	free(analysis->directory);
	analysis->file = places_text_of(text, length);
	if (*analysis->file == '/')
		symbols_simplify_path(analysis->file);
	text = LLVMGetDebugLocDirectory(instruction, &length);
	analysis->directory = places_text_of(text, length);
	analysis->function = places_function(instruction);
	*place = (struct sensitive_place){.function = analysis->function,
		.file = analysis->file,
		.directory = analysis->directory,
		.line = LLVMGetDebugLocLine(instruction),
		.column = LLVMGetDebugLocColumn(instruction)};
}

static const struct walk_event *places_read_of(
	const struct sensitivity *analysis, uint32_t variable)
{
	const struct event_id id = analysis->order.reads[variable];

	return &analysis->walk.threads[id.thread].events[id.index];
}

static LLVMValueRef places_operand_of(const struct walk_event *access)
{
	LLVMValueRef instruction = event_instruction(access);

	if (LLVMIsACallInst(instruction) && access->kind == EVENT_READ &&
		LLVMGetIntrinsicID(LLVMGetCalledValue(instruction)) == 0)
		return LLVMGetOperand(instruction, access->access.argument);
	/* Copies write through their first argument and read through their second. */
	if (LLVMIsACallInst(instruction))
		return LLVMGetOperand(instruction, access->kind == EVENT_READ ? 1 : 0);
	return LLVMGetOperand(instruction, LLVMIsAStoreInst(instruction) ? 1 : 0);
}

/* Appends the variable's name. It has a suffix if optimisers kept only a member of the variable. */
static void places_add_name(struct strbuf *out, LLVMValueRef variable)
{
	size_t length;
	const char *name = LLVMGetValueName2(variable, &length);
	FREE_SCOPED char *linked = places_text_of(name, (unsigned)strcspn(name, "."));
	FREE_SCOPED char *text = symbols_readable_name(linked);

	strbuf_adds(out, text);
}

static void places_add_type(struct strbuf *out, const char *type)
{
	FREE_SCOPED char *text = symbols_readable_type(type);

	strbuf_adds(out, text);
}

void places_name_access(
	const struct sensitivity *analysis, const struct walk_event *access, struct strbuf *out)
{
	const struct site *site = access->site < analysis->image.site_count
					  ? analysis->image.sites[access->site].source
					  : NULL;
	LLVMValueRef object = places_object_of(places_operand_of(access));
	const bool has_field = site && site->type && site->field;

	if (LLVMIsAGlobalVariable(object))
		places_add_name(out, object);
	else
		places_add_type(out, has_field ? site->type : "memory");
	if (has_field)
		strbuf_addf(out, ".%s", site->field);
}

static void places_name_variable(
	struct strbuf *out, const struct sensitivity *analysis, const struct walk_event *read)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;

	places_name_access(analysis, read, &text);
	if (!strstr(out->text, text.text))
		strbuf_addf(out, "%s%s", out->length ? ", " : "", text.text);
}

static void places_add_variables(
	struct sensitivity *analysis, const struct term *term, uint32_t depth)
{
	if (!term || depth > 64)
		return;
	if (term->op == TERM_VARIABLE) {
		places_name_variable(
			&analysis->variables, analysis, places_read_of(analysis, term->number));
		return;
	}
	places_add_variables(analysis, term_operand(term, 0), depth + 1);
	places_add_variables(analysis, term_operand(term, 1), depth + 1);
	places_add_variables(analysis, term_operand(term, 2), depth + 1);
}

void places_name_variables(struct sensitivity *analysis, const struct term *term)
{
	strbuf_clear(&analysis->variables);
	places_add_variables(analysis, term, 0);
}
