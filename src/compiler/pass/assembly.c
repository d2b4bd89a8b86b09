/*
 * Inline assembly: only memory that it names as operands is known to be accessed, as in the atomic
 * operations of libraries ("lock; xaddl %0, %1" : "+m"(*at)).
 */
#include "compiler/pass/instrument.h"

#include <string.h>

struct memory_operand {
	LLVMValueRef pointer;
	LLVMTypeRef type;
	bool is_read, is_written;
};

#define OPERANDS_MOST 8

static LLVMTypeRef assembly_operand_type(LLVMValueRef call, unsigned argument)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName("elementtype", 11);
	LLVMAttributeRef type = LLVMGetCallSiteEnumAttribute(call, argument + 1, kind);

	return type ? LLVMGetTypeAttributeValue(type) : NULL;
}

static unsigned assembly_add_operand(
	struct memory_operand *operands, unsigned count, struct memory_operand operand)
{
	if (!operand.type)
		return count;
	for (unsigned i = 0; i < count; i++) {
		if (operands[i].pointer != operand.pointer)
			continue;
		operands[i].is_read |= operand.is_read;
		operands[i].is_written |= operand.is_written;
		return count;
	}
	if (count < OPERANDS_MOST)
		operands[count++] = operand;
	return count;
}

/*
 * Operands are call arguments in the order of their constraints, without register results ("=r"),
 * labels ("!i") and clobbers ("~{cc}"). A star marks memory.
 */
static unsigned assembly_find_operands(LLVMValueRef call, struct memory_operand *operands)
{
	size_t length;
	const char *at = LLVMGetInlineAsmConstraintString(LLVMGetCalledValue(call), &length);
	const char *const end = at + length;
	unsigned argument = 0, count = 0;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const size_t bytes = (size_t)((comma ? comma : end) - at);
		const bool is_output = *at == '=';
		const bool is_memory = memchr(at, '*', bytes) != NULL;

		if (*at == '~')
			break;
		if (is_memory)
			count = assembly_add_operand(operands, count,
				(struct memory_operand){LLVMGetArgOperand(call, argument),
					assembly_operand_type(call, argument), !is_output,
					is_output});
		if (*at != '!' && (is_memory || !is_output))
			argument++;
		at += bytes + (comma != NULL);
	}
	return count;
}

/* Returns whether the assembly has no instructions: a compiler barrier. It may name memory
 * nevertheless. */
static bool assembly_does_nothing(LLVMValueRef call)
{
	size_t length;
	const char *text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &length);

	for (size_t i = 0; i < length; i++)
		if (!strchr(" \t\n;", text[i]))
			return false;
	return true;
}

static bool assembly_has_word(LLVMValueRef call, const char *word)
{
	size_t length;
	const char *text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &length);

	return memmem(text, length, word, strlen(word)) != NULL;
}

void collect_assembly_fence(struct instrument *instrument, const struct site *site)
{
	struct memory_operand operands[OPERANDS_MOST];
	struct site fence = *site;

	if (!assembly_has_word(site->instruction, "mfence") &&
		(!assembly_has_word(site->instruction, "lock") ||
			assembly_find_operands(site->instruction, operands)))
		return;
	fence.kind = SITE_FENCE;
	fence.order = SITE_SEQUENTIAL | SITE_UNRECORDED;
	add_site(instrument, &fence);
}

bool assembly_names_memory(LLVMValueRef call)
{
	struct memory_operand operands[OPERANDS_MOST];

	return LLVMIsACallInst(call) && assembly_find_operands(call, operands) > 0;
}

/* Collects the accesses of assembly. It is usually one atomic instruction; every x86-64 access has
 * the order given here. */
void collect_assembly(struct instrument *instrument, const struct site *site)
{
	struct memory_operand operands[OPERANDS_MOST];
	unsigned count;

	if (assembly_does_nothing(site->instruction))
		return;
	count = assembly_find_operands(site->instruction, operands);
	for (unsigned i = 0; i < count; i++) {
		const struct memory_operand *operand = &operands[i];
		struct site access = *site;

		if (!LLVMTypeIsSized(operand->type) ||
			filter_skips(operand->pointer, operand->is_written))
			continue;
		access.pointer = operand->pointer;
		access.bytes = type_bytes(instrument, operand->type);
		access.kind = !operand->is_written ? SITE_ATOMIC_LOAD
			      : !operand->is_read  ? SITE_ATOMIC_STORE
						   : SITE_ATOMIC_UPDATE;
		access.order = !operand->is_written ? SITE_ACQUIRE
			       : !operand->is_read  ? SITE_RELEASE
						    : SITE_SEQUENTIAL;
		access.order |= SITE_UNRECORDED;
		if (access.bytes)
			add_site(instrument, &access);
	}
}
