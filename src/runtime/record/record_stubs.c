/*
 * Quick stubs: machine code made at start-up, one piece per site. A point that is on calls the
 * piece instead of the site's own stub. A piece handles a predicted report in a few instructions.
 * For every other report it restores all registers and jumps to a slow path (record_near.S) or to
 * the own stub's path (site_thunk.S, record.c). x86-64.
 *
 * A piece uses only %r10 and %r11, which are dead at a point, and leaves the return address on the
 * stack. The four bytes before it are the distance to the site's record. It begins with the record's instruction
 * that loads %r10; a site with an unknown instruction gets no piece. A slow
 * path loads the operand again, so a piece may overwrite %r10.
 *
 * Pieces of wide reads and of updates save %rdx below the stack pointer: functions with sites have
 * no red zone. The moving thread's state (record_internal.h) has a 32-bit address.
 *
 * Runs while a single thread moves, before the module's code runs.
 */
#include <string.h>

#include "branches/record/record.h"
#include "runtime/record/record_region.h"
#include "runtime/stubs.h"

/* Offsets from the stack pointer (8 bits, negative), below the reach of calls. */
enum { SAVED_OPERAND = 0xe0, SAVED_D = 0xd8 };

/* cmpq $0, pending */
static void record_stubs_put_is_pending(struct writer *writer)
{
	PUT(writer, "\x48\x83\x3c\x25");
	put_word(writer, STATE(pending));
	put_byte(writer, 0);
}

static void record_stubs_put_flush(struct writer *writer, const struct stub_region *region)
{
	record_stubs_put_is_pending(writer);
	PUT(writer, "\x74\x0f");	 /* je: skips the rest */
	PUT(writer, "\x4c\x89\x54\x24"); /* mov %r10, ...(%rsp) */
	put_byte(writer, SAVED_OPERAND);
	PUT(writer, "\xe8");
	put_distance(writer, region->flush);
	PUT(writer, "\x4c\x8b\x54\x24");
	put_byte(writer, SAVED_OPERAND);
}

struct piece {
	struct writer writer;
	struct stub_region *region;
	const struct site_record *site;
	unsigned char *slow[16];
	uint32_t slow_count;
	unsigned char *turn; /* jump to the code that restores `left`; NULL if none */
	uint32_t counted;    /* amount that is restored */
	enum stub_kind kind;
	uint32_t known; /* known properties, for the slow path */
	bool needs_d;
};

static void record_stubs_slow_if(struct piece *piece, const char *jump)
{
	put(&piece->writer, jump, 2);
	piece->slow[piece->slow_count++] = put_forward(&piece->writer);
}

#define IF_NOT_EQUAL "\x0f\x85"
#define IF_NOT_BELOW "\x0f\x83"
#define ALWAYS "\x90\xe9" /* nop; jmp */
#define IF_NEGATIVE "\x0f\x88"

/* Returns false if the instruction is unknown. */
static bool record_stubs_put_operand(struct piece *piece)
{
	unsigned char *end = stub_write_operand(piece->writer.at, piece->site);

	if (end)
		piece->writer.at = end;
	return end != NULL;
}

/* Writes the distance to the record. Returns false if the record is too far away. */
static bool record_stubs_put_record(struct piece *piece)
{
	const int64_t distance =
		(int64_t)(uintptr_t)piece->site - (int64_t)(uintptr_t)piece->writer.at;

	put_word(&piece->writer, (uint64_t)distance);
	return distance == (int32_t)distance;
}

static void record_stubs_put_count(struct piece *piece, uint32_t count)
{
	struct writer *writer = &piece->writer;

	PUT(writer, "\x48\x83\x2c\x25"); /* subq $count, left */
	put_word(writer, STATE(left));
	put_byte(writer, count);
	PUT(writer, IF_NEGATIVE);
	piece->turn = put_forward(writer);
	piece->counted = count;
}

static void record_stubs_put_pending(struct piece *piece)
{
	struct writer *writer = &piece->writer;

	PUT(writer, "\x4c\x89\x14\x25"); /* mov %r10, pending */
	put_word(writer, STATE(pending));
	PUT(writer, "\xc7\x04\x25"); /* movl $bytes, pending_bytes */
	put_word(writer, STATE(pending_bytes));
	put_word(writer, piece->site->bytes);
}

/* Compares with the thread's copy. The value is loaded into %rdx, or over the operand. */
static void record_stubs_put_compare(struct piece *piece, uint32_t bytes, uint32_t at)
{
	struct writer *writer = &piece->writer;
	const unsigned wide = bytes == 8 ? 8 : 0;

	/* First mov at(%r10), to %rdx or %r10; then cmp at(%r11), with the same register. */
	for (uint32_t i = 0; i < 2; i++) {
		if (bytes == 2)
			put_byte(writer, 0x66);
		put_byte(writer, (piece->needs_d ? 0x41 : 0x45) | wide);
		put_byte(writer, (i ? 0x3a : 0x8a) | (bytes > 1));
		put_byte(writer, 0x52 | i);
		put_byte(writer, at);
	}
	record_stubs_slow_if(piece, IF_NOT_EQUAL);
}

/* Returns the slow path for this size. Each word size has its own. */
static enum stub_kind record_stubs_kind_of(enum stub_kind kind, uint32_t bytes)
{
	return bytes > 8 ? kind : kind + 1 + (unsigned)__builtin_ctz(bytes);
}

static bool record_stubs_is_of_word(enum stub_kind kind)
{
	return (kind >= STUB_READ_1 && kind <= STUB_READ_8) ||
	       (kind >= STUB_UPDATE_1 && kind <= STUB_UPDATE_8);
}

static bool record_stubs_put_read(struct piece *piece)
{
	struct writer *writer = &piece->writer;
	const uint32_t bytes = piece->site->bytes;

	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16 && bytes != 32)
		return false;
	piece->kind = record_stubs_kind_of(STUB_READ, bytes);
	piece->known = bytes;
	record_stubs_put_flush(writer, piece->region);
	PUT(writer, "\x45\x89\xd3\x41\x81\xe3"); /* mov %r10d, %r11d; and $..., %r11d */
	put_word(writer, RECORD_MEMORY_BYTES - 1);
	PUT(writer, "\x4c\x03\x1c\x25"); /* add memory, %r11 */
	put_word(writer, STATE(memory));
	for (uint32_t done = 0; done < bytes; done += 8)
		record_stubs_put_compare(piece, bytes < 8 ? bytes : 8, done);
	record_stubs_put_count(piece, bytes < 8 ? 1 : bytes / 8);
	return true;
}

static void record_stubs_put_value(struct piece *piece, uint32_t index)
{
	struct writer *writer = &piece->writer;

	piece->known = record_value_slot(index, piece->site->bytes);
	PUT(writer, "\x4c\x8b\x1c\x25"); /* mov values, %r11 */
	put_word(writer, STATE(values));
	PUT(writer, "\x4d\x3b\x93"); /* cmp slot(%r11), %r10 */
	put_word(writer, piece->known * sizeof(uint64_t));
	record_stubs_slow_if(piece, IF_NOT_EQUAL);
	record_stubs_put_count(piece, 1);
}

/* Writes a return if the callee in %rsi is marked: its result is recomputed. */
static void record_stubs_put_unless_marked(struct piece *piece)
{
	struct writer *writer = &piece->writer;

	PUT(writer, "\x49\xbb"); /* movabs $mark, %r11 */
	put_word(writer, SITE_FUNCTION_MARK);
	put_word(writer, SITE_FUNCTION_MARK >> 32);
	PUT(writer, "\x4c\x39\x5e\xf8\x75\x01\xc3"); /* cmp %r11, -8(%rsi); jne behind; ret */
}

static bool record_stubs_put_result(struct piece *piece, uint32_t index)
{
	const struct site_record *site = piece->site;

	/* The general path must follow PLT entries. */
	if (site->order & SITE_CALLEES && record_state.may_link)
		return false;
	piece->kind = STUB_RESULT;
	if (site->order & SITE_CALLEE_GIVEN)
		record_stubs_put_unless_marked(piece);
	record_stubs_put_is_pending(&piece->writer);
	record_stubs_slow_if(piece, IF_NOT_EQUAL);
	record_stubs_put_value(piece, index);
	return true;
}

/* Writes a function's entry; predicted is a call from the same module. */
static bool record_stubs_put_entry(
	struct piece *piece, uint32_t index, uintptr_t code_start, uintptr_t code_end)
{
	struct writer *writer = &piece->writer;
	const int64_t distance = (int64_t)code_start - (int64_t)(uintptr_t)(writer->at + 4 + 7);

	if (distance != (int32_t)distance || code_end - code_start > INT32_MAX)
		return false;
	piece->kind = STUB_ENTER;
	piece->known = index;
	PUT(writer, "\x4c\x8b\x5d\x08"); /* mov 8(%rbp), %r11: the return address */
	PUT(writer, "\x4c\x8d\x15");	 /* lea code_start, %r10 */
	put_word(writer, (uint64_t)distance);
	PUT(writer, "\x4d\x29\xd3\x49\x81\xfb"); /* sub %r10, %r11; cmp $size, %r11 */
	put_word(writer, code_end - code_start);
	record_stubs_slow_if(piece, IF_NOT_BELOW);
	PUT(writer, "\xc7\x04\x25"); /* movl $0, wants_arguments */
	put_word(writer, STATE(wants_arguments));
	put_word(writer, 0);
	return true;
}

/* Handles a report that has no fast path. */
static void record_stubs_put_slow_report(struct piece *piece, enum stub_kind kind)
{
	piece->kind = kind;
	record_stubs_slow_if(piece, ALWAYS);
}

static void record_stubs_put_range(struct piece *piece)
{
	const struct site_record *site = piece->site;
	const bool is_range = site->kind == SITE_RANGE_READ;
	struct writer *writer = &piece->writer;

	if (site->kind == SITE_RANGE_WRITE && site->bytes & SITE_FOLLOWED) {
		record_stubs_put_slow_report(piece, STUB_COPY);
	} else if (site->kind == SITE_RANGE_WRITE || site->kind == SITE_STRING_WRITE) {
		piece->kind = STUB_RANGE; /* the range may overlap the pending write */
		record_stubs_put_is_pending(writer);
		record_stubs_slow_if(piece, IF_NOT_EQUAL);
	} else if (is_range && site->bytes & SITE_COPIED) {
		record_stubs_put_slow_report(piece, STUB_COPIED);
	} else if (site->bytes & SITE_CONTENTS) {
		record_stubs_put_slow_report(piece, is_range ? STUB_CONTENTS : STUB_STRING);
	} else if (is_range && site->bytes & SITE_FOLLOWED) {
		record_stubs_put_flush(writer, piece->region);
		PUT(writer, "\x4c\x89\x14\x25"); /* mov %r10, copied_from */
		put_word(writer, STATE(copied_from));
	}
}

static bool record_stubs_put_body(
	struct piece *piece, uint32_t index, uintptr_t code_start, uintptr_t code_end)
{
	struct writer *writer = &piece->writer;

	if (piece->site->order & SITE_UNRECORDED && piece->site->kind != SITE_COMPARE_EXCHANGE)
		return false;
	switch (piece->site->kind) {
	case SITE_LOAD:
		if (!record_stubs_put_read(piece))
			return false;
		if (record_pends(piece->site)) {
			piece->kind = record_stubs_kind_of(STUB_UPDATE, piece->site->bytes);
			(void)record_stubs_put_operand(piece); /* succeeded before */
			record_stubs_put_pending(piece);
		}
		return true;
	case SITE_ATOMIC_LOAD:
		return record_stubs_put_read(piece);
	case SITE_ATOMIC_UPDATE:
	case SITE_COMPARE_EXCHANGE:
		if (!record_stubs_put_read(piece))
			return false;
		piece->kind = record_stubs_kind_of(STUB_UPDATE, piece->site->bytes);
		record_stubs_put_pending(piece);
		return true;
	case SITE_STORE:
	case SITE_ATOMIC_STORE:
		record_stubs_put_flush(writer, piece->region);
		record_stubs_put_pending(piece);
		return true;
	case SITE_FUNCTION_ENTRY:
		return record_stubs_put_entry(piece, index, code_start, code_end);
	case SITE_ARGUMENT:
		piece->kind = STUB_ARGUMENT;
		PUT(writer, "\x83\x3c\x25"); /* cmpl $0, wants_arguments */
		put_word(writer, STATE(wants_arguments));
		put_byte(writer, 0);
		record_stubs_slow_if(piece, IF_NOT_EQUAL);
		return true;
	case SITE_RESULT:
		return record_stubs_put_result(piece, index);
	case SITE_ADDRESS:
		piece->kind = STUB_ADDRESS;
		record_stubs_put_flush(writer, piece->region);
		record_stubs_put_value(piece, index);
		return true;
	case SITE_RANGE_READ:
	case SITE_RANGE_WRITE:
	case SITE_STRING_READ:
	case SITE_STRING_WRITE:
		record_stubs_put_range(piece);
		return true;
	default:
		return false;
	}
}

static bool record_stubs_needs_d(const struct site_record *site)
{
	return site->kind == SITE_ATOMIC_UPDATE || site->kind == SITE_COMPARE_EXCHANGE ||
	       ((site->kind == SITE_LOAD || site->kind == SITE_ATOMIC_LOAD) && site->bytes > 8);
}

/* Writes a return, or the jump to the slow path. */
static void record_stubs_put_end(struct piece *piece, bool is_slow)
{
	struct writer *writer = &piece->writer;

	if (piece->needs_d) {
		PUT(writer, "\x48\x8b\x54\x24");
		put_byte(writer, SAVED_D);
	}
	if (!is_slow) {
		PUT(writer, "\xc3");
		return;
	}
	(void)record_stubs_put_operand(piece); /* succeeded before */
	if (piece->kind == STUB_RANGE) {
		PUT(writer, "\x4c\x8d\x1d"); /* lea record, %r11 */
		put_distance(writer, (const unsigned char *)piece->site);
	} else {
		PUT(writer, "\x41\xbb"); /* mov $known, %r11d */
		put_word(writer, piece->known);
	}
	PUT(writer, "\xff\x25"); /* jmp *kind */
	put_distance(writer, piece->region->kinds + piece->kind * sizeof(uint64_t));
}

static void record_stubs_put_ends(struct piece *piece)
{
	struct writer *writer = &piece->writer;

	record_stubs_put_end(piece, false);
	if (piece->turn) {
		land(writer, piece->turn);
		PUT(writer, "\x48\x83\x04\x25"); /* addq $counted, left */
		put_word(writer, STATE(left));
		put_byte(writer, piece->counted);
	}
	for (uint32_t i = 0; i < piece->slow_count; i++)
		land(writer, piece->slow[i]);
}

const unsigned char *record_stub_of(
	const struct site_record *site, uint32_t index, uintptr_t code_start, uintptr_t code_end)
{
	struct stub_region *region = record_region_for(code_start);
	struct piece piece = {
		.region = region, .site = site, .needs_d = record_stubs_needs_d(site)};
	unsigned char *start, *failed;

	if (!region)
		return NULL;
	piece.writer.at = region->at;
	if (!record_stubs_put_record(&piece))
		return NULL;
	start = piece.writer.at;
	if (!record_stubs_put_operand(&piece))
		return NULL;
	if (piece.needs_d) {
		PUT(&piece.writer, "\x48\x89\x54\x24"); /* mov %rdx, ...(%rsp) */
		put_byte(&piece.writer, SAVED_D);
	}
	if (!record_stubs_put_body(&piece, index, code_start, code_end))
		return NULL;
	record_stubs_put_ends(&piece);
	failed = piece.writer.at;
	record_stubs_put_end(&piece, true);
	if (record_stubs_is_of_word(piece.kind)) {
		failed = piece.writer.at;
		piece.kind = STUB_GENERAL;
		record_stubs_put_end(&piece, true);
	}
	*--region->pieces = (struct stub_piece){.start = (uint32_t)(start - region->start),
		.slow = (uint32_t)(failed - region->start)};
	region->piece_count++;
	region->at = piece.writer.at;
	return start;
}
