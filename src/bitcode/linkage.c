#include "bitcode/linkage.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

static const char *linkage_name_of(LLVMValueRef value, size_t *length)
{
	return LLVMGetValueName2(value, length);
}

static bool linkage_is_local(LLVMValueRef value)
{
	const LLVMLinkage linkage = LLVMGetLinkage(value);

	return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

static uint32_t *linkage_name_slot(const struct linkage *linkage, const char *name)
{
	const uint32_t mask = linkage->name_capacity - 1;
	uint32_t i = (uint32_t)hash_bytes(name, strlen(name)) & mask;

	while (linkage->by_name[i] != NUMBER_MAP_NONE &&
		strcmp(linkage->symbols[linkage->by_name[i]].name, name) != 0)
		i = (i + 1) & mask;
	return &linkage->by_name[i];
}

struct symbol *linkage_named(const struct linkage *linkage, const char *name)
{
	const uint32_t number = *linkage_name_slot(linkage, name);

	return number == NUMBER_MAP_NONE ? NULL : &linkage->symbols[number];
}

static void linkage_make_room(struct linkage *linkage, const struct program *program)
{
	uint32_t most = 16;

	for (uint32_t i = 0; i < program->unit_count; i++) {
		LLVMModuleRef module = program->units[i].module;

		for (LLVMValueRef v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v))
			most++;
		for (LLVMValueRef v = LLVMGetFirstFunction(module); v; v = LLVMGetNextFunction(v))
			most++;
	}
	linkage->name_capacity = 16;
	while (linkage->name_capacity < 2 * most)
		linkage->name_capacity *= 2;
	linkage->by_name = array_new(linkage->name_capacity, sizeof *linkage->by_name);
	memset(linkage->by_name, 0xff, linkage->name_capacity * sizeof *linkage->by_name);
}

static uint32_t linkage_add_symbol(
	struct linkage *linkage, struct flow *flow, LLVMValueRef value, uint32_t unit)
{
	struct symbol *symbol;

	linkage->symbols = array_room(linkage->symbols, linkage->count, sizeof *linkage->symbols);
	symbol = &linkage->symbols[linkage->count];
	*symbol = (struct symbol){.value = value,
		.unit = unit,
		.object = flow_object(
			flow, LLVMIsAFunction(value) ? FLOW_FUNCTION : FLOW_GLOBAL, value)};
	value_map_set(&linkage->by_object, (void *)((uintptr_t)symbol->object + 1), linkage->count);
	return linkage->count++;
}

static uint32_t linkage_symbol_for(
	struct linkage *linkage, struct flow *flow, LLVMValueRef value, uint32_t unit)
{
	size_t length;
	const char *name = linkage_name_of(value, &length);
	uint32_t *slot, number;

	if (linkage_is_local(value) || !length) {
		number = linkage_add_symbol(linkage, flow, value, unit);
		linkage->symbols[number].name = length ? name : NULL;
		return number;
	}
	slot = linkage_name_slot(linkage, name);
	if (*slot == NUMBER_MAP_NONE) {
		*slot = linkage_add_symbol(linkage, flow, value, unit);
		linkage->symbols[*slot].name = name;
	}
	return *slot;
}

static void linkage_add_definition(
	struct symbol *symbol, struct flow *flow, LLVMValueRef function, uint32_t unit)
{
	ARRAY_APPEND(symbol->definitions, symbol->definition_count,
		(struct definition){.function = function,
			.unit = unit,
			.returns = flow_node(flow),
			.arguments = flow_node(flow)});
}

static void linkage_add_value(
	struct linkage *linkage, struct flow *flow, LLVMValueRef value, uint32_t unit)
{
	const uint32_t number = linkage_symbol_for(linkage, flow, value, unit);
	struct symbol *symbol = &linkage->symbols[number];

	value_map_set(&linkage->by_value, value, number);
	if (LLVMIsDeclaration(value))
		return;
	if (!symbol->is_defined) {
		symbol->value = value;
		symbol->unit = unit;
		flow->objects[symbol->object].value = value;
	}
	symbol->is_defined = true;
	if (LLVMIsAFunction(value))
		linkage_add_definition(symbol, flow, value, unit);
}

/* Adds aliases: further names of their targets, also in other units. */
static void linkage_add_aliases(struct linkage *linkage, LLVMModuleRef module)
{
	for (LLVMValueRef v = LLVMGetFirstGlobalAlias(module); v; v = LLVMGetNextGlobalAlias(v)) {
		const struct symbol *symbol = linkage_symbol(linkage, v);
		size_t length;
		const char *name = linkage_name_of(v, &length);
		uint32_t *slot;

		if (!symbol || linkage_is_local(v))
			continue;
		slot = linkage_name_slot(linkage, name);
		if (*slot != NUMBER_MAP_NONE && !linkage->symbols[*slot].is_defined)
			*slot = (uint32_t)(symbol - linkage->symbols);
	}
}

/* Lets declarations that an alias of another unit defines refer to the target of the alias. */
static void linkage_resolve_declarations(struct linkage *linkage, LLVMModuleRef module)
{
	for (LLVMValueRef v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v)) {
		size_t length;
		const char *name = linkage_name_of(v, &length);

		if (LLVMIsDeclaration(v) && length)
			value_map_set(&linkage->by_value, v, *linkage_name_slot(linkage, name));
	}
	for (LLVMValueRef v = LLVMGetFirstFunction(module); v; v = LLVMGetNextFunction(v)) {
		size_t length;
		const char *name = linkage_name_of(v, &length);

		if (LLVMIsDeclaration(v) && length)
			value_map_set(&linkage->by_value, v, *linkage_name_slot(linkage, name));
	}
}

void linkage_build(struct linkage *linkage, const struct program *program, struct flow *flow)
{
	*linkage = (struct linkage){0};
	linkage_make_room(linkage, program);
	for (uint32_t i = 0; i < program->unit_count; i++) {
		LLVMModuleRef module = program->units[i].module;

		for (LLVMValueRef v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v))
			linkage_add_value(linkage, flow, v, i);
		for (LLVMValueRef v = LLVMGetFirstFunction(module); v; v = LLVMGetNextFunction(v))
			linkage_add_value(linkage, flow, v, i);
	}
	for (uint32_t i = 0; i < program->unit_count; i++)
		linkage_add_aliases(linkage, program->units[i].module);
	for (uint32_t i = 0; i < program->unit_count; i++)
		linkage_resolve_declarations(linkage, program->units[i].module);
}

void linkage_release(struct linkage *linkage)
{
	for (uint32_t i = 0; i < linkage->count; i++)
		free(linkage->symbols[i].definitions);
	free(linkage->symbols);
	free(linkage->by_name);
	number_map_release(&linkage->by_value);
	number_map_release(&linkage->by_object);
}

struct symbol *linkage_symbol(const struct linkage *linkage, LLVMValueRef global)
{
	uint32_t number;

	for (int depth = 0; LLVMIsAGlobalAlias(global) && depth < 16; depth++)
		global = LLVMAliasGetAliasee(global);
	number = value_map_get(&linkage->by_value, global);
	return number == NUMBER_MAP_NONE ? NULL : &linkage->symbols[number];
}

struct symbol *linkage_of_object(const struct linkage *linkage, uint32_t object)
{
	const uint32_t number = value_map_get(&linkage->by_object, (void *)((uintptr_t)object + 1));

	return number == NUMBER_MAP_NONE ? NULL : &linkage->symbols[number];
}
