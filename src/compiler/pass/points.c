/* Emits the code of a site as inline assembly: a no-op before the access (the point), and its record. */
#include "compiler/pass/instrument.h"

#include <stdio.h>
#include <string.h>

#define TEXT(text) text, sizeof(text) - 1
#define TEXT_BYTES 1024
#define WORD_BYTES 64
#define OPERANDS_MOST 6

/*
 * The assembly of a scheduling point. For each site the pass writes the actual text instead of the words between @
 * signs. OWN is the assembly operand that holds the number of the function. This number is part of the name of the
 * section with the records. Each function thus has its own section, and a linker that removes an unused function
 * (--gc-sections) removes it, too.
 */
/* KEEPER becomes a relocation of type R_X86_64_NONE in the site at the entry of a function, and nothing in all
 * other sites. The relocation refers to the record and changes no byte of the code. A linker with --gc-sections that
 * keeps the function then keeps its records, too. */
#define KEEPER "@KEEPER@"
/* The pass writes the distance to the called function's word or to the native version here, or nothing. */
#define TARGET "@TARGET@"
#define SECTION(OWN)                                                                               \
	"\t.pushsection raddle_sites, \"a?\", @progbits, unique, " OWN "\n\t.balign 4\n"
#define RECORD(OWN, INFO, KIND, OPERAND)                                                           \
	"1:\n" KEEPER "\t.byte 0x0f, 0x1f, 0x44, 0, 0\n" SECTION(                                  \
		OWN) "2:\t.long 1b - .\n\t.long " INFO " - .\n\t.long " KIND "\n\t" OPERAND        \
		     "\n" TARGET "\t.skip 2b + 20 - .\n\t.popsection"
#define NO_OPERAND "xorl %r10d, %r10d"

static const char with_address[] = RECORD("${3:c}", "${1:c}", "${2:c}", "leaq $0, %r10");
/* The pointer to thread-local memory is a register operand, because leaq would ignore the %fs
 * base. */
static const char with_pointer[] = RECORD("${3:c}", "${1:c}", "${2:c}", "movq $0, %r10");
static const char without_address[] = RECORD("${2:c}", "${0:c}", "${1:c}", NO_OPERAND);
static const char without_address_but_length[] = RECORD("${3:c}", "${1:c}", "${2:c}", NO_OPERAND);
static const char with_length[] = RECORD("${4:c}", "${2:c}", "${3:c}", "leaq $0, %r10");
static const char with_pointer_and_length[] = RECORD("${4:c}", "${2:c}", "${3:c}", "movq $0, %r10");

/* Emits a record only; the relocation keeps it as long as the code. */
static const char without_point[] = "\t.reloc ., R_X86_64_NONE, 2f\n" SECTION(
	"${2:c}") "2:\t.long 0\n\t.long ${0:c} - .\n\t.long ${1:c}\n\t.skip 8\n\t.popsection";

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

/* The word of the record with a distance: to the linker's table, or to the function's native version. */
static void points_name_target(const struct site *site, unsigned operand, char target[WORD_BYTES])
{
	if (site->callee)
		(void)snprintf(target, WORD_BYTES, "\t.skip 2b + 16 - .\n\t.long ${%u:%s\n",
			operand, site->kind == SITE_FUNCTION_ENTRY ? "c} - ." : "p}@GOTPCREL");
}

static LLVMValueRef points_build_asm(struct instrument *instrument, const struct site *site,
	const char *text, size_t length, const char *operand_constraints, LLVMValueRef *operands,
	unsigned count)
{
	LLVMTypeRef types[OPERANDS_MOST], type;
	LLVMValueRef all[OPERANDS_MOST], code;
	char named[TEXT_BYTES], filled[TEXT_BYTES], constraints[64];
	char target[WORD_BYTES] = "";

	for (unsigned i = 0; i < count; i++)
		all[i] = operands[i];
	(void)snprintf(constraints, sizeof constraints, "%s%s,~{r10},~{r11},~{flags}",
		operand_constraints,
		!site->callee			    ? ""
		: site->kind == SITE_FUNCTION_ENTRY ? ",i"
						    : ",^Ws");
	points_name_target(site, count, target);
	if (site->callee)
		all[count++] = site->callee;
	for (unsigned i = 0; i < count; i++)
		types[i] = LLVMTypeOf(all[i]);
	type = LLVMFunctionType(instrument->nothing, types, count, false);
	length = points_fill_in(text, length, TARGET, target, named);
	length = points_fill_in(named, length, KEEPER,
		site->kind == SITE_FUNCTION_ENTRY ? "\t.reloc ., R_X86_64_NONE, 2f\n" : "", filled);
	code = LLVMGetInlineAsm(type, filled, length, constraints, strlen(constraints), true, false,
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
