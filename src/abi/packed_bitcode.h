/*
 * The form in which programs contain the bitcode of their units, before liblzma compresses it. LLVM packs
 * records into bits, which hardly compress. Here, each operand of each kind of record has a column of
 * its own, and the operands of one column resemble each other: the result is 40 per cent smaller.
 *
 * All numbers are LEB128. The content is:
 *	the number of columns, and the size of each in bytes
 *	the size of the structure, and the structure
 *	the columns, in the order in which the structure first uses them
 *
 * The structure is a list of items (enum packed_item) in the order of the bitcode. A record takes from its
 * columns: the number of its operands (position 0), each operand, and with PACKED_BLOB the size and bytes of
 * its blob. The packer leaves out abbreviations, and what names positions in the bitstream.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum packed_item {
	PACKED_END,   /* the current block ends */
	PACKED_BLOCK, /* the number of the block follows */
	PACKED_BLOB,  /* a record with a blob; its code follows */
	PACKED_RECORD /* a record; its code is added to this number */
};

/* More than the numbers of blocks, and of codes of records, that LLVM 19 uses. */
#define PACKED_BLOCKS 64u
#define PACKED_CODES 128u

/* A record has a column for each of these positions: the number of its operands; each of its first eight
 * operands; two for the others, which take turns, because long records are lists of pairs; and its blob. */
#define PACKED_FIRST_OPERAND 1u
#define PACKED_OWN_OPERANDS 8u
#define PACKED_BLOB_POSITION 11u
#define PACKED_POSITIONS 12u
#define PACKED_COLUMNS (PACKED_BLOCKS * PACKED_CODES * PACKED_POSITIONS)

/* Blocks and records of LLVM that packed_is_difference() names. */
#define PACKED_FUNCTION_BLOCK 12u
#define PACKED_METADATA_BLOCK 15u
#define PACKED_DEBUG_LOCATION 35u

static inline uint32_t packed_column(uint32_t block, uint32_t code, uint32_t position)
{
	return (block * PACKED_CODES + code) * PACKED_POSITIONS + position;
}

static inline uint32_t packed_operand_position(uint64_t operand)
{
	return PACKED_FIRST_OPERAND + (uint32_t)(operand < PACKED_OWN_OPERANDS
							 ? operand
							 : PACKED_OWN_OPERANDS + (operand & 1));
}

/* Operands of one kind of record are stored in columns. Returns whether a column of this kind holds the
 * difference of each number to the one before it, and not the number itself. Zigzag encoding keeps small negative differences short. */
static inline bool packed_is_difference(uint32_t block, uint32_t code)
{
	return block == PACKED_METADATA_BLOCK ||
	       (block == PACKED_FUNCTION_BLOCK && code == PACKED_DEBUG_LOCATION);
}
