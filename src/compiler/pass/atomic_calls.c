/*
 * Calls of libatomic, for atomic accesses of unusual sizes or without processor support:
 * __atomic_load_16(pointer, order), __atomic_load(bytes, pointer, result, order).
 */
#include "compiler/pass/instrument.h"

#include <stdlib.h>
#include <string.h>

#define START "__atomic_"

/* Compares the name after START with `word`. *bytes receives the size suffix of "_16", 0: none. */
static bool atomic_calls_is_called(const char *name, const char *word, unsigned *bytes)
{
	const size_t length = strlen(word);
	char *end;

	if (strncmp(name, word, length) != 0)
		return false;
	*bytes = 0;
	if (!name[length])
		return true;
	if (name[length] != '_')
		return false;
	*bytes = (unsigned)strtoul(name + length + 1, &end, 10);
	return *bytes && !*end;
}

static enum site_kind atomic_calls_kind_of(const char *name, unsigned *bytes)
{
	static const char *const updates[] = {"exchange", "fetch_add", "fetch_sub", "fetch_and",
		"fetch_or", "fetch_xor", "fetch_nand", "add_fetch", "sub_fetch", "and_fetch",
		"or_fetch", "xor_fetch", "nand_fetch"};

	if (atomic_calls_is_called(name, "load", bytes))
		return SITE_ATOMIC_LOAD;
	if (atomic_calls_is_called(name, "store", bytes))
		return SITE_ATOMIC_STORE;
	if (atomic_calls_is_called(name, "compare_exchange", bytes))
		return SITE_COMPARE_EXCHANGE;
	for (size_t i = 0; i < sizeof updates / sizeof *updates; i++)
		if (atomic_calls_is_called(name, updates[i], bytes))
			return SITE_ATOMIC_UPDATE;
	return SITE_KIND_COUNT;
}

/* A non-constant order counts as the strongest one, as in C. */
static uint8_t atomic_calls_order_of(LLVMValueRef argument)
{
	const unsigned long long order =
		LLVMIsAConstantInt(argument) ? LLVMConstIntGetZExtValue(argument) : SITE_SEQUENTIAL;

	return order <= SITE_SEQUENTIAL ? (uint8_t)order : SITE_SEQUENTIAL;
}

/*
 * The last argument is the order; a compare-exchange has two, the one for success first, and its
 * expected value in memory, which the site does not report.
 */
bool collect_atomic_call(struct instrument *instrument, const struct site *site)
{
	const char *name = called_name(site->instruction);
	const unsigned count = LLVMGetNumArgOperands(site->instruction);
	struct site access = *site;
	enum site_kind kind;
	unsigned bytes;
	bool is_sized;

	if (!name || strncmp(name, START, strlen(START)) != 0)
		return false;
	kind = atomic_calls_kind_of(name + strlen(START), &bytes);
	if (kind == SITE_KIND_COUNT || count < (bytes ? 2 : 4))
		return false;
	is_sized = bytes != 0;
	access.pointer = LLVMGetArgOperand(site->instruction, is_sized ? 0 : 1);
	if (LLVMGetTypeKind(LLVMTypeOf(access.pointer)) != LLVMPointerTypeKind)
		return false; /* another function of the program with this name */
	if (!is_sized && LLVMIsAConstantInt(LLVMGetArgOperand(site->instruction, 0)))
		bytes = (unsigned)LLVMConstIntGetZExtValue(LLVMGetArgOperand(site->instruction, 0));
	access.kind = (uint8_t)kind;
	access.order = atomic_calls_order_of(LLVMGetArgOperand(site->instruction, count - 1));
	if (kind == SITE_COMPARE_EXCHANGE)
		access.order = (uint8_t)(access.order << SITE_FAILURE_SHIFT |
					 atomic_calls_order_of(
						 LLVMGetArgOperand(site->instruction, count - 2)));
	access.bytes = bytes > UINT16_MAX ? UINT16_MAX : (uint16_t)bytes;
	if (access.bytes && !filter_skips(access.pointer, kind != SITE_ATOMIC_LOAD))
		add_site(instrument, &access);
	return true;
}
