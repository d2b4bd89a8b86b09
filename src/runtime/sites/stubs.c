#include "runtime/stubs.h"

static const unsigned char pop[] = {0x41, 0x5b}, push[] = {0x41, 0x53}; /* %r11 */

/* Returns the length of the instruction; 0: an unknown instruction. */
static size_t stubs_operand_bytes(const unsigned char *at)
{
	const unsigned char mode = at[2];
	size_t address;

	if (at[0] == 0x45 && at[1] == 0x31 && mode == 0xd2) /* xor %r10d, %r10d */
		return 3;
	if ((at[0] & 0xfb) == 0x49 && at[1] == 0x89 && (mode & 0xc7) == 0xc2) /* mov %r, %r10 */
		return 3;
	if ((at[0] & 0xfc) != 0x4c || at[1] != 0x8d || (mode >> 3 & 7) != 2)
		return 0;
	address = mode >> 6 == 1					     ? 1
		  : mode >> 6 == 2					     ? 4
		  : (mode & 7) == 5 || ((mode & 7) == 4 && (at[3] & 7) == 5) ? 4
									     : 0;
	return 3 + ((mode & 7) == 4) + address;
}

/* Returns true if the operand is %rsp or an address relative to it. */
static bool stubs_is_of_stack(const unsigned char *at)
{
	if (at[1] == 0x31) /* the operand is 0 */
		return false;
	if (at[1] == 0x89)
		return !(at[0] & 4) && (at[2] >> 3 & 7) == 4;
	return (at[2] & 7) == 4 && (at[3] & 7) == 4 && !(at[0] & 1);
}

static bool stubs_is_relative_to_code(const unsigned char *at)
{
	return at[1] == 0x8d && (at[2] & 0xc7) == 5;
}

static unsigned char *stubs_put(unsigned char *code, const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		code[i] = bytes[i];
		__asm__ volatile("" ::: "memory"); /* keeps the compiler from calling memcpy() */
	}
	return code + count;
}

/* Writes the distance from the end of the word, plus `from`, to the target. Returns NULL if that is too far. */
static unsigned char *stubs_put_distance(unsigned char *code, int64_t from, const void *target)
{
	const int64_t distance = (int64_t)(uintptr_t)target - (int64_t)(uintptr_t)code - from;
	const int32_t word = (int32_t)distance;

	memcpy(code, &word, sizeof word);
	return word == distance ? code + sizeof word : NULL;
}

unsigned char *stub_write_operand(unsigned char *code, const struct site_record *record)
{
	const unsigned char *from = record->operand;
	const size_t length = stubs_operand_bytes(from);
	int32_t distance;

	if (!length)
		return NULL;
	if (stubs_is_relative_to_code(from)) {
		memcpy(&distance, from + 3, sizeof distance);
		return stubs_put_distance(
			stubs_put(code, from, 3), sizeof distance, from + length + distance);
	}
	if (!stubs_is_of_stack(from))
		return stubs_put(code, from, length);
	code = stubs_put(code, pop, sizeof pop);
	code = stubs_put(code, from, length);
	return stubs_put(code, push, sizeof push);
}

static enum stub_target stubs_target(const struct site_record *record)
{
	const bool is_plain = (record->kind == SITE_LOAD || record->kind == SITE_STORE) &&
			      !record->order && !(site_record_flags(record) & SITE_WAITS);
	const enum stub_target first = record->kind == SITE_LOAD ? STUB_LOAD : STUB_STORE;

	if (!is_plain || !record->bytes || record->bytes > 16 ||
		record->bytes & (record->bytes - 1))
		return STUB_ANY;
	return first + (enum stub_target)__builtin_ctz(record->bytes);
}

unsigned char *stub_write(
	unsigned char *slot, const struct site_record *record, void (*const *targets)(void))
{
	static const unsigned char jump[] = {0xff, 0x25}; /* jmp *...(%rip) */
	unsigned char *code = stubs_put_distance(slot, 0, record);

	if (code)
		code = stub_write_operand(code, record);
	if (!code || !stubs_put_distance(stubs_put(code, jump, sizeof jump), sizeof(int32_t),
			     targets + stubs_target(record)))
		return NULL;
	return slot + sizeof(int32_t);
}
