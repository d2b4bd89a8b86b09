/* Shared by the files that turn bitcode into constraints (flow.h) and read the result. */
#pragma once

#include "base/strbuf.h"
#include "bitcode/bitcode.h"
#include "bitcode/flow/flow.h"
#include "bitcode/linkage.h"
#include "bitcode/program.h"
#include "bitcode/value_map.h"

/* Functions already linked to a call site, so that none is linked twice. */
struct call_site {
	struct bitmap objects;
};

struct analysis {
	struct program program;
	struct flow flow;
	struct linkage linkage;
	struct number_map nodes; /* LLVM value to node */
	/* Call instruction to index in call_sites[], also for callbacks. */
	struct number_map calls;
	struct call_site *call_sites;
	uint32_t call_site_count;
	uint32_t nothing;	  /* node that never points anywhere */
	LLVMTargetDataRef layout; /* layout of the current unit */
	uint32_t unit;
	uint64_t instruction_count;
};

void constrain_program(struct analysis *analysis);
/* Returns the node of the addresses that a value may hold; `nothing` if the value cannot be an
 * address. */
uint32_t value_node(struct analysis *analysis, LLVMValueRef value);
uint64_t type_bytes(const struct analysis *analysis, LLVMTypeRef type);
void flow_load(struct analysis *analysis, uint32_t to, uint32_t pointer, uint64_t bytes);
void flow_store(struct analysis *analysis, uint32_t pointer, uint32_t from, uint64_t bytes);
void flow_shift(
	struct analysis *analysis, uint32_t to, uint32_t from, int64_t distance, int64_t stride);
/* Makes `to` point to any distance in the objects that `from` points to. */
void flow_anywhere(struct analysis *analysis, uint32_t to, uint32_t from);
/* Creates an object and a node that points to it. */
uint32_t new_object(struct analysis *analysis, enum flow_object_kind kind, LLVMValueRef value);

/* Lets `node` point to all objects that the constant may point to. */
void constrain_constant(struct analysis *analysis, uint32_t node, LLVMValueRef constant);
/* Adds the addresses that a global variable holds when the program starts. */
void constrain_initialiser(struct analysis *analysis, LLVMValueRef global);
/* Returns the constant part of a getelementptr's distance. *stride: that of the variable part. */
int64_t element_distance(
	const struct analysis *analysis, LLVMValueRef element_pointer, int64_t *stride);

void constrain_call(struct analysis *analysis, LLVMValueRef call);
/* Handlers for flow.on_call and flow.on_foreign_function; their context is the analysis. */
void call_reaches(void *context, const struct flow_rule *rule, uint32_t object);
void function_becomes_foreign(void *context, uint32_t object);

struct points_to *read_result(struct analysis *analysis);

/* Describes where the object lies in memory. Returns false for an object that is neither a global
 * nor a local of main with a site. */
bool describe_object(
	const struct analysis *analysis, uint32_t number, struct points_to_object *out);

/* Returns a name such as "counter", "local 'x' of main", "malloc at bank.c:41". The caller frees
 * it. */
char *object_name(const struct analysis *analysis, uint32_t object);
/* Appends the demangled name without parameters. */
void add_demangled(struct strbuf *out, const char *name);
