/*
 * Sites for values that cannot be recomputed from the bitcode. These are results, callback
 * arguments and exceptions of code without bitcode, and addresses of variables that are not fixed.
 * Together with the values of reads, they let src/branches/interpret re-execute a run instruction
 * by instruction.
 */
#include "compiler/pass/instrument.h"

#include <string.h>

static bool values_has_attribute(LLVMValueRef call, const char *name)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind) ||
	       (LLVMIsAFunction(callee) &&
		       LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind));
}

/* Returns whether a value of the type fits in a general-purpose register, as raw bits if needed. */
static bool values_is_word(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
		return LLVMGetIntTypeWidth(type) <= 64;
	case LLVMPointerTypeKind:
	case LLVMFloatTypeKind:
	case LLVMDoubleTypeKind:
		return true;
	default:
		return false;
	}
}

bool is_called_from_outside(LLVMValueRef function)
{
	size_t length;
	const char *name = LLVMGetValueName2(function, &length);
	bool is_used = false;

	/* An instance of a template may also exist in a library, which then calls the program's
	 * copy. */
	if (LLVMGetLinkage(function) == LLVMWeakODRLinkage)
		return true;
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		is_used = true;
		if (!LLVMIsACallInst(user) && !LLVMIsAInvokeInst(user))
			return true;
		for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
			if (LLVMGetArgOperand(user, i) == function)
				return true;
	}
	return !is_used || strcmp(name, "main") == 0;
}

static bool values_is_copied(LLVMValueRef function, unsigned parameter)
{
	return LLVMGetEnumAttributeAtIndex(
		function, parameter + 1, LLVMGetEnumAttributeKindForName("byval", 5));
}

void collect_arguments(struct instrument *instrument, const struct site *entry)
{
	const unsigned count = LLVMCountParams(entry->function);
	const bool is_outside = is_called_from_outside(entry->function);
	struct site site = *entry;

	for (unsigned i = 0; i < count; i++) {
		site.kind = SITE_ARGUMENT;
		site.value = LLVMGetParam(entry->function, i);
		site.bytes = (uint16_t)i;
		if (is_outside && values_is_word(LLVMTypeOf(site.value)))
			add_site(instrument, &site);
	}
	for (unsigned i = 0; i < count; i++) {
		site.kind = SITE_ADDRESS;
		site.value = LLVMGetParam(entry->function, i);
		site.bytes = (uint16_t)(i + 1);
		if (values_is_copied(entry->function, i))
			add_site(instrument, &site);
	}
}

static void values_add_address(
	struct instrument *instrument, struct site site, LLVMValueRef value, LLVMValueRef before)
{
	size_t length;

	site.kind = SITE_ADDRESS;
	site.value = value;
	site.before = before;
	if (strcmp(LLVMGetValueName2(site.function, &length), "main") == 0)
		site.order = SITE_OF_MAIN;
	add_site(instrument, &site);
}

/* Adds the site of a local variable. The allocas of the entry block must stay together, so the
 * sites are placed after the last one. */
static void values_add_local(
	struct instrument *instrument, const struct site *site, LLVMValueRef entry)
{
	LLVMValueRef location = LLVMGetNextInstruction(site->instruction);
	LLVMValueRef next = location;

	while (LLVMIsAAllocaInst(next))
		next = LLVMGetNextInstruction(next);
	if (!filter_is_private(site->instruction))
		values_add_address(
			instrument, *site, site->instruction, next == entry ? entry : location);
}

/* Returns the number of 64-bit words of a value that is reported word by word; 0: not reported. */
static unsigned values_words_of(struct instrument *instrument, LLVMTypeRef type)
{
	const LLVMTypeKind kind = LLVMGetTypeKind(type);
	const uint64_t bits = LLVMSizeOfTypeInBits(instrument->layout, type);

	if (kind == LLVMVectorTypeKind &&
		LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMPointerTypeKind)
		return 0;
	return (kind == LLVMVectorTypeKind || kind == LLVMX86_FP80TypeKind ||
		       kind == LLVMIntegerTypeKind) &&
			       bits <= 512
		       ? (unsigned)((bits + 63) / 64)
		       : 0;
}

/* Returns whether a value of the type is reported, as a whole, by members or word by word. */
static bool values_is_reported(struct instrument *instrument, LLVMTypeRef type)
{
	if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
		return values_is_word(type) || values_words_of(instrument, type);
	for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
		if (!values_is_word(LLVMStructGetTypeAtIndex(type, i)))
			return false;
	return true;
}

/* Returns whether the walk has no arithmetic for the type: its results are reported. */
static bool values_is_wide(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMX86_FP80TypeKind ||
	       (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) > 64);
}

static bool values_is_wide_arithmetic(LLVMValueRef instruction)
{
	return (LLVMIsABinaryOperator(instruction) || LLVMIsAUnaryOperator(instruction) ||
		       LLVMIsACastInst(instruction) || LLVMIsACmpInst(instruction) ||
		       LLVMIsAFreezeInst(instruction)) &&
	       (values_is_wide(LLVMTypeOf(instruction)) ||
		       values_is_wide(LLVMTypeOf(LLVMGetOperand(instruction, 0))));
}

/* Returns whether the walk computes the intrinsic from its arguments. */
static bool values_is_computed(LLVMValueRef call)
{
	static const char *const starts[] = {
#define INTRINSIC(start, number) "llvm." start,
#include "abi/intrinsics.def"
#undef INTRINSIC
	};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (starts_with(called_name(call), starts[i]))
			return !values_is_wide(LLVMTypeOf(LLVMGetArgOperand(call, 0)));
	return false;
}

/* Returns whether the call may leave the code that has bitcode, as far as visible in this unit. */
static bool values_leaves(struct instrument *instrument, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);

	if (starts_with(called_name(call), "llvm.x86."))
		return true;
	if (starts_with(called_name(call), "llvm."))
		return LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind &&
		       values_is_reported(instrument, LLVMTypeOf(call)) &&
		       !values_is_computed(call);
	if (LLVMIsAFunction(callee))
		return LLVMIsDeclaration(callee) ||
		       LLVMGetLinkage(callee) == LLVMAvailableExternallyLinkage;
	return true;
}

/*
 * Functions that the compiler knows are excluded: the compiler may remove the call, and the
 * reference would be undefined for the linker.
 */
static void values_add_callee(const struct instrument *instrument, struct site *site)
{
	LLVMValueRef callee = LLVMGetCalledValue(site->instruction);
	size_t length;
	const char *name;

	if (LLVMIsAInlineAsm(callee))
		return;
	if (!LLVMIsAFunction(callee)) {
		site->order = SITE_CALLEE_GIVEN;
		site->length = callee;
		return;
	}
	name = LLVMGetValueName2(callee, &length);
	if (starts_with(name, "llvm.") ||
		instrument_is_builtin(LLVMGetTarget(instrument->module), name))
		return;
	site->order = SITE_CALLEE_NAMED;
	site->callee = callee;
}

void mark_function(struct instrument *instrument, LLVMValueRef function)
{
	LLVMTypeRef word = instrument->i64;
	/* Two words keep the alignment of the code. */
	LLVMValueRef words[] = {LLVMConstNull(word), LLVMConstInt(word, SITE_FUNCTION_MARK, false)};

	if (LLVMHasPrefixData(function))
		return;
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
		block = LLVMGetNextBasicBlock(block))
		for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
			i = LLVMGetNextInstruction(i))
			if (LLVMIsACallInst(i) &&
				LLVMGetTailCallKind(i) == LLVMTailCallKindMustTail)
				return;
	LLVMSetPrefixData(function, LLVMConstArray2(word, words, 2));
}

/* Reports the result of the site's instruction, by members or words if it has several. */
static void values_add_words(struct instrument *instrument, struct site site)
{
	LLVMTypeRef type = LLVMTypeOf(site.instruction);
	const bool is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
	unsigned count = 0;

	if (is_struct)
		count = LLVMCountStructElementTypes(type);
	else if (LLVMGetTypeKind(type) != LLVMVoidTypeKind && !values_is_word(type))
		count = values_words_of(instrument, type);
	site.value = is_struct || count || values_is_word(type) ? site.instruction : NULL;
	/* A call without a result gets a site, too, because it may have changed memory. */
	if (!is_struct && !count)
		add_site(instrument, &site);
	for (unsigned i = count; i-- > 0;) {
		site.bytes = (uint16_t)i;
		if (!is_struct || values_is_word(LLVMStructGetTypeAtIndex(type, i)))
			add_site(instrument, &site);
	}
}

static void values_add_result(struct instrument *instrument, struct site site)
{
	site.before = location_behind(site.instruction);
	if (!site.before)
		return;
	if (LLVMIsACallInst(site.instruction))
		LLVMSetTailCall(site.instruction, false); /* code follows the call now */
	site.kind = values_has_attribute(site.instruction, "returns_twice") ? SITE_RETURNS_TWICE
									    : SITE_RESULT;
	if (site.kind == SITE_RESULT)
		values_add_callee(instrument, &site);
	values_add_words(instrument, site);
}

void collect_values(struct instrument *instrument, const struct site *site, LLVMValueRef entry)
{
	LLVMValueRef instruction = site->instruction;
	struct site value = *site;

	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMAlloca:
		values_add_local(instrument, site, entry);
		return;
	case LLVMCall:
	case LLVMInvoke:
		if (values_leaves(instrument, instruction) &&
			!values_has_attribute(instruction, "noreturn"))
			values_add_result(instrument, *site);
		return;
	case LLVMLandingPad:
		value.kind = SITE_LANDING;
		value.value = instruction;
		value.before = LLVMGetNextInstruction(instruction);
		add_site(instrument, &value);
		return;
	default:
		if (!values_is_wide_arithmetic(instruction))
			return;
		value.kind = SITE_RESULT;
		value.before = LLVMGetNextInstruction(instruction);
		values_add_words(instrument, value);
		return;
	}
}
