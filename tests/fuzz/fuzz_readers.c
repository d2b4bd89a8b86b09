/*
 * fuzz_readers schedule|trace|finding|memory|suppressions|sites|record ITERATIONS: damages a good file in many small ways and reads
 * it. The same every time. A trace has checksums that would hide its inside from damage, so in two of
 * three rounds the contents of one block are damaged and the sums are put right.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bug.h"
#include "fuzz/fuzz_targets.h"
#include "fuzz/mutate.h"
#include "record/record_file.h"
#include "support/sample_finding.h"
#include "support/sample_record.h"
#include "support/sample_sites.h"
#include "support/sample_trace.h"
#include "trace/trace_format_internal.h"

#define CAPACITY (1 << 16)

struct seed {
	uint8_t bytes[CAPACITY];
	size_t size;
};

/* ---- good files ---- */

static void seed_schedule(struct seed *seed)
{
	static const char text[] = "raddle schedule 1\n# by hand\nprogram ./bank \\x41\n"
				   "outcome deadlock\nsteps 20\nmain 12\nmain.0 3 preempts\n"
				   "value 1 of 3\nmain 1\nmain.0.2 4\n";

	seed->size = sizeof text - 1;
	memcpy(seed->bytes, text, seed->size);
}

static void seed_suppressions(struct seed *seed)
{
	static const char text[] = "# known\nrace:^counter$\nrace:std::*::push\nrace_top:log\n"
				   "called_from_lib:libz.so\nmutex:m\ndeadlock:d\n";

	seed->size = sizeof text - 1;
	memcpy(seed->bytes, text, seed->size);
}

static void seed_finding(struct seed *seed)
{
	struct finding finding = sample_finding();
	char *text = finding_to_json(&finding);

	seed->size = strlen(text);
	BUG_ON(seed->size > CAPACITY / 2);
	memcpy(seed->bytes, text, seed->size);
	free(text);
	finding_release(&finding);
}

static void seed_memory(struct seed *seed)
{
	static const char text[] =
		"{\"mode\":\"shared\",\"modules\":[{\"name\":\"00000000000000ab\",\"fingerprint\":"
		"\"00000000000000cd\",\"count\":90,\"on\":\"0-12,15,80-89\"}],\"points\":"
		"\"00000000000000110000000000000384ffffffffffffffff\","
		"\"racy\":\"0000000000000384\"}";

	seed->size = sizeof text - 1;
	memcpy(seed->bytes, text, seed->size);
}

static void seed_trace(struct seed *seed)
{
	char path[] = "/tmp/fuzz_trace.XXXXXX";
	const int fd = mkstemp(path);
	ssize_t size;

	BUG_ON(fd < 0 || write_sample_trace(path, 50, NULL));
	size = read(fd, seed->bytes, CAPACITY);
	BUG_ON(size <= 0 || size > CAPACITY / 2 || close(fd) || unlink(path));
	seed->size = (size_t)size;
}

static void seed_sites(struct seed *seed)
{
	seed->size = sample_sites(seed->bytes, CAPACITY);
}

/* The contents of the file: its checksum would hide them. */
static void seed_record(struct seed *seed)
{
	struct run_record record = sample_record();
	uint8_t *bytes = record_contents(&record, &seed->size);

	BUG_ON(seed->size > CAPACITY / 2);
	memcpy(seed->bytes, bytes, seed->size);
	free(bytes);
	run_record_release(&record);
}

/* ---- damage inside a block ---- */

/* Start of the block with that number, or of the last one. */
static size_t block_start(const uint8_t *bytes, size_t size, uint32_t number)
{
	size_t at = TRACE_HEADER_BYTES;

	while (number--) {
		const size_t next = at + TRACE_BLOCK_HEADER_BYTES + bytes_get(bytes + at + 12, 4);

		if (next >= size)
			break;
		at = next;
	}
	return at;
}

/* Damages the contents, or the head, of one block of a good trace and puts its sums right. */
static size_t mutate_block(struct rng *rng, uint8_t *bytes, size_t size)
{
	static uint8_t plain[CAPACITY], stored[CAPACITY], tail[CAPACITY];
	const size_t at = block_start(bytes, size, rng_below(rng, 4));
	uint8_t *header = bytes + at;
	const size_t old = bytes_get(header + 12, 4);
	const size_t rest = size - at - TRACE_BLOCK_HEADER_BYTES - old;
	size_t length =
		ZSTD_decompress(plain, sizeof plain, header + TRACE_BLOCK_HEADER_BYTES, old);

	BUG_ON(ZSTD_isError(length));
	memcpy(tail, bytes + size - rest, rest);
	length = mutate(rng, plain, length, CAPACITY / 4);
	if (!rng_below(rng, 4))
		(void)mutate(rng, header, 16, 16); /* kind, counts */
	bytes_put(header + 8, length, 4);
	length = ZSTD_compress(stored, sizeof stored, plain, length, 1);
	BUG_ON(ZSTD_isError(length));
	bytes_put(header + 12, length, 4);
	bytes_put(header + 16, hash_bytes(stored, length), 8);
	bytes_put(header + 24, hash_bytes(header, 24), 8);
	memcpy(header + TRACE_BLOCK_HEADER_BYTES, stored, length);
	memcpy(header + TRACE_BLOCK_HEADER_BYTES + length, tail, rest);
	return at + TRACE_BLOCK_HEADER_BYTES + length + rest;
}

/* ---- the run ---- */

static const struct reader {
	const char *name;
	fuzz_target *target;
	void (*make_seed)(struct seed *seed);
	bool has_blocks;
} readers[] = {
	{"schedule", fuzz_schedule, seed_schedule, false},
	{"trace", fuzz_trace, seed_trace, true},
	{"finding", fuzz_finding, seed_finding, false},
	{"memory", fuzz_memory, seed_memory, false},
	{"suppressions", fuzz_suppressions, seed_suppressions, false},
	{"sites", fuzz_sites, seed_sites, false},
	{"record", fuzz_record, seed_record, false},
};

static int fuzz(const struct reader *reader, unsigned long iterations)
{
	static struct seed good, bad;
	unsigned long accepted = 0;
	struct rng rng;

	reader->make_seed(&good);
	if (!reader->target(good.bytes, good.size)) {
		(void)fprintf(stderr, "the good file was refused\n");
		return 1;
	}
	rng_seed(&rng, 1);
	for (unsigned long i = 0; i < iterations; i++) {
		memcpy(bad.bytes, good.bytes, good.size);
		bad.size = reader->has_blocks && i % 3
				   ? mutate_block(&rng, bad.bytes, good.size)
				   : mutate(&rng, bad.bytes, good.size, CAPACITY);
		accepted += reader->target(bad.bytes, bad.size);
	}
	printf("%s: %lu damaged files, %lu still good\n", reader->name, iterations, accepted);
	/* All good, or none: then the damage did not reach the reader's inside. */
	return accepted == iterations || !accepted;
}

int main(int argc, char **argv)
{
	/* The readers' buffers of a megabyte are not to come anew from the kernel 20,000 times. */
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 25);
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 27);
	for (size_t i = 0; argc == 3 && i < sizeof readers / sizeof *readers; i++)
		if (!strcmp(argv[1], readers[i].name))
			return fuzz(&readers[i], strtoul(argv[2], NULL, 10));
	(void)fprintf(stderr,
		"usage: fuzz_readers schedule|trace|finding|memory|suppressions|sites|record ITERATIONS\n");
	return 2;
}
