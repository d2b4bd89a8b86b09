/* Sites for calls of C library functions that access memory (libc_calls.def). */
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <string.h>
#include <time.h>

#include "compiler/pass/instrument.h"

#define NONE UINT8_MAX
#define RESULT (UINT8_MAX - 1) /* a pointer: the result of the call */
#define STATE (UINT8_MAX - 2)  /* a pointer: the object that stands for state of the library */
#define STATE_BYTES 8

struct library_access {
	uint8_t kind;	 /* enum site_kind */
	uint8_t pointer; /* argument index, RESULT or STATE; NONE: no access */
	/* Argument with the number of bytes, the maximum, or the string that is copied; NONE:
	 * unlimited. BEHIND_OBJECT: the number of bytes */
	uint8_t length;
	uint8_t behind; /* enum site_behind; it decides the meaning of `length`, see struct site */
	bool appends;	/* writes after the string at the pointer */
	const char *state; /* STATE: name of the object */
};

#define ACCESSES_MOST 3

struct library_call {
	const char *name;
	struct library_access accesses[ACCESSES_MOST];
};

#define ACCESS(kind, pointer, length, behind, appends)                                             \
	{                                                                                          \
		kind, pointer, length, behind, appends, NULL                                       \
	}
#define NOTHING ACCESS(0, NONE, NONE, BEHIND_NOTHING, false)
#define READ(pointer, length) ACCESS(SITE_RANGE_READ, pointer, length, BEHIND_NOTHING, false)
#define WRITE(pointer, length) ACCESS(SITE_RANGE_WRITE, pointer, length, BEHIND_NOTHING, false)
#define STRING(pointer) ACCESS(SITE_STRING_READ, pointer, NONE, BEHIND_NOTHING, false)
#define STRING_N(pointer, most) ACCESS(SITE_STRING_READ, pointer, most, BEHIND_NOTHING, false)
#define COPY(pointer, string) ACCESS(SITE_STRING_WRITE, pointer, string, BEHIND_NOTHING, false)
#define APPEND(pointer, string) ACCESS(SITE_STRING_WRITE, pointer, string, BEHIND_NOTHING, true)
#define APPEND_ONE(pointer) ACCESS(SITE_RANGE_WRITE, pointer, NONE, BEHIND_NOTHING, true)
#define GIVES(pointer) ACCESS(SITE_RANGE_WRITE, pointer, NONE, BEHIND_BYTES, false)
#define GIVES_ITEMS(pointer, bytes) ACCESS(SITE_RANGE_WRITE, pointer, bytes, BEHIND_ITEMS, false)
#define GIVES_PRINTED(pointer, room) ACCESS(SITE_RANGE_WRITE, pointer, room, BEHIND_PRINTED, false)
#define GIVES_STRING(pointer) ACCESS(SITE_STRING_WRITE, pointer, NONE, BEHIND_STRING, false)

#define GIVES_OBJECT(bytes) ACCESS(SITE_RANGE_WRITE, RESULT, bytes, BEHIND_OBJECT, false)
#define GIVES_OWN_STRING ACCESS(SITE_STRING_WRITE, RESULT, NONE, BEHIND_STRING, false)
#define STATE_ACCESS(kind, name)                                                                   \
	{                                                                                          \
		kind, STATE, NONE, BEHIND_NOTHING, false, name                                     \
	}
#define READS_STATE(name) STATE_ACCESS(SITE_RANGE_READ, name)
#define WRITES_STATE(name) STATE_ACCESS(SITE_RANGE_WRITE, name)

static const struct library_call library_calls[] = {
#define CALL(name, first, second) {#name, {first, second, NOTHING}},
#define CALL_OF_THREE(name, first, second, third) {#name, {first, second, third}},
#include "compiler/pass/libc_calls.def"
#undef CALL
#undef CALL_OF_THREE
	{"llvm.memcpy.", {READ(1, 2), WRITE(0, 2), NOTHING}},
	{"llvm.memmove.", {READ(1, 2), WRITE(0, 2), NOTHING}},
	{"llvm.memset.", {WRITE(0, 2), NOTHING, NOTHING}},
};

static bool libc_calls_names_call(const char *row, const char *name)
{
	/* The name of an intrinsic ends with the types of its arguments. */
	return strncmp(row, "llvm.", 5) == 0 ? strncmp(name, row, strlen(row)) == 0
					     : strcmp(name, row) == 0;
}

static const struct library_call *libc_calls_find_call(const char *name)
{
	for (size_t i = 0; i < sizeof library_calls / sizeof *library_calls; i++)
		if (libc_calls_names_call(library_calls[i].name, name))
			return &library_calls[i];
	return NULL;
}

/* Sets the length of the access. Returns false if the call does not match the standard declaration. */
static bool libc_calls_set_length(
	struct instrument *instrument, struct site *site, const struct library_access *access)
{
	LLVMValueRef call = site->instruction;
	const LLVMTypeKind result = LLVMGetTypeKind(LLVMTypeOf(call));
	const bool gives_pointer =
		access->behind == BEHIND_STRING || access->behind == BEHIND_OBJECT;
	LLVMValueRef argument = access->length == NONE ? NULL
				: access->behind == BEHIND_OBJECT
					? LLVMConstInt(instrument->i64, access->length, 0)
					: LLVMGetArgOperand(call, access->length);

	if (access->behind) {
		if (result != (gives_pointer ? LLVMPointerTypeKind : LLVMIntegerTypeKind) ||
			!location_behind(call))
			return false;
		/* A tail call would leave no place for a point after the call. */
		LLVMSetTailCall(call, false);
		site->behind = access->behind;
		site->length = call;
		site->items = argument;
	} else if (argument) {
		site->length = argument;
	} else if (access->pointer == STATE) {
		site->length = LLVMConstInt(instrument->i64, STATE_BYTES, 0);
	} else {
		site->length = access->kind == SITE_RANGE_WRITE
				       ? LLVMConstInt(instrument->i64, 1, 0)
				       : LLVMConstAllOnes(instrument->i64);
	}
	site->bytes = access->appends ? SITE_APPENDS
		      : site->copies  ? SITE_COPIED
		      : site->follows ? SITE_FOLLOWED
				      : site->contents;
	return true;
}

/* Functions whose result the walk recomputes (branches/interpret/walk_library.c). */
static bool libc_calls_is_recomputed(const char *name)
{
	static const char *const names[] = {
		"strcmp", "strncmp", "memcmp", "bcmp", "strlen", "strnlen", "strchr"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void libc_calls_set_copy(struct site *site, bool is_read)
{
	LLVMValueRef call = site->instruction;
	const char *name = called_name(call);
	const bool is_copy =
		strncmp(name, "llvm.memcpy", 11) == 0 || strncmp(name, "llvm.memmove", 12) == 0;
	const bool is_private = is_copy && filter_skips(LLVMGetArgOperand(call, 0), true);

	site->copies = is_copy && is_read && is_private;
	site->follows = is_copy && !is_private && !filter_skips(LLVMGetArgOperand(call, 1), false);
}

/* Each unit defines the object, and the linker keeps one of them. */
static LLVMValueRef libc_calls_state(struct instrument *instrument, const char *name)
{
	LLVMValueRef state = LLVMGetNamedGlobal(instrument->module, name);

	if (state)
		return state;
	state = LLVMAddGlobal(instrument->module, instrument->i64, name);
	LLVMSetInitializer(state, LLVMConstNull(instrument->i64));
	LLVMSetLinkage(state, LLVMWeakODRLinkage);
	return state;
}

/* Returns NULL if the call does not match the standard declaration. */
static LLVMValueRef libc_calls_pointer(
	struct instrument *instrument, LLVMValueRef call, const struct library_access *access)
{
	const unsigned count = LLVMGetNumArgOperands(call);

	if (access->pointer == RESULT)
		return call;
	if (access->pointer == STATE)
		return libc_calls_state(instrument, access->state);
	return access->pointer >= count || (access->length != NONE && access->length >= count)
		       ? NULL
		       : LLVMGetArgOperand(call, access->pointer);
}

static void libc_calls_collect_access(
	struct instrument *instrument, struct site site, const struct library_access *access)
{
	LLVMValueRef call = site.instruction;

	site.pointer = libc_calls_pointer(instrument, call, access);
	if (!site.pointer)
		return;
	if (LLVMGetTypeKind(LLVMTypeOf(site.pointer)) != LLVMPointerTypeKind)
		return; /* another function of the program with this name */
	site.kind = access->kind;
	libc_calls_set_copy(&site, access->kind == SITE_RANGE_READ);
	if ((access->kind == SITE_RANGE_READ || access->kind == SITE_STRING_READ) &&
		libc_calls_is_recomputed(called_name(call)))
		site.contents = (uint8_t)(SITE_CONTENTS | access->pointer << SITE_ARGUMENT_SHIFT);
	if (!filter_skips(site.pointer,
		    access->kind == SITE_RANGE_WRITE || access->kind == SITE_STRING_WRITE) &&
		libc_calls_set_length(instrument, &site, access))
		add_site(instrument, &site);
}

void collect_library_call(struct instrument *instrument, const struct site *site)
{
	LLVMValueRef callee = LLVMGetCalledValue(site->instruction);
	const struct library_call *call;
	size_t length;

	if (!callee || !LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee))
		return;
	call = libc_calls_find_call(LLVMGetValueName2(callee, &length));
	for (unsigned i = 0; call && i < ACCESSES_MOST; i++)
		if (call->accesses[i].pointer != NONE)
			libc_calls_collect_access(instrument, *site, &call->accesses[i]);
	collect_printf_call(instrument, site);
}
