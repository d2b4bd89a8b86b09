/*
 * Location of objects in a process: globals by symbol, locals of main by their SITE_ADDRESS site.
 */
#include <string.h>

#include "base/strbuf.h"
#include "bitcode/points_to_internal.h"
#include "abi/instrument_abi.h"

static bool objects_describe_global(
	const struct analysis *analysis, uint32_t number, struct points_to_object *out)
{
	const struct symbol *symbol = linkage_of_object(&analysis->linkage, number);
	const struct flow_object *object = &analysis->flow.objects[number];
	size_t length;
	const char *name =
		symbol && symbol->name ? symbol->name : LLVMGetValueName2(object->value, &length);

	if (!*name || LLVMIsThreadLocal(object->value))
		return false;
	out->symbol = string_copy(name);
	return true;
}

static LLVMValueRef objects_instruction_of(
	const struct unit *unit, const struct site *site, const char *function)
{
	if (site->function_number >= unit->function_count ||
		!program_is_named(unit->functions[site->function_number], function))
		return NULL;
	return program_instruction(unit, site->function_number, site->instruction_number);
}

/* Returns the size of a local; 0: not known. */
static uint64_t objects_local_bytes(const struct unit *unit, LLVMValueRef local)
{
	LLVMValueRef count = LLVMGetOperand(local, 0);

	if (!LLVMIsAConstantInt(count))
		return 0;
	return LLVMABISizeOfType(unit->layout, LLVMGetAllocatedType(local)) *
	       LLVMConstIntGetZExtValue(count);
}

/* Finds the local's site in a file. Returns false if there is none. */
static bool objects_find_local(const struct analysis *analysis, LLVMValueRef local, uint32_t file,
	struct points_to_object *out)
{
	const struct program *program = &analysis->program;
	const struct site_table *table = program->files[file].sites;

	for (uint32_t i = 0; i < site_table_count(table); i++) {
		const struct site *site = site_table_at(table, i);

		if (site->kind != SITE_ADDRESS || site->order != SITE_OF_MAIN)
			continue;
		for (uint32_t j = 0; j < program->unit_count; j++) {
			const struct unit *unit = &program->units[j];

			if (unit->file != file ||
				objects_instruction_of(unit, site, "main") != local)
				continue;
			*out = (struct points_to_object){.file = file,
				.index = i,
				.bytes = objects_local_bytes(unit, local)};
			return out->bytes != 0;
		}
	}
	return false;
}

static bool objects_describe_local(
	const struct analysis *analysis, LLVMValueRef local, struct points_to_object *out)
{
	if (!local || !LLVMIsAAllocaInst(local) ||
		!program_is_named(LLVMGetBasicBlockParent(LLVMGetInstructionParent(local)), "main"))
		return false;
	for (uint32_t file = 0; file < analysis->program.file_count; file++)
		if (objects_find_local(analysis, local, file, out))
			return true;
	return false;
}

bool describe_object(const struct analysis *analysis, uint32_t number, struct points_to_object *out)
{
	const struct flow_object *object = &analysis->flow.objects[number];
	bool is_known = false;

	*out = (struct points_to_object){0};
	if (object->kind == FLOW_GLOBAL)
		is_known = objects_describe_global(analysis, number, out);
	else if (object->kind == FLOW_STACK)
		is_known = objects_describe_local(analysis, object->value, out);
	out->stride = object->stride;
	return is_known;
}
