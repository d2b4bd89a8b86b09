/* The list of locations that are asked about, and their description: kind, line, variables. */
#include <fnmatch.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "branches/solve/sensitivity_internal.h"
#include "base/slots.h"
#include "symbols/symbols.h"

static bool locations_ends_the_program(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
		if (LLVMIsACallInst(i) && decode_never_returns(i))
			return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(block)) != NULL;
	return false;
}

enum sensitive_kind locations_kind(const struct walk_event *event)
{
	static const enum sensitive_kind kinds[] = {
		[EVENT_ADDRESS] = SENSITIVE_NULL,
		[EVENT_TARGET] = SENSITIVE_TARGET,
		[EVENT_DIVISOR] = SENSITIVE_DIVISOR,
		[EVENT_INDEX] = SENSITIVE_INDEX,
		[EVENT_CHOICE] = SENSITIVE_CHOICE,
	};

	if (event->kind != EVENT_BRANCH)
		return kinds[event->kind];
	if (LLVMIsASwitchInst(event_instruction(event)))
		return SENSITIVE_SWITCH;
	return locations_ends_the_program(
		       LLVMGetSuccessor(event_instruction(event), event->case_value ? 0 : 1))
		       ? SENSITIVE_ASSERTION
		       : SENSITIVE_BRANCH;
}

bool locations_is_asked(const struct walk_event *event)
{
	return event_is_branch(event) ||
	       (event_is_check(event) && !(event->kind == EVENT_ADDRESS && event->is_never_null));
}

bool locations_are_one(LLVMValueRef a, LLVMValueRef b)
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

/* Events share a location if class and source line are equal; with splits_lines, the instruction. */
static uint32_t locations_find(
	const struct sensitivity *analysis, LLVMValueRef instruction, enum sensitive_kind kind)
{
	const struct locations *locations = &analysis->locations;

	for (uint32_t i = 0; i < locations->count; i++)
		if ((analysis->options.splits_lines
				    ? locations->items[i].instruction == instruction
				    : locations_are_one(
					      locations->items[i].instruction, instruction)) &&
			(locations->items[i].kind == kind ||
				(sensitive_is_condition(locations->items[i].kind) &&
					sensitive_is_condition(kind))))
			return i;
	return LOCATION_NONE;
}

static uint64_t locations_key_of(const struct walk_event *event)
{
	return (uint64_t)(uintptr_t)event_instruction(event) << 4 | event->kind;
}

/* Returns whether a pattern such as "name" or "*part*" matches the instruction's function or
 * file. */
static bool locations_is_excluded(struct sensitivity *analysis, LLVMValueRef instruction)
{
	struct sensitive_location location;
	const char *linked;
	size_t length;

	if (!analysis->options.exclude_count)
		return false;
	locations_describe(analysis, instruction, &location);
	linked = LLVMGetValueName2(
		LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)), &length);
	for (uint32_t i = 0; i < analysis->options.exclude_count; i++)
		if (fnmatch(analysis->options.excludes[i], location.function, 0) == 0 ||
			fnmatch(analysis->options.excludes[i], linked, 0) == 0 ||
			code_book_matches(analysis->options.excludes[i], location.file)) {
			analysis->is_matched[i] = true;
			return true;
		}
	return false;
}

static bool locations_is_known(struct sensitivity *analysis, const struct asked *asked)
{
	struct sensitive_location location;

	if (!analysis->options.is_known)
		return false;
	locations_describe(analysis, asked->instruction, &location);
	return analysis->options.is_known(analysis->options.context, asked->kind, &location);
}

static uint32_t locations_add(struct sensitivity *analysis, const struct walk_event *event)
{
	struct locations *locations = &analysis->locations;
	const enum sensitive_kind kind = locations_kind(event);
	const uint32_t known = locations_find(analysis, event_instruction(event), kind);

	if (known != LOCATION_NONE)
		return known;
	locations->items = array_room(locations->items, locations->count, sizeof *locations->items);
	locations->items[locations->count] =
		(struct asked){.instruction = event_instruction(event), .kind = kind};
	locations->items[locations->count].is_excluded =
		locations_is_known(analysis, &locations->items[locations->count]);
	return locations->count++;
}

/* Notes the edge that the branch took, which determines the pass that asks about the event. */
static void locations_note_edge(
	struct locations *locations, struct location_slot *slot, const struct walk_event *event)
{
	bool *is_edge_noted = &slot->is_edge_noted[event->case_value != 0];
	struct asked *location;

	if (*is_edge_noted || slot->location == LOCATION_NONE)
		return;
	*is_edge_noted = true;
	location = &locations->items[slot->location];
	if (sensitive_is_failure(locations_kind(event)))
		location->has_failures = true;
	else
		location->has_others = true;
}

void locations_fill(struct sensitivity *analysis)
{
	struct locations *locations = &analysis->locations;
	const struct walk *walk = &analysis->walk;

	for (struct event_id id = {0}; walk_has_event(walk, &id); id.index++) {
		const struct walk_event *event = walk_event_of(walk, id);
		const uint64_t key = locations_key_of(event);
		struct location_slot *slot = slots_get(&locations->slots, sizeof *slot, key);

		if (!locations_is_asked(event))
			continue;
		if (!slot) {
			slot = slots_add(&locations->slots, sizeof *slot, key);
			slot->location = locations_is_excluded(analysis, event_instruction(event))
						 ? LOCATION_NONE
						 : locations_add(analysis, event);
		}
		locations_note_edge(locations, slot, event);
	}
}

void locations_release(struct locations *locations)
{
	free(locations->items);
	slots_release(&locations->slots);
	*locations = (struct locations){0};
}

uint32_t locations_of(const struct locations *locations, const struct walk_event *event)
{
	const struct location_slot *slot =
		slots_get(&locations->slots, sizeof *slot, locations_key_of(event));

	return slot && locations_is_asked(event) ? slot->location : LOCATION_NONE;
}

static char *locations_text_of(const char *text, unsigned length)
{
	return string_copy_part(text ? text : "", text ? length : 0);
}

/* Returns an instruction with a source location. Optimisers drop some; those of operands or earlier
 * instructions replace them. */
static LLVMValueRef locations_nearest_located(LLVMValueRef instruction)
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

void locations_describe(
	struct sensitivity *analysis, LLVMValueRef instruction, struct sensitive_location *location)
{
	unsigned length = 0;
	const char *text;

	instruction = locations_nearest_located(instruction);
	text = LLVMGetDebugLocFilename(instruction, &length);
	free(analysis->file);
	free(analysis->function);
	free(analysis->directory);
	analysis->file = locations_text_of(text, length);
	if (*analysis->file == '/')
		symbols_simplify_path(analysis->file);
	text = LLVMGetDebugLocDirectory(instruction, &length);
	analysis->directory = locations_text_of(text, length);
	analysis->function = locations_function(instruction);
	*location = (struct sensitive_location){.function = analysis->function,
		.file = analysis->file,
		.directory = analysis->directory,
		.line = LLVMGetDebugLocLine(instruction),
		.column = LLVMGetDebugLocColumn(instruction)};
}

static LLVMValueRef locations_operand_of(const struct walk_event *access)
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
static void locations_add_name(struct strbuf *out, LLVMValueRef variable)
{
	size_t length;
	const char *name = LLVMGetValueName2(variable, &length);
	FREE_SCOPED char *linked = locations_text_of(name, (unsigned)strcspn(name, "."));
	FREE_SCOPED char *text = symbols_readable_name(linked);

	strbuf_adds(out, text);
}

static void locations_add_type(struct strbuf *out, const char *type)
{
	FREE_SCOPED char *text = symbols_readable_type(type);

	strbuf_adds(out, text);
}

void locations_name_access(
	const struct sensitivity *analysis, const struct walk_event *access, struct strbuf *out)
{
	const struct site *site = access->site < analysis->image.site_count
					  ? analysis->image.sites[access->site].source
					  : NULL;
	LLVMValueRef object = decode_object_behind(locations_operand_of(access));
	const bool has_field = site && site->type && site->field;

	if (LLVMIsAGlobalVariable(object))
		locations_add_name(out, object);
	else
		locations_add_type(out, has_field ? site->type : "memory");
	if (has_field)
		strbuf_addf(out, ".%s", site->field);
}

static void locations_name_variable(
	struct strbuf *out, const struct sensitivity *analysis, const struct walk_event *read)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;

	locations_name_access(analysis, read, &text);
	if (!strstr(out->text, text.text))
		strbuf_addf(out, "%s%s", out->length ? ", " : "", text.text);
}

static void locations_add_variables(
	struct sensitivity *analysis, const struct term *term, uint32_t depth)
{
	if (!term || depth > 64)
		return;
	if (term->op == TERM_VARIABLE) {
		locations_name_variable(&analysis->variables, analysis,
			walk_event_of(&analysis->walk, analysis->order.reads[term->number]));
		return;
	}
	for (uint32_t i = 0; i < 3; i++)
		locations_add_variables(analysis, term_operand(term, i), depth + 1);
}

void locations_name_variables(struct sensitivity *analysis, const struct term *term)
{
	strbuf_clear(&analysis->variables);
	locations_add_variables(analysis, term, 0);
}
