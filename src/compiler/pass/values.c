/*
 * Sites for values that cannot be recomputed from the bitcode: results, callback arguments and
 * exceptions of code without bitcode, and addresses of variables that are not fixed. With these and
 * the values of reads, src/branches/interpret can re-execute a run instruction by instruction.
 */
#include "compiler/pass/instrument.h"

#include <string.h>

static bool values_starts_with(const char *text, const char *start)
{
	return text && strncmp(text, start, strlen(start)) == 0;
}

static bool values_has_attribute(LLVMValueRef call, const char *name)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind) ||
	       (LLVMIsAFunction(callee) &&
		       LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind));
}

/* Returns whether a value of the type fits in a general-purpose register, as raw bits if needed. */
static bool is_word(LLVMTypeRef type)
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

	/* An instance of a template may also exist in a library, which then calls the program's copy. */
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

static bool is_copied(LLVMValueRef function, unsigned parameter)
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
		if (is_outside && is_word(LLVMTypeOf(site.value)))
			add_site(instrument, &site);
	}
	for (unsigned i = 0; i < count; i++) {
		site.kind = SITE_ADDRESS;
		site.value = LLVMGetParam(entry->function, i);
		site.bytes = (uint16_t)(i + 1);
		if (is_copied(entry->function, i))
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

/* The allocas of the entry block must stay together, so their sites are placed after the last one. */
static void values_add_local(
	struct instrument *instrument, const struct site *site, LLVMValueRef entry)
{
	LLVMValueRef place = LLVMGetNextInstruction(site->instruction);
	LLVMValueRef next = place;

	while (LLVMIsAAllocaInst(next))
		next = LLVMGetNextInstruction(next);
	if (!filter_is_private(site->instruction))
		values_add_address(
			instrument, *site, site->instruction, next == entry ? entry : place);
}

/* Intrinsics whose value depends on addresses or on the processor. */
static bool is_opaque_intrinsic(const char *name)
{
	static const char *const starts[] = {"llvm.threadlocal.address", "llvm.returnaddress",
		"llvm.addressofreturnaddress", "llvm.frameaddress", "llvm.stacksave",
		"llvm.readcyclecounter", "llvm.readsteadycounter", "llvm.eh.typeid.for",
		"llvm.x86.", "llvm.get.rounding", "llvm.thread.pointer"};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (values_starts_with(name, starts[i]))
			return true;
	return false;
}

/* Returns whether the call may leave the code that has bitcode, as far as visible in this unit. */
static bool leaves(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	const char *name = called_name(call);

	if (values_starts_with(name, "llvm."))
		return is_opaque_intrinsic(name);
	if (LLVMIsAFunction(callee))
		return LLVMIsDeclaration(callee) ||
		       LLVMGetLinkage(callee) == LLVMAvailableExternallyLinkage;
	return true;
}

static unsigned words_of(struct instrument *instrument, LLVMTypeRef type)
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

/*
 * Functions that the compiler knows are excluded: the compiler may remove the call, and the
 * reference would be undefined for the linker.
 */
static void add_callee(const struct instrument *instrument, struct site *site)
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
	if (values_starts_with(name, "llvm.") ||
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

static void add_result(struct instrument *instrument, struct site site)
{
	LLVMTypeRef type = LLVMTypeOf(site.instruction);
	LLVMValueRef place = place_behind(site.instruction);

	if (!place)
		return;
	if (LLVMIsACallInst(site.instruction))
		LLVMSetTailCall(site.instruction, false); /* code follows the call now */
	site.kind = values_has_attribute(site.instruction, "returns_twice") ? SITE_RETURNS_TWICE
									    : SITE_RESULT;
	site.before = place;
	if (site.kind == SITE_RESULT)
		add_callee(instrument, &site);
	if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
		site.value = site.instruction;
		for (unsigned i = LLVMCountStructElementTypes(type); i-- > 0;) {
			site.bytes = (uint16_t)i;
			if (is_word(LLVMStructGetTypeAtIndex(type, i)))
				add_site(instrument, &site);
		}
		return;
	}
	if (LLVMGetTypeKind(type) != LLVMVoidTypeKind && !is_word(type) &&
		words_of(instrument, type)) {
		site.value = site.instruction;
		for (unsigned i = words_of(instrument, type); i-- > 0;) {
			site.bytes = (uint16_t)i;
			add_site(instrument, &site);
		}
		return;
	}
	/* Also for a call without a result, because it may have changed memory. */
	site.value = is_word(type) ? site.instruction : NULL;
	add_site(instrument, &site);
}

void collect_values(struct instrument *instrument, const struct site *site, LLVMValueRef entry)
{
	LLVMValueRef instruction = site->instruction;
	struct site landing = *site;

	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMAlloca:
		values_add_local(instrument, site, entry);
		return;
	case LLVMCall:
	case LLVMInvoke:
		if (leaves(instruction) && !values_has_attribute(instruction, "noreturn"))
			add_result(instrument, *site);
		return;
	case LLVMLandingPad:
		landing.kind = SITE_LANDING;
		landing.value = instruction;
		landing.before = LLVMGetNextInstruction(instruction);
		add_site(instrument, &landing);
		return;
	default:
		return;
	}
}
