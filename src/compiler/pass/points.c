/* Emits the code of a site as inline assembly: a no-op before the access (the point), its stub, and
 * its record. */
#include "compiler/pass/instrument.h"

#include <stdio.h>
#include <string.h>

#define TEXT(text) text, sizeof(text) - 1
#define TEXT_BYTES 1024
#define ENTRY_BYTES 32
#define CALLEE_BYTES 40
#define OPERANDS_MOST 6
#define OPERANDS_SEARCHED 64u

/*
 * The assembly of a scheduling point and of its stub. For each site the pass writes the actual text instead of
 * the words between @ signs. OWN is the assembly operand that holds the number of the function. This number is
 * part of the names of two sections, one of stubs and one of records. Each function thus has its own sections,
 * and a linker that removes an unused function (--gc-sections) removes them, too. ENTRY is the name of the runtime
 * function to which the stub jumps.
 */
#define ENTRY "@ENTRY@"
/* KEEPER becomes a relocation of type R_X86_64_NONE in the site at the entry of a function, and nothing in all
 * other sites. The relocation refers to the stub and changes no byte of the code. A linker with --gc-sections that keeps
 * the function then keeps its stubs, too. */
#define KEEPER "@KEEPER@"
/* The pass writes the reference to the called function here, or nothing if the site calls none. */
#define CALLEE "@CALLEE@"
/* A site calls its stub, and this call pushes a return address, which moves the stack pointer. An operand whose
 * address is relative to the stack pointer would then be computed wrongly. For such operands POP becomes an
 * instruction that removes the return address before the stub computes the operand's address, and PUSH becomes one
 * that puts it back. For other operands both are empty. */
#define POP "@POP@"
#define PUSH "@PUSH@"
#define POINT(OWN)                                                                                 \
	"1:\n" KEEPER "\t.byte 0x0f, 0x1f, 0x44, 0, 0\n"                                           \
	"\t.weak " ENTRY "\n"                                                                      \
	"\t.pushsection .text.raddle, \"ax?\", @progbits, unique, " OWN "\n" CALLEE                \
	"\t.long 3f - .\n"                                                                         \
	"2:\n" POP
#define RECORDS(OWN)                                                                               \
	"\t.pushsection raddle_sites, \"a?\", @progbits, unique, " OWN "\n"                        \
	"\t.balign 4\n"
#define STUB_END(OWN)                                                                              \
	PUSH "\tjmp *" ENTRY "@GOTPCREL(%rip)\n"                                                   \
	     "\t.popsection\n" RECORDS(OWN) "3:\t.long 1b - .\n"                                   \
					    "\t.long 2b - .\n"
#define RECORD_END(INFO, KIND) "\t.long " INFO " - .\n\t.long " KIND "\n\t.popsection"

static const char with_address[] =
	POINT("${3:c}") "\tleaq $0, %r10\n" STUB_END("${3:c}") RECORD_END("${1:c}", "${2:c}");
/* The pointer to thread-local memory is a register operand, because leaq would ignore the %fs
 * base. */
static const char with_pointer[] =
	POINT("${3:c}") "\tmovq $0, %r10\n" STUB_END("${3:c}") RECORD_END("${1:c}", "${2:c}");
static const char without_address[] =
	POINT("${2:c}") "\tmovl $$0, %r10d\n" STUB_END("${2:c}") RECORD_END("${0:c}", "${1:c}");

static const char without_address_but_length[] =
	POINT("${3:c}") "\tmovl $$0, %r10d\n" STUB_END("${3:c}") RECORD_END("${1:c}", "${2:c}");

/* Emits a record only; the relocation keeps it as long as the code. */
static const char without_point[] = "\t.reloc ., R_X86_64_NONE, 3f\n" RECORDS(
	"${2:c}") "3:\t.long 0\n\t.long 0\n" RECORD_END("${0:c}", "${1:c}");

static const char with_length[] =
	POINT("${4:c}") "\tleaq $0, %r10\n" STUB_END("${4:c}") RECORD_END("${2:c}", "${3:c}");
static const char with_pointer_and_length[] =
	POINT("${4:c}") "\tmovq $0, %r10\n" STUB_END("${4:c}") RECORD_END("${2:c}", "${3:c}");

/* Names the runtime function that the stub calls. Plain accesses of sizes 1 to 16 have specialised
 * functions. */
static void points_entry_of(const struct site *site, char entry[ENTRY_BYTES])
{
	const bool is_plain = (site->kind == SITE_LOAD || site->kind == SITE_STORE) &&
			      !site->order && !(site->flags & SITE_WAITS);

	if (is_plain && site->bytes && site->bytes <= 16 && !(site->bytes & (site->bytes - 1)))
		(void)snprintf(entry, ENTRY_BYTES, "raddle_site_%s%u_v3",
			site->kind == SITE_LOAD ? "load" : "store", site->bytes);
	else
		(void)snprintf(entry, ENTRY_BYTES, "raddle_site_v3");
}

/* Returns whether the caller leaves a copy of the parameter in the frame. */
static bool points_is_in_frame(LLVMValueRef parameter)
{
	LLVMValueRef function = LLVMGetParamParent(parameter);
	const unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
	unsigned number = 1; /* attributes of the result have number 0 */

	for (LLVMValueRef one = LLVMGetFirstParam(function); one != parameter;
		one = LLVMGetNextParam(one))
		number++;
	return LLVMGetEnumAttributeAtIndex(function, number, byval) != NULL;
}

/* Returns whether the address may be computed from the address of a local, and so be relative to the
 * stack pointer. Values from memory, calls and parameters are in registers. */
static bool points_uses_frame(LLVMValueRef value, unsigned *left)
{
	if (!*left)
		return true;
	--*left;
	if (LLVMIsAArgument(value))
		return points_is_in_frame(value);
	if (LLVMIsALoadInst(value) || LLVMIsAInvokeInst(value) || LLVMIsAExtractValueInst(value) ||
		(LLVMIsACallInst(value) && !LLVMGetIntrinsicID(LLVMGetCalledValue(value))))
		return false;
	if (LLVMIsAAllocaInst(value) || LLVMIsACallInst(value))
		return true;
	if (!LLVMIsAInstruction(value))
		return false; /* a constant */
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (!LLVMIsABasicBlock(LLVMGetOperand(value, (unsigned)i)) &&
			points_uses_frame(LLVMGetOperand(value, (unsigned)i), left))
			return true;
	return false;
}

static size_t points_fill_in(
	const char *text, size_t length, const char *name, const char *entry, char out[TEXT_BYTES])
{
	const size_t gap = strlen(name);
	const char *end = text + length;
	size_t filled = 0;

	while (text < end) {
		const char *next = memmem(text, (size_t)(end - text), name, gap);
		const size_t plain = (size_t)((next ? next : end) - text);

		memcpy(out + filled, text, plain);
		filled += plain;
		text += plain;
		if (!next)
			continue;
		memcpy(out + filled, entry, strlen(entry));
		filled += strlen(entry);
		text += gap;
	}
	return filled;
}

/* Marks the call "convergent", which prevents that code generators duplicate the end of a block and
 * so the point. */
static void points_keep_single(struct instrument *instrument, LLVMValueRef call)
{
	LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
		LLVMCreateEnumAttribute(
			instrument->context, LLVMGetEnumAttributeKindForName("convergent", 10), 0));
}

static LLVMValueRef points_build_asm(struct instrument *instrument, const struct site *site,
	const char *text, size_t length, const char *operand_constraints, LLVMValueRef *operands,
	unsigned count)
{
	LLVMTypeRef types[OPERANDS_MOST], type;
	LLVMValueRef all[OPERANDS_MOST], code;
	char entry[ENTRY_BYTES], named[TEXT_BYTES], filled[TEXT_BYTES], constraints[64];
	char callee[CALLEE_BYTES] = "";
	unsigned left = OPERANDS_SEARCHED;
	const bool on_stack =
		strchr(operand_constraints, '*') && points_uses_frame(operands[0], &left);

	for (unsigned i = 0; i < count; i++)
		all[i] = operands[i];
	(void)snprintf(constraints, sizeof constraints, "%s%s,~{r10},~{r11},~{flags}",
		operand_constraints, site->callee ? ",^Ws" : "");
	if (site->callee) {
		(void)snprintf(callee, sizeof callee, "\t.long ${%u:p}@GOTPCREL\n", count);
		all[count++] = site->callee;
	}
	for (unsigned i = 0; i < count; i++)
		types[i] = LLVMTypeOf(all[i]);
	type = LLVMFunctionType(instrument->nothing, types, count, false);
	points_entry_of(site, entry);
	length = points_fill_in(text, length, CALLEE, callee, named);
	length = points_fill_in(named, length, KEEPER,
		site->kind == SITE_FUNCTION_ENTRY ? "\t.reloc ., R_X86_64_NONE, 2f\n" : "", filled);
	length = points_fill_in(filled, length, POP, on_stack ? "\tpopq %r11\n" : "", named);
	length = points_fill_in(named, length, PUSH, on_stack ? "\tpushq %r11\n" : "", filled);
	length = points_fill_in(filled, length, ENTRY, entry, named);
	code = LLVMGetInlineAsm(type, named, length, constraints, strlen(constraints), true, false,
		LLVMInlineAsmDialectATT, false);
	code = LLVMBuildCall2(instrument->builder, type, code, all, count, "");
	points_keep_single(instrument, code);
	return code;
}

static void points_set_memory_operand(struct instrument *instrument, LLVMValueRef call)
{
	const unsigned element = LLVMGetEnumAttributeKindForName("elementtype", 11);

	LLVMAddCallSiteAttribute(call, 1,
		LLVMCreateTypeAttribute(
			instrument->context, element, LLVMInt8TypeInContext(instrument->context)));
}

static LLVMValueRef points_as_length(struct instrument *instrument, LLVMValueRef length)
{
	if (LLVMTypeOf(length) == instrument->i64 ||
		LLVMGetTypeKind(LLVMTypeOf(length)) == LLVMPointerTypeKind)
		return length;
	return LLVMBuildZExt(instrument->builder, length, instrument->i64, "");
}

static LLVMValueRef points_least(struct instrument *instrument, LLVMValueRef a, LLVMValueRef b)
{
	LLVMBuilderRef builder = instrument->builder;

	return LLVMBuildSelect(builder, LLVMBuildICmp(builder, LLVMIntULT, a, b, ""), a, b, "");
}

/* Returns the number of bytes that a call of snprintf() or similar writes. Its result does not
 * count the NUL. */
static LLVMValueRef points_printed_bytes(struct instrument *instrument, const struct site *site)
{
	LLVMBuilderRef builder = instrument->builder;
	LLVMValueRef none = LLVMConstNull(instrument->i64);
	LLVMValueRef length = LLVMBuildSExt(builder, site->length, instrument->i64, "");
	LLVMValueRef bytes = LLVMBuildAdd(builder, length, LLVMConstInt(instrument->i64, 1, 0), "");

	if (site->items)
		bytes = points_least(instrument, bytes, points_as_length(instrument, site->items));
	return LLVMBuildSelect(
		builder, LLVMBuildICmp(builder, LLVMIntSLT, length, none, ""), none, bytes, "");
}

static LLVMValueRef points_length_behind(struct instrument *instrument, const struct site *site)
{
	LLVMBuilderRef builder = instrument->builder;
	LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(site->length));
	LLVMValueRef length;

	switch (site->behind) {
	case BEHIND_BYTES:
		length = LLVMBuildSelect(builder,
			LLVMBuildICmp(builder, LLVMIntSLT, site->length, zero, ""), zero,
			site->length, "");
		return points_as_length(instrument, length);
	case BEHIND_OBJECT:
		return LLVMBuildSelect(builder,
			LLVMBuildICmp(builder, LLVMIntEQ, site->length, zero, ""),
			LLVMConstNull(instrument->i64), site->items, "");
	case BEHIND_PRINTED:
		return points_printed_bytes(instrument, site);
	case BEHIND_ITEMS:
		return LLVMBuildMul(builder, points_as_length(instrument, site->length),
			points_as_length(instrument, site->items), "");
	default:
		return points_as_length(instrument, site->length);
	}
}

static LLVMValueRef points_as_register(struct instrument *instrument, LLVMValueRef value)
{
	LLVMBuilderRef builder = instrument->builder;

	switch (LLVMGetTypeKind(LLVMTypeOf(value))) {
	case LLVMFloatTypeKind:
		return points_as_register(
			instrument, LLVMBuildBitCast(builder, value, instrument->i32, ""));
	case LLVMDoubleTypeKind:
		return LLVMBuildBitCast(builder, value, instrument->i64, "");
	case LLVMIntegerTypeKind:
		return LLVMTypeOf(value) == instrument->i64
			       ? value
			       : LLVMBuildIntCast2(builder, value, instrument->i64, false, "");
	default:
		return value;
	}
}

static LLVMValueRef points_word_of(struct instrument *instrument, const struct site *site)
{
	LLVMBuilderRef builder = instrument->builder;
	const unsigned bits =
		(unsigned)LLVMSizeOfTypeInBits(instrument->layout, LLVMTypeOf(site->value));
	LLVMTypeRef whole = LLVMIntTypeInContext(instrument->context, bits);
	LLVMValueRef value = LLVMBuildBitCast(builder, site->value, whole, "");

	if (site->bytes)
		value = LLVMBuildLShr(
			builder, value, LLVMConstInt(whole, 64u * site->bytes, false), "");
	return LLVMBuildIntCast2(builder, value, instrument->i64, false, "");
}

static LLVMValueRef points_member_of(struct instrument *instrument, const struct site *site)
{
	const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(site->value));

	if (kind == LLVMVectorTypeKind || kind == LLVMX86_FP80TypeKind ||
		(kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(LLVMTypeOf(site->value)) > 64))
		return points_word_of(instrument, site);
	if (LLVMGetTypeKind(LLVMTypeOf(site->value)) != LLVMStructTypeKind)
		return site->value;
	return LLVMBuildExtractValue(instrument->builder, site->value, site->bytes, "");
}

static LLVMValueRef points_build_value(struct instrument *instrument, const struct site *site,
	LLVMValueRef description, LLVMValueRef properties, LLVMValueRef own)
{
	LLVMValueRef value = points_as_register(instrument, points_member_of(instrument, site));

	if (site->length)
		return points_build_asm(instrument, site, TEXT(with_pointer_and_length),
			"r,{rsi},i,i,i",
			(LLVMValueRef[]){value, site->length, description, properties, own}, 5);
	if (site->kind == SITE_LANDING)
		return points_build_asm(instrument, site, TEXT(with_pointer_and_length),
			"r,{rsi},i,i,i",
			(LLVMValueRef[]){value,
				points_as_length(
					instrument, LLVMBuildExtractValue(instrument->builder,
							    site->value, 1, "")),
				description, properties, own},
			5);
	return points_build_asm(instrument, site, TEXT(with_pointer), "r,i,i,i",
		(LLVMValueRef[]){value, description, properties, own}, 4);
}

static LLVMValueRef points_location_of(const struct site *site)
{
	if (site->before)
		return site->before;
	return site->behind ? location_behind(site->instruction) : site->instruction;
}

static LLVMValueRef points_build_point(
	struct instrument *instrument, const struct site *site, LLVMValueRef description)
{
	LLVMValueRef properties = LLVMConstInt(instrument->i32,
		(uint32_t)site->kind | (uint32_t)site->order << 8 | (uint32_t)site->bytes << 16, 0);
	LLVMValueRef own = LLVMConstInt(instrument->i32, site->function_number, 0);
	LLVMValueRef call;

	if (site->value)
		return points_build_value(instrument, site, description, properties, own);
	if (site->kind == SITE_OPAQUE)
		return points_build_asm(instrument, site, TEXT(without_point), "i,i,i",
			(LLVMValueRef[]){description, properties, own}, 3);
	if (site->kind == SITE_RESULT && site->length)
		return points_build_asm(instrument, site, TEXT(without_address_but_length),
			"{rsi},i,i,i", (LLVMValueRef[]){site->length, description, properties, own},
			4);
	if (!site->pointer)
		return points_build_asm(instrument, site, TEXT(without_address), "i,i,i",
			(LLVMValueRef[]){description, properties, own}, 3);
	if (filter_is_thread_local(site->pointer) && site->length)
		return points_build_asm(instrument, site, TEXT(with_pointer_and_length),
			"r,{rsi},i,i,i",
			(LLVMValueRef[]){site->pointer, points_length_behind(instrument, site),
				description, properties, own},
			5);
	if (filter_is_thread_local(site->pointer))
		return points_build_asm(instrument, site, TEXT(with_pointer), "r,i,i,i",
			(LLVMValueRef[]){site->pointer, description, properties, own}, 4);
	if (site->length)
		call = points_build_asm(instrument, site, TEXT(with_length), "*m,{rsi},i,i,i",
			(LLVMValueRef[]){site->pointer, points_length_behind(instrument, site),
				description, properties, own},
			5);
	else
		call = points_build_asm(instrument, site, TEXT(with_address), "*m,i,i,i",
			(LLVMValueRef[]){site->pointer, description, properties, own}, 4);
	points_set_memory_operand(instrument, call);
	return call;
}

bool has_one_predecessor(LLVMBasicBlockRef block)
{
	unsigned ways = 0;

	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
		use = LLVMGetNextUse(use))
		ways += LLVMIsATerminatorInst(LLVMGetUser(use)) != NULL;
	return ways == 1;
}

LLVMValueRef location_behind(LLVMValueRef call)
{
	LLVMValueRef location;

	if (LLVMIsACallInst(call))
		return LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail
			       ? NULL
			       : LLVMGetNextInstruction(call);
	if (!LLVMIsAInvokeInst(call) || !has_one_predecessor(LLVMGetNormalDest(call)))
		return NULL;
	location = LLVMGetFirstInstruction(LLVMGetNormalDest(call));
	while (LLVMIsAPHINode(location))
		location = LLVMGetNextInstruction(location);
	return location;
}

void insert_points(struct instrument *instrument)
{
	const unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);

	for (size_t i = 0; i < instrument->site_count; i++) {
		const struct site *site = &instrument->sites[i];
		LLVMValueRef call;

		LLVMPositionBuilderBeforeInstrAndDbgRecords(
			instrument->builder, points_location_of(site));
		call = points_build_point(instrument, site, site_description(instrument, i));
		copy_location(call, site->instruction, site->function);
		LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
			LLVMCreateEnumAttribute(instrument->context, nounwind, 0));
	}
}
