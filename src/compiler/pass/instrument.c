#include "compiler/pass/instrument.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>

#include "base/array.h"

#define DONE "raddle.instrumented"

static bool instrument_has_attribute(LLVMValueRef function, const char *name)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind) != NULL;
}

static void instrument_add_attribute(
	LLVMContextRef context, LLVMValueRef function, const char *name)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	LLVMAddAttributeAtIndex(
		function, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
}

void bug_report(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "raddle-cc: %s:%d: %s\n", file, line, condition);
	abort();
}

/* Weak, because old versions of LLVM lack it. */
#pragma weak LLVMGetVersion

void instrument_check_version(unsigned built_for)
{
	unsigned major = 0, minor, patch;

	if (LLVMGetVersion)
		LLVMGetVersion(&major, &minor, &patch);
	if (major == built_for)
		return;
	(void)fprintf(stderr,
		"raddle-cc: the compiler's pass is built for clang %u and this is another version; "
		"set RADDLE_CLANG to clang-%u\n",
		built_for, built_for);
	exit(EXIT_FAILURE);
}

#define SANITIZED "sanitize_thread"
#define MARKED "raddle-marked"

/*
 * Optimisers may read memory speculatively, which an observer would see as accesses and races that
 * the source does not contain. sanitize_thread forbids it, so all functions have this attribute
 * until their points are inserted.
 */
void instrument_mark(LLVMModuleRef module)
{
	LLVMContextRef context = LLVMGetModuleContext(module);

	for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
		function = LLVMGetNextFunction(function)) {
		if (LLVMIsDeclaration(function) || instrument_has_attribute(function, SANITIZED))
			continue;
		instrument_add_attribute(context, function, SANITIZED);
		LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
			LLVMCreateStringAttribute(context, MARKED, strlen(MARKED), "", 0));
	}
}

static void instrument_unmark(LLVMModuleRef module)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName(SANITIZED, strlen(SANITIZED));

	for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
		function = LLVMGetNextFunction(function)) {
		if (!LLVMGetStringAttributeAtIndex(
			    function, LLVMAttributeFunctionIndex, MARKED, strlen(MARKED)))
			continue;
		LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
		LLVMRemoveStringAttributeAtIndex(
			function, LLVMAttributeFunctionIndex, MARKED, strlen(MARKED));
	}
}

static bool instrument_is_instrumented(LLVMValueRef function)
{
	return LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage &&
	       !instrument_has_attribute(function, "naked") &&
	       !instrument_has_attribute(function, "disable_sanitizer_instrumentation");
}

/* Stubs push onto the stack: no function, also no inlined one, may use the red zone. */
static void instrument_add_text_attribute(
	LLVMContextRef context, LLVMValueRef function, const char *name, const char *value)
{
	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
		LLVMCreateStringAttribute(
			context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

/*
 * The recorder finds the caller by frame and return address. Instrumented functions therefore keep their
 * frame pointer, and those called from code without bitcode make no tail calls. With sanitize_thread the code
 * generator sets the frame up at the very start of a function, before the recorder looks at it.
 */
static void instrument_keep_frame(struct instrument *instrument, LLVMValueRef function)
{
	instrument_add_attribute(instrument->context, function, SANITIZED);
	instrument_add_text_attribute(instrument->context, function, "frame-pointer", "all");
	if (is_called_from_outside(function))
		instrument_add_text_attribute(
			instrument->context, function, "disable-tail-calls", "true");
}

/* raddle-cc --native. The native versions follow all other functions, which keep their numbers. */
static void instrument_add_natives(struct instrument *instrument)
{
	LLVMValueRef last = LLVMGetLastFunction(instrument->module);
	size_t count = 0;

	for (LLVMValueRef function = LLVMGetFirstFunction(instrument->module); function;
		function = LLVMGetNextFunction(function))
		count++;
	instrument->versions = array_new(count + 1, sizeof *instrument->versions);
	for (LLVMValueRef function =
			getenv("RADDLE_NATIVE") ? LLVMGetFirstFunction(instrument->module) : NULL;
		function; function = function == last ? NULL : LLVMGetNextFunction(function)) {
		struct version *version = &instrument->versions[instrument->version_count];

		if (LLVMIsDeclaration(function) || !instrument_is_instrumented(function))
			continue;
		version->function = function;
		version->native = instrument_add_native(function);
		instrument->version_count += version->native != NULL;
	}
}

static void instrument_name_all(struct instrument *instrument)
{
	for (size_t i = 0; i < instrument->version_count; i++)
		instrument_name_versions(
			instrument->versions[i].function, instrument->versions[i].native);
}

static void instrument_collect(struct instrument *instrument)
{
	LLVMValueRef end = instrument->version_count ? instrument->versions[0].native : NULL;
	const struct version *version = instrument->versions;
	uint32_t number = 0;

	for (LLVMValueRef function = LLVMGetFirstFunction(instrument->module); function != end;
		function = LLVMGetNextFunction(function)) {
		if (LLVMIsDeclaration(function))
			continue;
		if (instrument_is_instrumented(function)) {
			LLVMValueRef native =
				version->function == function ? version++->native : NULL;

			collect_sites(instrument, function, native, number);
			instrument_keep_frame(instrument, function);
			mark_function(instrument, function);
		}
		instrument_add_attribute(instrument->context, function, "noredzone");
		number++;
	}
}

static void instrument_mark_done(struct instrument *instrument)
{
	LLVMMetadataRef one =
		LLVMValueAsMetadata(LLVMConstInt(instrument->i32, INSTRUMENT_ABI_VERSION, 0));

	LLVMAddNamedMetadataOperand(instrument->module, DONE,
		LLVMMetadataAsValue(
			instrument->context, LLVMMDNodeInContext2(instrument->context, &one, 1)));
}

/* Serves raddle's tests: an invalid module would otherwise fail later in an unrelated location. */
static void instrument_verify(LLVMModuleRef module)
{
	char *message = NULL;

	if (!getenv("RADDLE_VERIFY"))
		return;
	if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message)) {
		(void)fprintf(
			stderr, "raddle-cc: the instrumented module is not valid: %s\n", message);
		abort();
	}
	LLVMDisposeMessage(message);
}

/* raddle-cc --warn-opaque: warns about memory accesses that the pass cannot analyse. */
static void instrument_warn_of_opaque(const struct instrument *instrument)
{
	for (size_t i = 0; getenv("RADDLE_WARN_OPAQUE") && i < instrument->site_count; i++) {
		const struct site *site = &instrument->sites[i];
		unsigned length = 0;
		const char *file = LLVMGetDebugLocFilename(site->instruction, &length);

		/* Assembly with memory operands rarely accesses other memory. */
		if (site->kind == SITE_OPAQUE &&
			!(LLVMIsAInlineAsm(LLVMGetCalledValue(site->instruction)) &&
				assembly_names_memory(site->instruction)))
			(void)fprintf(stderr,
				"%.*s:%u: warning: raddle does not see which memory this %s "
				"accesses\n",
				file ? (int)length : 1, file ? file : "?",
				LLVMGetDebugLocLine(site->instruction),
				called_name(site->instruction) ? "gather or scatter of a vector"
							       : "inline assembly");
	}
}

/* Names private constants by local symbols, so that a walk of a recorded run finds their
 * addresses. */
static void instrument_name_constants(LLVMModuleRef module)
{
	for (LLVMValueRef global = LLVMGetFirstGlobal(module); global;
		global = LLVMGetNextGlobal(global)) {
		size_t length;
		const char *name = LLVMGetValueName2(global, &length);

		if (LLVMGetLinkage(global) != LLVMPrivateLinkage ||
			strncmp(name, "llvm.", 5) == 0 || LLVMGetSection(global))
			continue;
		if (!length)
			LLVMSetValueName2(global, "raddle.constant", 15);
		LLVMSetLinkage(global, LLVMInternalLinkage);
	}
}

/* Points and stubs are x86-64 code; for other targets (-m32, --target=...) objects stay
 * uninstrumented. */
static bool instrument_is_for_us(LLVMModuleRef module)
{
	const char *triple = LLVMGetTarget(module);

	return strncmp(triple, "x86_64", 6) == 0 && !strstr(triple, "x32");
}

bool instrument_module(LLVMModuleRef module)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	struct instrument instrument = {
		.module = module,
		.context = context,
		.layout = LLVMGetModuleDataLayout(module),
		.i32 = LLVMInt32TypeInContext(context),
		.i64 = LLVMInt64TypeInContext(context),
		.pointer = LLVMPointerTypeInContext(context, 0),
		.nothing = LLVMVoidTypeInContext(context),
	};

	if (LLVMGetNamedMetadata(module, DONE, strlen(DONE)))
		return false;
	instrument_unmark(module);
	if (!instrument_is_for_us(module))
		return true;
	instrument.builder = LLVMCreateBuilderInContext(context);
	instrument_name_constants(module);
	lower_gotos(&instrument);
	split_invokes(&instrument);
	lower_lists(&instrument);
	embed_bitcode(&instrument);
	instrument_add_natives(&instrument);
	instrument_collect(&instrument);
	instrument_warn_of_opaque(&instrument);
	if (instrument.site_count) {
		find_waits(&instrument);
		describe_sites(&instrument);
		split_loops(&instrument);
		insert_points(&instrument);
		instrument_name_all(&instrument);
		insert_registration(&instrument);
	}
	instrument_mark_done(&instrument);
	instrument_verify(module);
	LLVMDisposeBuilder(instrument.builder);
	free(instrument.sites);
	free(instrument.versions);
	return true;
}
