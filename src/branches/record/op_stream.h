/*
 * Compressed stream of ops. A *slot* (a hash of site, thread and kind) predicts the next op: the op
 * last seen in the slot that followed the current slot last time. A correctly predicted op has one
 * byte. Writer and reader keep the same state, initially all zero.
 *
 * Thread context: the recorder writes in the user's threads. The functions call nothing outside of
 * this folder's headers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "branches/record/record.h"

#define OP_STREAM_SLOTS 1024u
/* Maximum size of an op: nine numbers. */
#define OP_STREAM_MOST (9 * RECORD_NUMBER_MOST)

/*
 * An op without its step. The small fields share one word in a register. Comparing a fresh
 * record_op word by word would stall on store forwarding, which costs as much as the rest of the
 * function.
 */
struct op_stream_op {
	uint64_t address, argument, site;
	uint64_t what; /* thread, other, kind and flags, from the lowest bits up */
};

struct op_stream {
	struct op_stream_op last[OP_STREAM_SLOTS];
	uint16_t next[OP_STREAM_SLOTS]; /* the slot that followed each slot last time */
	uint16_t slot;			/* slot of the last op */
	uint64_t step;			/* step of the last op */
};

/* The low two bits of an op's first number. The upper bits count the steps since the last op. */
enum op_stream_tag {
	OP_AS_EXPECTED, /* the predicted slot and its last op */
	OP_AS_BEFORE,	/* operand: slot; its last op */
	OP_NEW,		/* operands: slot, then the differences from its last op */
	/* The expected op with another argument. Operand: the argument's difference. */
	OP_ARGUMENT
};

#define OP_STREAM_TAG_BITS 2

static inline struct op_stream_op op_stream_op_of(const struct record_op *op)
{
	return (struct op_stream_op){.address = op->address,
		.argument = op->argument,
		.site = op->site,
		.what = op->thread | (uint64_t)op->other << 16 | (uint64_t)op->kind << 32 |
			(uint64_t)op->flags << 40};
}

static inline uint16_t op_stream_slot(uint64_t site, uint16_t thread, uint8_t kind)
{
	const uint64_t hash = (site * 31 + thread * 7u + kind) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint16_t)(hash >> 54);
}

/* Returns whether both ops are equal except for the argument. */
static inline bool op_stream_is_equal(const struct op_stream_op *a, const struct op_stream_op *b)
{
	return a->address == b->address && a->site == b->site && a->what == b->what;
}

static inline bool op_stream_is_same(const struct op_stream_op *a, const struct op_stream_op *b)
{
	return op_stream_is_equal(a, b) && a->argument == b->argument;
}

static inline void op_stream_note(struct op_stream *stream, uint16_t slot, uint64_t step)
{
	stream->next[stream->slot] = slot;
	stream->slot = slot;
	stream->step = step;
}

/* Writes an op. `at` has room for OP_STREAM_MOST bytes. Returns the position after the op. */
static inline uint8_t *op_stream_write(
	struct op_stream *stream, const struct record_op *op, uint8_t *at)
{
	const uint16_t expected = stream->next[stream->slot];
	const uint64_t head = (op->step - stream->step) << OP_STREAM_TAG_BITS;
	const struct op_stream_op now = op_stream_op_of(op);
	struct op_stream_op *last;
	uint16_t slot;

	/* Equal ops have equal slots, so `expected` is this op's slot. */
	if (__builtin_expect(op_stream_is_same(&now, &stream->last[expected]), 1)) {
		stream->slot = expected;
		stream->step = op->step;
		return record_number_put(at, head | OP_AS_EXPECTED);
	}
	last = &stream->last[expected];
	if (op_stream_is_equal(&now, last)) {
		at = record_number_put(at, head | OP_ARGUMENT);
		at = record_number_put(at, record_difference(now.argument, last->argument, 8));
		last->argument = now.argument;
		op_stream_note(stream, expected, op->step);
		return at;
	}
	slot = op_stream_slot(op->site, op->thread, op->kind);
	last = &stream->last[slot];
	if (op_stream_is_same(&now, last)) {
		at = record_number_put(record_number_put(at, head | OP_AS_BEFORE), slot);
	} else {
		at = record_number_put(record_number_put(at, head | OP_NEW), slot);
		at = record_number_put(at, op->kind);
		at = record_number_put(at, op->flags);
		at = record_number_put(at, op->thread);
		at = record_number_put(at, op->other);
		at = record_number_put(at, record_difference(op->address, last->address, 8));
		at = record_number_put(at, record_difference(op->argument, last->argument, 8));
		at = record_number_put(at, record_difference(op->site, last->site, 8));
		*last = now;
	}
	op_stream_note(stream, slot, op->step);
	return at;
}

/* Numbers behind the end of the stream read as zero. */
static inline const uint8_t *op_stream_get(const uint8_t *at, const uint8_t *end, uint64_t *number)
{
	*number = 0;
	at = record_number_get(at, end, number);
	return at ? at : end;
}

/* Returns the position after the op. A stream that is cut short reads as zeros. */
static inline const uint8_t *op_stream_read(
	struct op_stream *stream, const uint8_t *at, const uint8_t *end, struct record_op *op)
{
	uint64_t head, slot = stream->next[stream->slot], fields[7];
	struct op_stream_op *last;
	enum op_stream_tag tag;

	at = op_stream_get(at, end, &head);
	tag = head & ((1u << OP_STREAM_TAG_BITS) - 1);
	if (tag == OP_AS_BEFORE || tag == OP_NEW)
		at = op_stream_get(at, end, &slot);
	slot %= OP_STREAM_SLOTS;
	last = &stream->last[slot];
	if (tag == OP_ARGUMENT) {
		at = op_stream_get(at, end, &fields[0]);
		last->argument = record_with_difference(fields[0], last->argument);
	}
	if (tag == OP_NEW) {
		for (uint32_t i = 0; i < 7; i++)
			at = op_stream_get(at, end, &fields[i]);
		last->what = (uint16_t)fields[2] | (uint64_t)(uint16_t)fields[3] << 16 |
			     (uint64_t)(uint8_t)fields[0] << 32 |
			     (uint64_t)(uint8_t)fields[1] << 40;
		last->address = record_with_difference(fields[4], last->address);
		last->argument = record_with_difference(fields[5], last->argument);
		last->site = record_with_difference(fields[6], last->site);
	}
	*op = (struct record_op){.step = stream->step + (head >> OP_STREAM_TAG_BITS),
		.address = last->address,
		.argument = last->argument,
		.site = last->site,
		.thread = (uint16_t)last->what,
		.other = (uint16_t)(last->what >> 16),
		.kind = (uint8_t)(last->what >> 32),
		.flags = (uint8_t)(last->what >> 40)};
	op_stream_note(stream, (uint16_t)slot, op->step);
	return at;
}
