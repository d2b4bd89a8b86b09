/* Calls of the C library as accesses to memory: libc_calls.def as a table. */
#include <string.h>

#include "instrument/instrument.h"

#define NONE UINT8_MAX

struct library_access {
	uint8_t kind;	 /* enum site_kind */
	uint8_t pointer; /* argument, NONE: there is no access */
	uint8_t length; /* argument: bytes, most bytes, or the string that is copied; NONE: no limit */
};

struct library_call {
	const char *name;
	struct library_access accesses[2];
};

#define NOTHING                                                                                    \
	{                                                                                          \
		0, NONE, NONE                                                                      \
	}
#define READ(pointer, length)                                                                      \
	{                                                                                          \
		SITE_RANGE_READ, pointer, length                                                   \
	}
#define WRITE(pointer, length)                                                                     \
	{                                                                                          \
		SITE_RANGE_WRITE, pointer, length                                                  \
	}
#define STRING(pointer)                                                                            \
	{                                                                                          \
		SITE_STRING_READ, pointer, NONE                                                    \
	}
#define STRING_N(pointer, most)                                                                    \
	{                                                                                          \
		SITE_STRING_READ, pointer, most                                                    \
	}
#define COPY(pointer, string)                                                                      \
	{                                                                                          \
		SITE_STRING_WRITE, pointer, string                                                 \
	}

static const struct library_call library_calls[] = {
#define CALL(name, first, second) {#name, {first, second}},
#include "instrument/libc_calls.def"
#undef CALL
	{"llvm.memcpy.", {READ(1, 2), WRITE(0, 2)}},
	{"llvm.memmove.", {READ(1, 2), WRITE(0, 2)}},
	{"llvm.memset.", {WRITE(0, 2), NOTHING}},
};

static bool names_call(const char *row, const char *name)
{
	/* Intrinsics go on with the types of their arguments. */
	return strncmp(row, "llvm.", 5) == 0 ? strncmp(name, row, strlen(row)) == 0
					     : strcmp(name, row) == 0;
}

static const struct library_call *find_call(const char *name)
{
	for (size_t i = 0; i < sizeof library_calls / sizeof *library_calls; i++)
		if (names_call(library_calls[i].name, name))
			return &library_calls[i];
	return NULL;
}

static void collect_access(
	struct instrument *instrument, struct site site, const struct library_access *access)
{
	LLVMValueRef call = site.instruction;
	const unsigned count = LLVMGetNumArgOperands(call);

	if (access->pointer >= count || (access->length != NONE && access->length >= count))
		return;
	site.pointer = LLVMGetArgOperand(call, access->pointer);
	if (LLVMGetTypeKind(LLVMTypeOf(site.pointer)) != LLVMPointerTypeKind)
		return; /* a function of the program's own by that name */
	site.length = access->length == NONE ? LLVMConstAllOnes(instrument->i64)
					     : LLVMGetArgOperand(call, access->length);
	site.kind = access->kind;
	if (!filter_skips(site.pointer,
		    access->kind == SITE_RANGE_WRITE || access->kind == SITE_STRING_WRITE))
		add_site(instrument, &site);
}

void collect_library_call(struct instrument *instrument, const struct site *site)
{
	LLVMValueRef callee = LLVMGetCalledValue(site->instruction);
	const struct library_call *call;
	size_t length;

	if (!callee || !LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee))
		return;
	call = find_call(LLVMGetValueName2(callee, &length));
	for (unsigned i = 0; call && i < 2; i++)
		if (call->accesses[i].pointer != NONE)
			collect_access(instrument, *site, &call->accesses[i]);
}
