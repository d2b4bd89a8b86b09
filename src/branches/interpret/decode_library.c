/* Recognises C library calls whose result the walk computes from the bytes that they read. */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "branches/interpret/code.h"
#include "abi/instrument_abi.h"

static const struct {
	const char *name;
	struct library_read read;
} rows[] = {
	{"strcmp", {.kind = LIBRARY_COMPARE, .count = 2, .limit = -1, .is_string = true}},
	{"strncmp", {.kind = LIBRARY_COMPARE, .count = 2, .limit = 2, .is_string = true}},
	{"memcmp", {.kind = LIBRARY_COMPARE, .count = 2, .limit = 2}},
	{"bcmp", {.kind = LIBRARY_DIFFER, .count = 2, .limit = 2}},
	{"strlen", {.kind = LIBRARY_LENGTH, .count = 1, .limit = -1, .is_string = true}},
	{"strnlen", {.kind = LIBRARY_LENGTH, .count = 1, .limit = 1, .is_string = true}},
	{"strchr", {.kind = LIBRARY_FIND, .count = 1, .limit = -1, .is_string = true}},
	{"strrchr", {.kind = LIBRARY_FIND_LAST, .count = 1, .limit = -1, .is_string = true}},
	{"strchrnul", {.kind = LIBRARY_FIND_OR_END, .count = 1, .limit = -1, .is_string = true}},
	{"strspn", {.kind = LIBRARY_SPAN, .count = 2, .limit = -1, .is_string = true}},
	{"strcspn", {.kind = LIBRARY_SPAN_OTHERS, .count = 2, .limit = -1, .is_string = true}},
	{"strpbrk", {.kind = LIBRARY_FIND_ANY, .count = 2, .limit = -1, .is_string = true}},
	{"strstr", {.kind = LIBRARY_FIND_STRING, .count = 2, .limit = -1, .is_string = true}},
	{"memchr", {.kind = LIBRARY_FIND, .count = 1, .limit = 2, .is_near = true}},
	{"strcasecmp", {.kind = LIBRARY_COMPARE,
			       .count = 2,
			       .limit = -1,
			       .is_string = true,
			       .folds = true}},
	{"strncasecmp", {.kind = LIBRARY_COMPARE,
				.count = 2,
				.limit = 2,
				.is_string = true,
				.folds = true}},
#define NUMBER(name)                                                                               \
	{                                                                                          \
		name,                                                                              \
		{                                                                                  \
			.kind = LIBRARY_NUMBER, .count = 1, .limit = -1, .is_string = true,        \
			.base = -1                                                                 \
		}                                                                                  \
	}
#define NUMBER_OF_BASE(name)                                                                       \
	{                                                                                          \
		name,                                                                              \
		{                                                                                  \
			.kind = LIBRARY_NUMBER, .count = 1, .pointers = 2, .limit = -1,            \
			.is_string = true, .base = 2                                               \
		}                                                                                  \
	}
	NUMBER("atoi"),
	NUMBER("atol"),
	NUMBER("atoll"),
	NUMBER_OF_BASE("strtol"),
	NUMBER_OF_BASE("strtoul"),
	NUMBER_OF_BASE("strtoll"),
	NUMBER_OF_BASE("strtoull"),
	NUMBER_OF_BASE("__isoc23_strtol"),
	NUMBER_OF_BASE("__isoc23_strtoul"),
	NUMBER_OF_BASE("__isoc23_strtoll"),
	NUMBER_OF_BASE("__isoc23_strtoull"),
#define COPIES(name, kind_of, first_read, count_read, argument, is_end)                            \
	{                                                                                          \
		name,                                                                              \
		{                                                                                  \
			.kind = kind_of, .first = first_read, .count = count_read,                 \
			.limit = argument, .is_string = true, .gives_end = is_end                  \
		}                                                                                  \
	}
	COPIES("strcpy", LIBRARY_COPY, 1, 1, -1, false),
	COPIES("__strcpy_chk", LIBRARY_COPY, 1, 1, -1, false),
	COPIES("stpcpy", LIBRARY_COPY, 1, 1, -1, true),
	COPIES("__stpcpy_chk", LIBRARY_COPY, 1, 1, -1, true),
	COPIES("strncpy", LIBRARY_FILL, 1, 1, 2, false),
	COPIES("__strncpy_chk", LIBRARY_FILL, 1, 1, 2, false),
	COPIES("stpncpy", LIBRARY_FILL, 1, 1, 2, true),
	COPIES("__stpncpy_chk", LIBRARY_FILL, 1, 1, 2, true),
	COPIES("strncat", LIBRARY_APPEND, 0, 2, 2, false),
	COPIES("__strncat_chk", LIBRARY_APPEND, 0, 2, 2, false),
	COPIES("strcat", LIBRARY_APPEND, 0, 2, -1, false),
	COPIES("__strcat_chk", LIBRARY_APPEND, 0, 2, -1, false),
};

/* Returns the site that reports the argument's bytes; SITE_NONE: none. */
static uint32_t told_site(
	const struct decoder *decoder, LLVMValueRef call, uint32_t argument, bool is_near)
{
	const uint32_t tells =
		SITE_TOLD | argument << SITE_ARGUMENT_SHIFT | (is_near ? SITE_TOLD_NEAR : 0);
	const struct image_site *sites = decoder->image->sites;
	uint32_t site = value_map_get(&decoder->image->first_site, call);

	for (; site != SITE_NONE; site = sites[site].next)
		if ((sites[site].kind == SITE_RANGE_READ || sites[site].kind == SITE_STRING_READ) &&
			sites[site].bytes == tells)
			return site;
	return SITE_NONE;
}

static uint32_t written_site(const struct decoder *decoder, LLVMValueRef call)
{
	const struct image_site *sites = decoder->image->sites;
	uint32_t site = value_map_get(&decoder->image->first_site, call);

	while (site != SITE_NONE && sites[site].kind != SITE_RANGE_WRITE &&
		sites[site].kind != SITE_STRING_WRITE)
		site = sites[site].next;
	return site;
}

static bool is_search(const struct library_read *read)
{
	return read->kind >= LIBRARY_FIND && read->kind <= LIBRARY_FIND_OR_END;
}

/* Returns whether the callee is the C library's function with its standard signature. */
static bool is_as_declared(LLVMValueRef call, const struct library_read *read)
{
	const unsigned count = LLVMGetNumArgOperands(call);
	const unsigned pointers = read->pointers ? read->pointers : read->first + read->count;

	if (!LLVMIsDeclaration(LLVMGetCalledValue(call)) || count < pointers ||
		(read->limit >= 0 && count <= (unsigned)read->limit) ||
		(read->kind == LIBRARY_NUMBER && read->base >= 0 &&
			count <= (unsigned)read->base) ||
		(is_search(read) && count < 2))
		return false;
	for (unsigned i = 0; i < count; i++) {
		const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(LLVMGetArgOperand(call, i)));

		if (kind != (i < pointers ? LLVMPointerTypeKind : LLVMIntegerTypeKind))
			return false;
	}
	return LLVMGetTypeKind(LLVMTypeOf(call)) ==
	       (read->kind >= LIBRARY_FIND ? LLVMPointerTypeKind : LLVMIntegerTypeKind);
}

struct library_read *decode_library_read(struct decoder *decoder, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	struct library_read *read;
	size_t i = 0, length;
	const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";

	while (i < sizeof rows / sizeof *rows && strcmp(rows[i].name, name) != 0)
		i++;
	if (i == sizeof rows / sizeof *rows || !is_as_declared(call, &rows[i].read))
		return NULL;
	read = malloc(sizeof *read);
	BUG_ON(!read);
	*read = rows[i].read;
	read->is_used = LLVMGetFirstUse(call) != NULL || read->kind >= LIBRARY_COPY;
	read->site_to = written_site(decoder, call);
	for (uint32_t j = 0; j < read->count; j++) {
		struct library_operand *operand = &read->operands[j];

		operand->site = told_site(decoder, call, read->first + j, read->is_near);
		operand->place = PLACE_SITE;
		operand->is_known = operand->site != SITE_NONE ||
				    decode_place(decoder, LLVMGetArgOperand(call, read->first + j),
					    &operand->place, &operand->constant);
	}
	return read;
}

enum outcome decode_outcome(LLVMValueRef call)
{
	static const struct {
		const char *name;
		enum outcome outcome;
	} names[] = {{"pthread_mutex_trylock", OUTCOME_TRY},
		{"pthread_rwlock_tryrdlock", OUTCOME_TRY},
		{"pthread_rwlock_trywrlock", OUTCOME_TRY}, {"pthread_spin_trylock", OUTCOME_TRY},
		{"mtx_trylock", OUTCOME_TRY_C11}, {"call_once", OUTCOME_ONCE},
		{"sem_trywait", OUTCOME_TAKE}, {"pthread_barrier_wait", OUTCOME_BARRIER},
		{"pthread_once", OUTCOME_ONCE}, {"sem_init", OUTCOME_BEGINNING}};
	LLVMValueRef callee = LLVMGetCalledValue(call);
	size_t length;
	const char *name = LLVMIsAFunction(callee) && LLVMIsDeclaration(callee)
				   ? LLVMGetValueName2(callee, &length)
				   : "";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].outcome;
	return OUTCOME_NONE;
}
