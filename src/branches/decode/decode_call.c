/* Translates calls: of the program's functions, of library functions, and of intrinsics. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/starts_with.h"
#include "branches/decode/code.h"
#include "abi/instrument_abi.h"

static const struct {
	const char *start;
	uint8_t number;
} intrinsics[] = {
#define INTRINSIC(name, number) {name, INTRINSIC_##number},
#include "abi/intrinsics.def"
#undef INTRINSIC
};

/* Returns whether the intrinsic has no effect on values or memory. */
static bool decode_call_is_idle(const char *name)
{
	static const char *const starts[] = {"lifetime.", "dbg.", "assume", "experimental.noalias",
		"prefetch", "va_start", "va_end", "va_copy", "stackrestore", "invariant.",
		"donothing", "sideeffect", "var.annotation", "pseudoprobe", "trap.mark"};

	return STARTS_WITH_ANY(name, starts);
}

/* Adds one code per lane of the result; with.overflow intrinsics have two result registers. */
static void decode_call_add_lanes(
	struct decoder *decoder, LLVMValueRef call, enum intrinsic number, enum code_op op)
{
	LLVMTypeRef type = LLVMTypeOf(LLVMGetArgOperand(call, 0));
	const uint32_t lanes = decode_registers(decoder, type);
	const unsigned arguments = LLVMGetNumArgOperands(call);
	int32_t operands[3] = {0};

	for (unsigned i = 0; i < arguments && i < 3; i++)
		operands[i] = decode_operand(decoder, LLVMGetArgOperand(call, i));
	for (uint32_t i = 0; i < lanes; i++) {
		struct code *code = decode_add(decoder, op, call);
		const bool is_scalar =
			arguments < 2 ||
			decode_registers(decoder, LLVMTypeOf(LLVMGetArgOperand(call, 1))) != lanes;

		code->sub = (uint8_t)number;
		code->width = (uint8_t)decode_width(decode_lane_type(type));
		code->to += (int32_t)i;
		code->a = decode_lane(operands[0], i);
		code->b = is_scalar ? operands[1] : decode_lane(operands[1], i);
		code->c = decode_lane(operands[2], i);
		if (!code->width) {
			code->op = CODE_UNKNOWN;
			code->text = "arithmetic of more than 64 bits";
		}
	}
}

static void decode_call_add_reduction(struct decoder *decoder, LLVMValueRef call, const char *name)
{
	static const struct {
		const char *name;
		uint8_t op, sub;
	} rows[] = {{"add", CODE_BINARY, LLVMAdd}, {"mul", CODE_BINARY, LLVMMul},
		{"and", CODE_BINARY, LLVMAnd}, {"or", CODE_BINARY, LLVMOr},
		{"xor", CODE_BINARY, LLVMXor}, {"umin", CODE_INTRINSIC, INTRINSIC_UNSIGNED_MIN},
		{"umax", CODE_INTRINSIC, INTRINSIC_UNSIGNED_MAX},
		{"smin", CODE_INTRINSIC, INTRINSIC_SIGNED_MIN},
		{"smax", CODE_INTRINSIC, INTRINSIC_SIGNED_MAX}};
	const char *kind = name + strlen("vector.reduce.");
	const size_t length = strcspn(kind, ".");

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		LLVMTypeRef type = LLVMTypeOf(LLVMGetArgOperand(call, 0));
		const int32_t a = decode_operand(decoder, LLVMGetArgOperand(call, 0));

		if (strlen(rows[i].name) != length || strncmp(rows[i].name, kind, length) != 0)
			continue;
		for (uint32_t lane = 0; lane < decode_registers(decoder, type); lane++) {
			struct code *code =
				decode_add(decoder, lane ? rows[i].op : CODE_MOVE, call);

			code->sub = lane ? rows[i].sub : 0;
			code->width = (uint8_t)decode_width(decode_lane_type(type));
			code->a = lane ? code->to : a;
			code->b = decode_lane(a, lane);
		}
		return;
	}
}

static void decode_call_add_copy(struct decoder *decoder, LLVMValueRef call, bool is_fill)
{
	const int32_t a = decode_operand(decoder, LLVMGetArgOperand(call, 0));
	const int32_t b = decode_operand(decoder, LLVMGetArgOperand(call, 1));
	const int32_t c = decode_operand(decoder, LLVMGetArgOperand(call, 2));
	uint32_t site = decode_site(decoder, call, SITE_RANGE_READ, SITE_RANGE_READ);
	const uint32_t target = decode_site(decoder, call, SITE_RANGE_WRITE, SITE_RANGE_WRITE);
	LLVMValueRef source = decode_object_behind(LLVMGetArgOperand(call, 1));
	struct code *code = decode_add(decoder, is_fill ? CODE_FILL : CODE_COPY, call);

	code->a = a;
	code->b = b;
	code->c = c;
	code->site = site;
	code->site_to = target;
	code->location = target != SITE_NONE ? LOCATION_SITE : LOCATION_LOCAL;
	code->location_from = LOCATION_SITE;
	if (is_fill || site != SITE_NONE)
		return;
	if (LLVMIsAAllocaInst(source)) {
		code->location_from = LOCATION_LOCAL;
		return;
	}
	code->location_from = LOCATION_CONSTANT;
	if (LLVMIsAGlobalVariable(source)) {
		const struct constant_block *block = decode_constant_block(decoder, source);

		code = &decoder->function->codes[decoder->function->code_count - 1];
		code->constant = block;
	}
	if (!code->constant) {
		code->op = CODE_UNKNOWN;
		code->text = "a copy of memory that raddle-cc left out";
	}
}

static void decode_call_set_result(
	const struct decoder *decoder, struct code *code, LLVMValueRef call)
{
	LLVMTypeRef type = LLVMTypeOf(call);

	code->site = decode_site(decoder, call, SITE_RESULT, SITE_RETURNS_TWICE);
	code->is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
	code->b = (int32_t)decode_registers(decoder, type);
	code->width = (uint8_t)decode_width(decode_lane_type(type));
}

static int32_t *decode_call_operands(
	struct decoder *decoder, LLVMValueRef instruction, uint32_t *count)
{
	const unsigned operands = LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction)
					  ? LLVMGetNumArgOperands(instruction)
					  : (unsigned)LLVMGetNumOperands(instruction);
	int32_t *out;

	*count = 0;
	for (unsigned i = 0; i < operands; i++)
		*count += decode_registers(decoder, LLVMTypeOf(LLVMGetOperand(instruction, i)));
	out = array_new(*count + 1u, sizeof *out);
	*count = 0;
	for (unsigned i = 0; i < operands; i++) {
		LLVMValueRef value = LLVMGetOperand(instruction, i);
		const uint32_t lanes = decode_registers(decoder, LLVMTypeOf(value));
		const int32_t operand = lanes ? decode_operand(decoder, value) : 0;

		for (uint32_t lane = 0; lane < lanes; lane++)
			out[(*count)++] = decode_lane(operand, lane);
	}
	return out;
}

void decode_recorded(struct decoder *decoder, LLVMValueRef instruction)
{
	uint32_t count;
	int32_t *operands = decode_call_operands(decoder, instruction, &count);
	struct code *code = decode_add(decoder, CODE_VALUE, instruction);

	code->operands = operands;
	code->count = count;
	decode_call_set_result(decoder, code, instruction);
}

static enum intrinsic decode_call_intrinsic(const char *name)
{
	for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++)
		if (starts_with(name, intrinsics[i].start))
			return (enum intrinsic)intrinsics[i].number;
	return INTRINSIC_UNKNOWN;
}

static void decode_intrinsic(struct decoder *decoder, LLVMValueRef call, const char *name)
{
	const enum intrinsic number = decode_call_intrinsic(name);

	if (decode_site(decoder, call, SITE_RESULT, SITE_RETURNS_TWICE) != SITE_NONE) {
		decode_recorded(decoder, call);
	} else if (decode_call_is_idle(name)) {
		decode_add(decoder, CODE_NOTHING, call);
	} else if (starts_with(name, "memcpy.") || starts_with(name, "memmove.") ||
		   starts_with(name, "memset.")) {
		decode_call_add_copy(decoder, call, name[3] == 's');
	} else if (starts_with(name, "trap") || starts_with(name, "ubsantrap") ||
		   starts_with(name, "eh.resume")) {
		decode_add(decoder, CODE_STOP, call);
	} else if (number == INTRINSIC_COPY) {
		const int32_t a = decode_operand(decoder, LLVMGetArgOperand(call, 0));
		struct code *code = decode_add(decoder, CODE_MOVE, call);

		code->width = 64;
		code->a = a;
	} else if (number == INTRINSIC_REDUCE) {
		decode_call_add_reduction(decoder, call, name);
	} else if (number != INTRINSIC_UNKNOWN) {
		decode_call_add_lanes(decoder, call, number, CODE_INTRINSIC);
	} else {
		decode_unknown(decoder, call, name - strlen("llvm."));
	}
}

bool decode_never_returns(LLVMValueRef call)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName("noreturn", 8);
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind) ||
	       (LLVMIsAFunction(callee) &&
		       LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind));
}

/* Finds the kind of allocation by name, because code without bitcode is unknown. C++ operators may
 * have further parameters. */
static enum allocation decode_call_allocation_of(LLVMValueRef callee)
{
	static const struct {
		const char *name;
		uint8_t allocation;
		bool is_beginning;
	} rows[] = {{"malloc", ALLOCATION_FIRST, false}, {"valloc", ALLOCATION_FIRST, false},
		{"_Znwm", ALLOCATION_FIRST, true}, {"_Znam", ALLOCATION_FIRST, true},
		{"aligned_alloc", ALLOCATION_SECOND, false}, {"memalign", ALLOCATION_SECOND, false},
		{"calloc", ALLOCATION_PRODUCT, false}, {"realloc", ALLOCATION_MOVE, false},
		{"free", ALLOCATION_END, false}, {"_ZdlPv", ALLOCATION_END, true},
		{"_ZdaPv", ALLOCATION_END, true}};
	size_t length;
	const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].is_beginning ? starts_with(name, rows[i].name)
					 : strcmp(name, rows[i].name) == 0)
			return rows[i].allocation;
	return ALLOCATION_NONE;
}

/* Returns whether the assembly writes a result to memory: constraint "=*". */
static bool decode_call_writes_unseen(LLVMValueRef callee)
{
	size_t length;
	const char *constraints =
		LLVMIsAInlineAsm(callee) ? LLVMGetInlineAsmConstraintString(callee, &length) : NULL;

	return constraints && memmem(constraints, length, "=*", 2);
}

static bool decode_call_has_site(
	const struct decoder *decoder, LLVMValueRef call, enum site_kind a, enum site_kind b)
{
	const struct image *image = decoder->image;
	uint32_t site = value_map_get(&image->first_site, call);

	for (; site != SITE_NONE; site = image->sites[site].next)
		if (image->sites[site].kind == a || image->sites[site].kind == b)
			return true;
	return false;
}

/* Returns whether the effect depends on bytes that the function reads, by the function's name. */
static bool decode_call_depends_on_bytes(LLVMValueRef callee)
{
	static const char *const names[] = {"str", "stp", "ato", "mem", "bcmp", "wcs", "wmem",
		"__str", "__stp", "__isoc23_str"};
	size_t length;
	const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";

	return STARTS_WITH_ANY(name, names);
}

static void decode_call_set_effects(struct decoder *decoder, struct code *code, LLVMValueRef call)
{
	code->is_used = LLVMGetFirstUse(call) != NULL;
	code->writes_bytes =
		decode_call_has_site(decoder, call, SITE_RANGE_WRITE, SITE_STRING_WRITE);
	code->reads_bytes = !code->sub && (code->is_used || code->writes_bytes) &&
			    decode_call_depends_on_bytes(LLVMGetCalledValue(call)) &&
			    decode_call_has_site(decoder, call, SITE_RANGE_READ, SITE_STRING_READ);
}

static void decode_call_add_call(struct decoder *decoder, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	const bool is_assembly = LLVMIsAInlineAsm(callee) != NULL;
	const int32_t target = is_assembly ? 0 : decode_operand(decoder, callee);
	struct edge *normal = NULL, *unwind = NULL;
	struct library_read *reads;
	uint32_t count;
	int32_t *operands;
	struct code *code;

	operands = decode_call_operands(decoder, call, &count);
	reads = is_assembly ? NULL : decode_library_read(decoder, call);
	if (LLVMIsAInvokeInst(call)) {
		normal = decode_edge(decoder, call, LLVMGetNormalDest(call));
		unwind = decode_edge(decoder, call, LLVMGetUnwindDest(call));
	}
	code = decode_add(decoder, CODE_CALL, call);
	code->a = target;
	code->sub = is_assembly;
	code->allocates = (uint8_t)decode_call_allocation_of(callee);
	code->outcome = (uint8_t)decode_outcome(call);
	code->is_blind = decode_call_writes_unseen(callee);
	code->operands = operands;
	code->count = count;
	decode_call_set_result(decoder, code, call);
	code->is_noreturn = decode_never_returns(call);
	code->reads = reads;
	decode_call_set_effects(decoder, code, call);
	code->normal = normal;
	code->unwind = unwind;
}

void decode_call(struct decoder *decoder, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	size_t length;
	const char *name =
		callee && LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";

	if (!starts_with(name, "llvm.")) {
		decode_call_add_call(decoder, call);
		return;
	}
	decode_intrinsic(decoder, call, name + strlen("llvm."));
	if (LLVMIsAInvokeInst(call)) {
		struct edge *edge = decode_edge(decoder, call, LLVMGetNormalDest(call));
		struct code *code = decode_add(decoder, CODE_GO, call);

		code->edges = edge;
		code->count = 1;
	}
}
