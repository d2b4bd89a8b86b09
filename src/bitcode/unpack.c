/*
 * Turns packed bitcode (abi/packed_bitcode.h) back into the bitcode that LLVM reads. LLVM's format can describe
 * the fields of a record by an abbreviation. This file writes records without one, which is simpler. Only a record
 * that contains a block of bytes (a blob) must have an abbreviation, and each of these gets its own.
 *
 * The file may be damaged. No column is therefore read beyond its end, and every count is compared with the
 * bytes that are left.
 */
#include "bitcode/unpack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/packed_bitcode.h"
#include "base/array.h"

#define MAGIC UINT32_C(0xdec04342)
#define DEPTH_MOST 16u

/* The abbreviation numbers that LLVM's bitstream format reserves. Such a number has OUTER_WIDTH bits
 * outside of all blocks, and WIDTH bits in the blocks that this file writes. */
enum { END_BLOCK, ENTER_BLOCK, DEFINE_ABBREVIATION, NO_ABBREVIATION, FIRST_ABBREVIATION };
#define OUTER_WIDTH 2u
#define WIDTH 3u
#define ABBREVIATIONS_MOST ((1u << WIDTH) - FIRST_ABBREVIATION)
/* Encodings that the definition of an abbreviation gives for its operands. */
#define ENCODING_VBR 2u
#define ENCODING_BLOB 5u

struct span {
	const unsigned char *at, *end;
};

struct column {
	struct span left;
	uint64_t before;
};

struct block {
	uint32_t number;
	uint32_t abbreviations;
	size_t length_at; /* in the output: the word for the length of the block */
};

struct unpack {
	struct span packed, structure;
	struct column *columns;
	uint64_t column_count;
	uint32_t *numbers; /* index in columns[] + 1, by packed_column(); 0: not used yet */
	uint32_t used;	   /* number of columns in use */
	struct block blocks[DEPTH_MOST];
	uint32_t depth;
	unsigned char *out;
	size_t bytes, capacity;
	uint64_t word; /* bits that are not in `out` yet */
	unsigned bits;
	bool has_failed;
};

static uint64_t unpack_number(struct unpack *unpack, struct span *from)
{
	uint64_t number = 0;

	for (unsigned shift = 0; from->at < from->end && shift < 64; shift += 7) {
		const unsigned char byte = *from->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	unpack->has_failed = true;
	return 0;
}

static struct span unpack_span(struct unpack *unpack, struct span *from, uint64_t size)
{
	struct span part = {from->at, from->at};

	if (size > (uint64_t)(from->end - from->at)) {
		unpack->has_failed = true;
		return part;
	}
	from->at += size;
	part.end = from->at;
	return part;
}

static void unpack_write_word(struct unpack *unpack, uint32_t word)
{
	if (unpack->bytes + sizeof word > unpack->capacity) {
		unpack->capacity = 2 * unpack->capacity + 4096;
		unpack->out = array_resize(unpack->out, unpack->capacity, 1);
	}
	memcpy(unpack->out + unpack->bytes, &word, sizeof word);
	unpack->bytes += sizeof word;
}

static void unpack_write_bits(struct unpack *unpack, uint32_t value, unsigned width)
{
	unpack->word |= (uint64_t)value << unpack->bits;
	unpack->bits += width;
	if (unpack->bits < 32)
		return;
	unpack_write_word(unpack, (uint32_t)unpack->word);
	unpack->word >>= 32;
	unpack->bits -= 32;
}

/* Writes a number in groups of `width` bits, whose highest bit says that another group follows. */
static void unpack_write_groups(struct unpack *unpack, uint64_t value, unsigned width)
{
	const uint32_t more = 1u << (width - 1);

	for (; value >= more; value >>= width - 1)
		unpack_write_bits(unpack, ((uint32_t)value & (more - 1)) | more, width);
	unpack_write_bits(unpack, (uint32_t)value, width);
}

static void unpack_align(struct unpack *unpack)
{
	if (unpack->bits)
		unpack_write_bits(unpack, 0, 32 - unpack->bits);
}

/* Returns the column that holds this position of the current block's records of this kind. Returns NULL if
 * the file has too few columns. */
static struct column *unpack_column(struct unpack *unpack, uint32_t code, uint32_t position)
{
	const struct block *block = &unpack->blocks[unpack->depth - 1];
	uint32_t *number = &unpack->numbers[packed_column(block->number, code, position)];

	if (!*number && unpack->used < unpack->column_count)
		*number = ++unpack->used;
	if (*number)
		return &unpack->columns[*number - 1];
	unpack->has_failed = true;
	return NULL;
}

static uint64_t unpack_operand(struct unpack *unpack, uint32_t code, uint64_t operand)
{
	struct column *column = unpack_column(unpack, code, packed_operand_position(operand));
	uint64_t number;

	if (!column)
		return 0;
	number = unpack_number(unpack, &column->left);
	if (packed_is_difference(unpack->blocks[unpack->depth - 1].number, code)) {
		number = column->before + (number & 1 ? -(number / 2 + 1) : number / 2);
		column->before = number;
	}
	return number;
}

/* Writes an abbreviation for a record with this number of operands and a blob. Returns its number. */
static uint32_t unpack_define(struct unpack *unpack, uint32_t code, uint64_t operands)
{
	struct block *block = &unpack->blocks[unpack->depth - 1];

	if (block->abbreviations == ABBREVIATIONS_MOST) {
		unpack->has_failed = true;
		return NO_ABBREVIATION;
	}
	unpack_write_bits(unpack, DEFINE_ABBREVIATION, WIDTH);
	unpack_write_groups(unpack, operands + 2, 5);
	unpack_write_bits(unpack, 1, 1); /* a literal */
	unpack_write_groups(unpack, code, 8);
	for (uint64_t i = 0; i < operands; i++) {
		unpack_write_bits(unpack, 0, 1);
		unpack_write_bits(unpack, ENCODING_VBR, 3);
		unpack_write_groups(unpack, 6, 5);
	}
	unpack_write_bits(unpack, 0, 1);
	unpack_write_bits(unpack, ENCODING_BLOB, 3);
	return FIRST_ABBREVIATION + block->abbreviations++;
}

static void unpack_blob(struct unpack *unpack, uint32_t code)
{
	struct column *column = unpack_column(unpack, code, PACKED_BLOB_POSITION);
	struct span blob;

	if (!column)
		return;
	blob = unpack_span(unpack, &column->left, unpack_number(unpack, &column->left));
	unpack_write_groups(unpack, (uint64_t)(blob.end - blob.at), 6);
	unpack_align(unpack);
	for (; blob.at < blob.end; blob.at++)
		unpack_write_bits(unpack, *blob.at, 8);
	unpack_align(unpack);
}

static void unpack_record(struct unpack *unpack, uint64_t code, bool has_blob)
{
	struct column *counts;
	uint64_t operands;

	if (!unpack->depth || code >= PACKED_CODES ||
		!(counts = unpack_column(unpack, (uint32_t)code, 0))) {
		unpack->has_failed = true;
		return;
	}
	operands = unpack_number(unpack, &counts->left);
	/* Each operand takes at least a byte. */
	if (operands > (uint64_t)(unpack->packed.end - unpack->packed.at)) {
		unpack->has_failed = true;
		return;
	}
	if (has_blob) {
		unpack_write_bits(unpack, unpack_define(unpack, (uint32_t)code, operands), WIDTH);
	} else {
		unpack_write_bits(unpack, NO_ABBREVIATION, WIDTH);
		unpack_write_groups(unpack, code, 6);
		unpack_write_groups(unpack, operands, 6);
	}
	for (uint64_t i = 0; i < operands && !unpack->has_failed; i++)
		unpack_write_groups(unpack, unpack_operand(unpack, (uint32_t)code, i), 6);
	if (has_blob)
		unpack_blob(unpack, (uint32_t)code);
}

static void unpack_enter(struct unpack *unpack, uint64_t number)
{
	if (unpack->depth == DEPTH_MOST || number >= PACKED_BLOCKS) {
		unpack->has_failed = true;
		return;
	}
	unpack_write_bits(unpack, ENTER_BLOCK, unpack->depth ? WIDTH : OUTER_WIDTH);
	unpack_write_groups(unpack, number, 8);
	unpack_write_groups(unpack, WIDTH, 4);
	unpack_align(unpack);
	unpack->blocks[unpack->depth++] =
		(struct block){.number = (uint32_t)number, .length_at = unpack->bytes};
	unpack_write_word(unpack, 0);
}

static void unpack_leave(struct unpack *unpack)
{
	uint32_t words;
	size_t at;

	if (!unpack->depth) {
		unpack->has_failed = true;
		return;
	}
	unpack_write_bits(unpack, END_BLOCK, WIDTH);
	unpack_align(unpack);
	at = unpack->blocks[--unpack->depth].length_at;
	words = (uint32_t)((unpack->bytes - at) / sizeof words) - 1;
	memcpy(unpack->out + at, &words, sizeof words);
}

static void unpack_items(struct unpack *unpack)
{
	while (unpack->structure.at < unpack->structure.end && !unpack->has_failed) {
		const uint64_t item = unpack_number(unpack, &unpack->structure);

		if (item == PACKED_END)
			unpack_leave(unpack);
		else if (item == PACKED_BLOCK)
			unpack_enter(unpack, unpack_number(unpack, &unpack->structure));
		else if (item == PACKED_BLOB)
			unpack_record(unpack, unpack_number(unpack, &unpack->structure), true);
		else
			unpack_record(unpack, item - PACKED_RECORD, false);
	}
	if (unpack->depth)
		unpack->has_failed = true;
}

static void unpack_find_columns(struct unpack *unpack)
{
	struct span sizes;

	unpack->column_count = unpack_number(unpack, &unpack->packed);
	/* Each size takes at least a byte. */
	if (unpack->column_count > (uint64_t)(unpack->packed.end - unpack->packed.at))
		unpack->has_failed = true;
	if (unpack->has_failed)
		return;
	sizes = unpack->packed;
	for (uint64_t i = 0; i < unpack->column_count; i++)
		(void)unpack_number(unpack, &unpack->packed);
	unpack->structure =
		unpack_span(unpack, &unpack->packed, unpack_number(unpack, &unpack->packed));
	unpack->columns = array_new(unpack->column_count, sizeof *unpack->columns);
	for (uint64_t i = 0; i < unpack->column_count; i++)
		unpack->columns[i].left =
			unpack_span(unpack, &unpack->packed, unpack_number(unpack, &sizes));
}

bool bitcode_unpack(
	const unsigned char *packed, size_t size, unsigned char **bitcode, size_t *bitcode_bytes)
{
	struct unpack unpack = {.packed = {packed, packed + size}};

	unpack.numbers = array_new(PACKED_COLUMNS, sizeof *unpack.numbers);
	unpack_find_columns(&unpack);
	unpack.packed.at = packed; /* bound of all further counts */
	unpack_write_word(&unpack, MAGIC);
	if (!unpack.has_failed)
		unpack_items(&unpack);
	free(unpack.columns);
	free(unpack.numbers);
	if (unpack.has_failed) {
		free(unpack.out);
		return false;
	}
	*bitcode = unpack.out;
	*bitcode_bytes = unpack.bytes;
	return true;
}
