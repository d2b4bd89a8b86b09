/* The code of a site: the no-op before the access, its stub and its record, as inline assembly. */
#include "instrument/instrument.h"

#include <string.h>

#define TEXT(text) text, sizeof(text) - 1

/* The point, and its stub up to the call; the operand is filled in between. */
#define POINT                                                                                      \
	"1:\t.byte 0x0f, 0x1f, 0x44, 0, 0\n"                                                       \
	"\t.weak raddle_site_v1\n"                                                                 \
	"\t.pushsection .text.raddle, \"ax?\", @progbits\n"                                        \
	"2:\tmovq %rdi, -16(%rsp)\n"
#define STUB_END                                                                                   \
	"\tcall *raddle_site_v1@GOTPCREL(%rip)\n"                                                  \
	"\t.byte 0x0f, 0x1f, 0x80\n"                                                               \
	"\t.long 3f - .\n"                                                                         \
	"\tjmp 1b + 5\n"                                                                           \
	"\t.popsection\n"                                                                          \
	"\t.pushsection raddle_sites, \"a?\", @progbits\n"                                         \
	"\t.balign 4\n"                                                                            \
	"3:\t.long 1b - .\n"                                                                       \
	"\t.long 2b - .\n"

static const char with_address[] =
	POINT "\tleaq $0, %rdi\n" STUB_END "\t.long ${1:c} - .\n\t.long ${2:c}\n\t.popsection";
/* An operand of thread-local memory would be relative to %fs, which leaq does not add. */
static const char with_pointer[] =
	POINT "\tmovq $0, %rdi\n" STUB_END "\t.long ${1:c} - .\n\t.long ${2:c}\n\t.popsection";
static const char without_address[] =
	POINT "\tmovl $$0, %edi\n" STUB_END "\t.long ${0:c} - .\n\t.long ${1:c}\n\t.popsection";

/* Only a record. */
static const char without_point[] =
	"\t.pushsection raddle_sites, \"a?\", @progbits\n\t.balign 4\n\t.long 0\n\t.long 0\n"
	"\t.long ${0:c} - .\n\t.long ${1:c}\n\t.popsection";

/* Operands: memory, length in %rsi, description, properties. */
static const char with_length[] =
	POINT "\tleaq $0, %rdi\n" STUB_END "\t.long ${2:c} - .\n\t.long ${3:c}\n\t.popsection";

static const char with_pointer_and_length[] =
	POINT "\tmovq $0, %rdi\n" STUB_END "\t.long ${2:c} - .\n\t.long ${3:c}\n\t.popsection";

static LLVMValueRef build_asm(struct instrument *instrument, const char *text, size_t length,
	const char *constraints, LLVMValueRef *operands, unsigned count)
{
	LLVMTypeRef types[4];
	LLVMTypeRef type;
	LLVMValueRef code;

	for (unsigned i = 0; i < count; i++)
		types[i] = LLVMTypeOf(operands[i]);
	type = LLVMFunctionType(instrument->nothing, types, count, false);
	code = LLVMGetInlineAsm(type, text, length, constraints, strlen(constraints), true, false,
		LLVMInlineAsmDialectATT, false);
	return LLVMBuildCall2(instrument->builder, type, code, operands, count, "");
}

static void set_memory_operand(struct instrument *instrument, LLVMValueRef call)
{
	const unsigned element = LLVMGetEnumAttributeKindForName("elementtype", 11);

	LLVMAddCallSiteAttribute(call, 1,
		LLVMCreateTypeAttribute(
			instrument->context, element, LLVMInt8TypeInContext(instrument->context)));
}

static LLVMValueRef as_length(struct instrument *instrument, LLVMValueRef length)
{
	if (LLVMTypeOf(length) == instrument->i64 ||
		LLVMGetTypeKind(LLVMTypeOf(length)) == LLVMPointerTypeKind)
		return length;
	return LLVMBuildZExt(instrument->builder, length, instrument->i64, "");
}

static LLVMValueRef build_point(
	struct instrument *instrument, const struct site *site, LLVMValueRef description)
{
	LLVMValueRef properties = LLVMConstInt(instrument->i32,
		(uint32_t)site->kind | (uint32_t)site->order << 8 | (uint32_t)site->bytes << 16, 0);
	LLVMValueRef call;

	if (site->kind == SITE_OPAQUE)
		return build_asm(instrument, TEXT(without_point), "i,i",
			(LLVMValueRef[]){description, properties}, 2);
	if (!site->pointer)
		return build_asm(instrument, TEXT(without_address), "i,i",
			(LLVMValueRef[]){description, properties}, 2);
	if (filter_is_thread_local(site->pointer) && site->length)
		return build_asm(instrument, TEXT(with_pointer_and_length), "r,{rsi},i,i",
			(LLVMValueRef[]){site->pointer, as_length(instrument, site->length),
				description, properties},
			4);
	if (filter_is_thread_local(site->pointer))
		return build_asm(instrument, TEXT(with_pointer), "r,i,i",
			(LLVMValueRef[]){site->pointer, description, properties}, 3);
	if (site->length)
		call = build_asm(instrument, TEXT(with_length), "*m,{rsi},i,i",
			(LLVMValueRef[]){site->pointer, as_length(instrument, site->length),
				description, properties},
			4);
	else
		call = build_asm(instrument, TEXT(with_address), "*m,i,i",
			(LLVMValueRef[]){site->pointer, description, properties}, 3);
	set_memory_operand(instrument, call);
	return call;
}

void insert_points(struct instrument *instrument)
{
	const unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);

	for (size_t i = 0; i < instrument->site_count; i++) {
		const struct site *site = &instrument->sites[i];
		LLVMValueRef call;

		LLVMPositionBuilderBeforeInstrAndDbgRecords(instrument->builder, site->instruction);
		call = build_point(instrument, site, site_description(instrument, i));
		copy_place(call, site->instruction, site->function);
		LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
			LLVMCreateEnumAttribute(instrument->context, nounwind, 0));
	}
}
