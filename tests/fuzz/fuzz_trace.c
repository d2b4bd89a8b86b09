/*
 * The reader of traces. Blocks have checksums, so damage is applied to the contents of one block, and the sums are
 * computed again.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bug.h"
#include "fuzz/fuzz_targets.h"
#include "fuzz/mutate.h"
#include "support/sample_trace.h"
#include "trace/trace_format_internal.h"
#include "trace/trace_reader.h"

static bool trace_run_reader(const uint8_t *bytes, size_t size)
{
	struct trace_reader *reader;
	const struct trace_event *events;
	struct error err = {0};
	uint64_t seen = 0;
	uint32_t count = 1;
	int status = trace_reader_open(&reader, bytes, size, "fuzz", &err);

	if (status) {
		fuzz_check_refusal(status, &err);
		return false;
	}
	while (!(status = trace_reader_next(reader, &events, &count, &err)) && count) {
		const struct trace_run *run = trace_reader_run(reader);

		seen += count;
		for (uint32_t i = 0; i < count; i++)
			BUG_ON(events[i].thread >= run->thread_count ||
				events[i].kind >= OP_KIND_COUNT);
	}
	if (status)
		fuzz_check_refusal(status, &err);
	else
		BUG_ON(seen != trace_reader_run(reader)->event_count);
	trace_reader_close(reader);
	return !status;
}

static size_t trace_make_seed(uint8_t *bytes, size_t capacity)
{
	size_t size;
	char *sample = make_sample_trace(50, &size);

	BUG_ON(size > capacity / 2);
	memcpy(bytes, sample, size);
	free(sample);
	return size;
}

/* Start of the block with that number, or of the last block; 0: `bytes` are no blocks of a trace. */
static size_t trace_block_start(const uint8_t *bytes, size_t size, uint32_t number)
{
	size_t at = TRACE_HEADER_BYTES, start = 0;

	while (size >= TRACE_BLOCK_HEADER_BYTES && at <= size - TRACE_BLOCK_HEADER_BYTES) {
		const size_t stored = bytes_get(bytes + at + 12, 4);

		if (stored > size - at - TRACE_BLOCK_HEADER_BYTES)
			break;
		start = at;
		at += TRACE_BLOCK_HEADER_BYTES + stored;
		if (!number--)
			break;
	}
	return start;
}

/* Replaces the contents of the block at `at`, `old` bytes, and computes its sums again. Returns the new size of the trace. */
static size_t trace_replace_block(uint8_t *bytes, size_t size, size_t at, size_t old,
	const uint8_t *contents, size_t length, size_t capacity)
{
	static uint8_t stored[FUZZ_CAPACITY], tail[FUZZ_CAPACITY];
	const size_t rest = size - at - TRACE_BLOCK_HEADER_BYTES - old;
	const size_t packed = ZSTD_compress(stored, sizeof stored, contents, length, 1);
	uint8_t *header = bytes + at;

	if (ZSTD_isError(packed) || rest > sizeof tail ||
		at + TRACE_BLOCK_HEADER_BYTES + packed + rest > capacity)
		return size;
	memcpy(tail, bytes + size - rest, rest);
	bytes_put(header + 8, length, 4);
	bytes_put(header + 12, packed, 4);
	bytes_put(header + 16, hash_bytes(stored, packed), 8);
	bytes_put(header + 24, hash_bytes(header, 24), 8);
	memcpy(header + TRACE_BLOCK_HEADER_BYTES, stored, packed);
	memcpy(header + TRACE_BLOCK_HEADER_BYTES + packed, tail, rest);
	return at + TRACE_BLOCK_HEADER_BYTES + packed + rest;
}

/* Damages the contents of one block, or its kind and counts; one trace in three is damaged as plain bytes. */
static size_t trace_damage(struct rng *rng, uint8_t *bytes, size_t size, size_t capacity)
{
	static uint8_t plain[FUZZ_CAPACITY];
	const size_t at = rng_below(rng, 3) ? trace_block_start(bytes, size, rng_below(rng, 4)) : 0;
	uint8_t *header = bytes + at;
	size_t old, length;

	if (!at)
		return mutate(rng, bytes, size, capacity);
	old = bytes_get(header + 12, 4);
	length = ZSTD_decompress(plain, sizeof plain, header + TRACE_BLOCK_HEADER_BYTES, old);
	if (ZSTD_isError(length))
		return mutate(rng, bytes, size, capacity);
	length = mutate(rng, plain, length, sizeof plain);
	if (!rng_below(rng, 4))
		(void)mutate(rng, header, 16, 16); /* the size stays */
	return trace_replace_block(bytes, size, at, old, plain, length, capacity);
}

const struct fuzz_target fuzz_target_trace = {.name = "trace",
	.run = trace_run_reader,
	.make_seed = trace_make_seed,
	.damage = trace_damage};
