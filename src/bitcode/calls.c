/*
 * Constraints of calls: of functions with bitcode, of function pointers as targets become known,
 * and of code without bitcode (externals.def).
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/starts_with.h"
#include "bitcode/points_to_internal.h"

enum result_kind { RESULT_NOTHING, RESULT_NEW, RESULT_FOREIGN, RESULT_SAME, RESULT_WITHIN };

struct external {
	const char *name;
	const char *arguments; /* NULL means a copy or a callback */
	enum result_kind result;
	int from;	    /* argument of RESULT_SAME and RESULT_WITHIN */
	int callback;	    /* number of the argument that is called; -1: none */
	const char *passed; /* letters of the arguments passed to the callback */
};

#define NOTHING RESULT_NOTHING, 0
#define NEW RESULT_NEW, 0
#define FOREIGN RESULT_FOREIGN, 0
#define SAME(n) RESULT_SAME, n
#define WITHIN(n) RESULT_WITHIN, n
#define EXTERNAL(name, arguments, ...) {#name, arguments, __VA_ARGS__, -1, NULL},
#define EXTERNAL_COPY(name) {#name, NULL, RESULT_WITHIN, 0, -1, NULL},
#define EXTERNAL_CALLBACK(name, number, passed) {#name, NULL, RESULT_NOTHING, 0, number, passed},
static const struct external externals[] = {
#include "bitcode/externals.def"
};

#define EXTERNAL_COUNT (sizeof externals / sizeof *externals)

static const struct external *calls_external_named(const char *name)
{
	for (size_t i = 0; name && i < EXTERNAL_COUNT; i++)
		if (strcmp(externals[i].name, name) == 0)
			return &externals[i];
	return NULL;
}

static uint32_t calls_argument_node(struct analysis *analysis, LLVMValueRef call, unsigned number)
{
	if (number >= LLVMGetNumArgOperands(call))
		return analysis->nothing;
	return value_node(analysis, LLVMGetArgOperand(call, number));
}

static bool calls_has_result(const struct analysis *analysis, uint32_t node)
{
	return node != analysis->nothing;
}

static void calls_flow_to_foreign(struct analysis *analysis, uint32_t node)
{
	if (node != analysis->nothing)
		flow_edge(&analysis->flow, node, analysis->flow.foreign);
}

static void calls_foreign_to(struct analysis *analysis, uint32_t node)
{
	if (node != analysis->nothing)
		flow_edge(&analysis->flow, analysis->flow.foreign, node);
}

static uint32_t calls_parameter_node(
	struct analysis *analysis, const struct definition *to, unsigned number)
{
	if (number >= LLVMCountParams(to->function))
		return to->arguments;
	return value_node(analysis, LLVMGetParam(to->function, number));
}

static void calls_link_call(
	struct analysis *analysis, LLVMValueRef call, const struct definition *to)
{
	const uint32_t result = value_node(analysis, call);
	const unsigned count = LLVMGetNumArgOperands(call);

	for (unsigned i = 0; i < count; i++) {
		const uint32_t parameter = calls_parameter_node(analysis, to, i);

		if (parameter != analysis->nothing)
			flow_edge(
				&analysis->flow, calls_argument_node(analysis, call, i), parameter);
	}
	if (calls_has_result(analysis, result))
		flow_edge(&analysis->flow, to->returns, result);
}

static void calls_call_unknown(struct analysis *analysis, LLVMValueRef call)
{
	const unsigned count = LLVMGetNumArgOperands(call);

	for (unsigned i = 0; i < count; i++)
		calls_flow_to_foreign(analysis, calls_argument_node(analysis, call, i));
	calls_foreign_to(analysis, value_node(analysis, call));
}

/* Returns the constant length of a copy; UINT64_MAX: not constant. */
static uint64_t calls_copied_bytes(LLVMValueRef call)
{
	LLVMValueRef length = LLVMGetArgOperand(call, 2);

	return LLVMIsAConstantInt(length) ? LLVMConstIntGetZExtValue(length) : UINT64_MAX;
}

static void calls_call_copy(struct analysis *analysis, LLVMValueRef call, bool is_behind)
{
	const uint32_t to = calls_argument_node(analysis, call, 0);
	const uint32_t from = calls_argument_node(analysis, call, 1);
	const uint32_t result = value_node(analysis, call);

	if (to != analysis->nothing && from != analysis->nothing)
		flow_copy(&analysis->flow, to, from, calls_copied_bytes(call));
	if (is_behind)
		flow_anywhere(analysis, result, to);
	else
		flow_shift(analysis, result, to, 0, 0);
}

static void calls_pass_argument(struct analysis *analysis, uint32_t node, char letter)
{
	/* The size is unknown, so the location may be at any distance. */
	const uint32_t location = flow_node(&analysis->flow);
	const uint32_t stored = flow_node(&analysis->flow);

	switch (letter) {
	case 't':
		flow_anywhere(analysis, location, node);
		flow_load(analysis, stored, location, 1);
		calls_flow_to_foreign(analysis, stored);
		return;
	case 'g':
		flow_anywhere(analysis, location, node);
		flow_store(analysis, location, analysis->flow.foreign, 1);
		return;
	case 'f':
		calls_flow_to_foreign(analysis, node);
		return;
	default:
		return;
	}
}

static void calls_give_result(
	struct analysis *analysis, LLVMValueRef call, const struct external *external)
{
	const uint32_t result = value_node(analysis, call);

	if (!calls_has_result(analysis, result))
		return;
	switch (external->result) {
	case RESULT_NOTHING:
		return;
	case RESULT_NEW:
		flow_edge(&analysis->flow, new_object(analysis, FLOW_HEAP, call), result);
		return;
	case RESULT_FOREIGN:
		calls_foreign_to(analysis, result);
		return;
	case RESULT_SAME:
		flow_shift(analysis, result,
			calls_argument_node(analysis, call, (unsigned)external->from), 0, 0);
		return;
	case RESULT_WITHIN:
		flow_anywhere(analysis, result,
			calls_argument_node(analysis, call, (unsigned)external->from));
		return;
	}
}

/* Adds the call of the function in that argument, made during this call or later. */
static void calls_call_back(
	struct analysis *analysis, LLVMValueRef call, const struct external *external)
{
	const struct flow_rule rule = {
		.kind = FLOW_CALL, .call = call, .callback = 1 + (uint32_t)(external - externals)};
	const uint32_t called = calls_argument_node(analysis, call, (unsigned)external->callback);

	if (called != analysis->nothing)
		flow_rule(&analysis->flow, called, &rule);
}

static void calls_call_external(struct analysis *analysis, LLVMValueRef call, const char *name)
{
	const struct external *external = calls_external_named(name);
	const unsigned count = LLVMGetNumArgOperands(call);

	if (!external) {
		calls_call_unknown(analysis, call);
		return;
	}
	if (external->callback >= 0) {
		calls_call_back(analysis, call, external);
		return;
	}
	if (!external->arguments) {
		calls_call_copy(analysis, call, strstr(name, "mempcpy"));
		return;
	}
	for (unsigned i = 0; i < count; i++) {
		const size_t last = strlen(external->arguments) - 1;
		const char letter = external->arguments[i < last ? i : last];

		if (letter != '.' && calls_argument_node(analysis, call, i) != analysis->nothing)
			calls_pass_argument(
				analysis, calls_argument_node(analysis, call, i), letter);
	}
	calls_give_result(analysis, call, external);
}

/* Adds the effects of realloc, whose result holds the old contents, and of functions that return
 * memory through an argument. */
static bool calls_call_reallocation(struct analysis *analysis, LLVMValueRef call, const char *name)
{
	uint32_t block;

	if (!name)
		return false;
	if (strcmp(name, "realloc") == 0 || strcmp(name, "reallocarray") == 0) {
		block = new_object(analysis, FLOW_HEAP, call);
		flow_edge(&analysis->flow, block, value_node(analysis, call));
		if (calls_argument_node(analysis, call, 0) != analysis->nothing)
			flow_copy(&analysis->flow, block, calls_argument_node(analysis, call, 0),
				UINT64_MAX);
		return true;
	}
	if (strcmp(name, "posix_memalign") == 0) {
		flow_store(analysis, calls_argument_node(analysis, call, 0),
			new_object(analysis, FLOW_HEAP, call), 8);
		return true;
	}
	return false;
}

/* Returns the node for one letter of the arguments that are passed to a callback. */
static uint32_t calls_passed_node(struct analysis *analysis, LLVMValueRef call, const char **at)
{
	const char letter = *(*at)++;
	uint32_t node;

	if (letter == 'f')
		return analysis->flow.foreign;
	if (letter != 'i')
		return calls_argument_node(analysis, call, (unsigned)(letter - '0'));
	node = flow_node(&analysis->flow);
	flow_anywhere(
		analysis, node, calls_argument_node(analysis, call, (unsigned)(*(*at)++ - '0')));
	return node;
}

static void calls_link_callback(struct analysis *analysis, LLVMValueRef call,
	const struct external *external, const struct symbol *symbol)
{
	const char *at = external->passed;

	for (unsigned number = 0; *at; number++) {
		const uint32_t passed = calls_passed_node(analysis, call, &at);

		if (!symbol->is_defined)
			calls_flow_to_foreign(analysis, passed);
		for (uint32_t i = 0; i < symbol->definition_count; i++) {
			const uint32_t parameter =
				calls_parameter_node(analysis, &symbol->definitions[i], number);

			if (parameter != analysis->nothing)
				flow_edge(&analysis->flow, passed, parameter);
		}
	}
	for (uint32_t i = 0; i < symbol->definition_count; i++)
		calls_flow_to_foreign(analysis, symbol->definitions[i].returns);
}

/* Models va_start. The va_list of x86-64 points to the arguments at offset 8, and to the saved
 * registers at 16: one object serves for both. */
static void calls_start_variadic(struct analysis *analysis, LLVMValueRef call)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
	const struct symbol *symbol = linkage_symbol(&analysis->linkage, function);
	const uint32_t area = new_object(analysis, FLOW_STACK, call);
	const uint32_t list = flow_node(&analysis->flow);

	flow_anywhere(analysis, area, area);
	flow_shift(analysis, list, calls_argument_node(analysis, call, 0), 8, 0);
	flow_store(analysis, list, area, 16);
	for (uint32_t i = 0; i < symbol->definition_count; i++)
		if (symbol->definitions[i].function == function)
			flow_store(analysis, area, symbol->definitions[i].arguments, 8);
	for (unsigned i = 0; i < LLVMCountParams(function); i++) /* registers are saved together */
		flow_store(analysis, area, value_node(analysis, LLVMGetParam(function, i)), 8);
}

static void calls_call_vector_memory(struct analysis *analysis, LLVMValueRef call, const char *name)
{
	const bool is_store = starts_with(name, "llvm.masked.store") ||
			      starts_with(name, "llvm.masked.scatter") ||
			      starts_with(name, "llvm.masked.compressstore") ||
			      starts_with(name, "llvm.vp.store") ||
			      starts_with(name, "llvm.vp.scatter");
	LLVMValueRef value = is_store ? LLVMGetArgOperand(call, 0) : call;
	const uint64_t bytes = type_bytes(analysis, LLVMTypeOf(value));
	const uint32_t location = calls_argument_node(analysis, call, is_store);

	if (is_store) {
		flow_store(analysis, location, value_node(analysis, value), bytes);
		return;
	}
	flow_load(analysis, value_node(analysis, call), location, bytes);
	/* The result may have values of lanes that are not loaded. */
	for (unsigned i = 1; i < LLVMGetNumArgOperands(call); i++)
		flow_edge(&analysis->flow, calls_argument_node(analysis, call, i),
			value_node(analysis, call));
}

static void calls_call_intrinsic(struct analysis *analysis, LLVMValueRef call, const char *name)
{
	if (starts_with(name, "llvm.memcpy") || starts_with(name, "llvm.memmove")) {
		calls_call_copy(analysis, call, false);
	} else if (starts_with(name, "llvm.va_start")) {
		calls_start_variadic(analysis, call);
	} else if (starts_with(name, "llvm.va_copy")) {
		flow_copy(&analysis->flow, calls_argument_node(analysis, call, 0),
			calls_argument_node(analysis, call, 1), 24);
	} else if (starts_with(name, "llvm.masked.") || starts_with(name, "llvm.vp.")) {
		calls_call_vector_memory(analysis, call, name);
	} else if (value_node(analysis, call) != analysis->nothing) {
		/* Pure computations: the result may point to whatever the arguments point to. */
		for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
			flow_edge(&analysis->flow, calls_argument_node(analysis, call, i),
				value_node(analysis, call));
	}
}

/* Assembly may do anything with memory behind its operands, and touches no other memory. */
static void calls_call_assembly(struct analysis *analysis, LLVMValueRef call)
{
	const uint32_t all = flow_node(&analysis->flow);

	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
		flow_edge(&analysis->flow, calls_argument_node(analysis, call, i), all);
	flow_load(analysis, all, all, 8);
	flow_store(analysis, all, all, 8);
	if (calls_has_result(analysis, value_node(analysis, call)))
		flow_edge(&analysis->flow, all, value_node(analysis, call));
}

static void calls_call_symbol(
	struct analysis *analysis, LLVMValueRef call, const struct symbol *symbol)
{
	for (uint32_t i = 0; i < symbol->definition_count; i++)
		calls_link_call(analysis, call, &symbol->definitions[i]);
	if (symbol->definition_count)
		return;
	if (!calls_call_reallocation(analysis, call, symbol->name))
		calls_call_external(analysis, call, symbol->name);
}

void constrain_call(struct analysis *analysis, LLVMValueRef call)
{
	const struct flow_rule rule = {.kind = FLOW_CALL, .call = call};
	LLVMValueRef called = LLVMGetCalledValue(call);
	const struct symbol *symbol;
	size_t length;

	if (LLVMIsAInlineAsm(called)) {
		calls_call_assembly(analysis, call);
		return;
	}
	symbol = LLVMIsAGlobalValue(called) ? linkage_symbol(&analysis->linkage, called) : NULL;
	if (!symbol)
		flow_rule(&analysis->flow, value_node(analysis, called), &rule);
	else if (LLVMIsAFunction(called) &&
		 starts_with(LLVMGetValueName2(called, &length), "llvm."))
		calls_call_intrinsic(analysis, call, symbol->name);
	else
		calls_call_symbol(analysis, call, symbol);
}

static bool calls_is_new_pair(
	struct analysis *analysis, const struct flow_rule *rule, uint32_t object)
{
	uint32_t number = value_map_get(&analysis->calls, rule->call);

	if (number == NUMBER_MAP_NONE) {
		analysis->call_sites = array_room(analysis->call_sites, analysis->call_site_count,
			sizeof *analysis->call_sites);
		number = analysis->call_site_count++;
		analysis->call_sites[number] = (struct call_site){0};
		value_map_set(&analysis->calls, rule->call, number);
	}
	return bitmap_add(&analysis->call_sites[number].objects, 2 * object + !!rule->callback);
}

void call_reaches(void *context, const struct flow_rule *rule, uint32_t object)
{
	struct analysis *analysis = context;
	const struct symbol *symbol = linkage_of_object(&analysis->linkage, object);

	if (!calls_is_new_pair(analysis, rule, object))
		return;
	analysis->layout = analysis->program.units[0].layout;
	if (rule->callback && symbol)
		calls_link_callback(analysis, rule->call, &externals[rule->callback - 1], symbol);
	else if (symbol)
		calls_call_symbol(analysis, rule->call, symbol);
	else
		calls_call_unknown(analysis, rule->call);
}

void function_becomes_foreign(void *context, uint32_t object)
{
	struct analysis *analysis = context;
	const struct symbol *symbol = linkage_of_object(&analysis->linkage, object);

	for (uint32_t i = 0; symbol && i < symbol->definition_count; i++) {
		const struct definition *definition = &symbol->definitions[i];

		for (unsigned number = 0; number < LLVMCountParams(definition->function); number++)
			calls_foreign_to(
				analysis, calls_parameter_node(analysis, definition, number));
		calls_foreign_to(analysis, definition->arguments);
		calls_flow_to_foreign(analysis, definition->returns);
	}
}
