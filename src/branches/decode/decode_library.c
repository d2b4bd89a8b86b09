/* Recognises C library calls whose result the walk computes from the bytes that they read. */
#include <string.h>

#include "base/array.h"
#include "branches/decode/code.h"
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
};

static uint32_t decode_library_site(
	const struct decoder *decoder, LLVMValueRef call, uint32_t argument)
{
	const uint32_t wanted = SITE_CONTENTS | argument << SITE_ARGUMENT_SHIFT;
	const struct image_site *sites = decoder->image->sites;
	uint32_t site = value_map_get(&decoder->image->first_site, call);

	while (site != SITE_NONE &&
		(sites[site].bytes != wanted || (sites[site].kind != SITE_RANGE_READ &&
							sites[site].kind != SITE_STRING_READ)))
		site = sites[site].next;
	return site;
}

/* Returns whether the callee has the standard signature. */
static bool decode_library_is_standard(LLVMValueRef call, const struct library_read *read)
{
	const unsigned count = LLVMGetNumArgOperands(call);

	if (!LLVMIsDeclaration(LLVMGetCalledValue(call)) || count < read->count ||
		(read->limit >= 0 && count <= (unsigned)read->limit) ||
		(read->kind == LIBRARY_FIND && count < 2))
		return false;
	for (unsigned i = 0; i < count; i++) {
		const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(LLVMGetArgOperand(call, i)));

		if (kind != (i < read->count ? LLVMPointerTypeKind : LLVMIntegerTypeKind))
			return false;
	}
	return LLVMGetTypeKind(LLVMTypeOf(call)) ==
	       (read->kind == LIBRARY_FIND ? LLVMPointerTypeKind : LLVMIntegerTypeKind);
}

struct library_read *decode_library_read(struct decoder *decoder, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	struct library_read *read;
	size_t i = 0, length;
	const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";

	while (i < sizeof rows / sizeof *rows && strcmp(rows[i].name, name) != 0)
		i++;
	if (i == sizeof rows / sizeof *rows || !decode_library_is_standard(call, &rows[i].read))
		return NULL;
	read = array_new(1, sizeof *read);
	*read = rows[i].read;
	read->is_used = LLVMGetFirstUse(call) != NULL;
	for (uint32_t j = 0; j < read->count; j++) {
		struct library_operand *operand = &read->operands[j];

		operand->site = decode_library_site(decoder, call, j);
		operand->location = LOCATION_SITE;
		operand->is_known = operand->site != SITE_NONE ||
				    decode_location(decoder, LLVMGetArgOperand(call, j),
					    &operand->location, &operand->constant);
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
