/*
 * fuzz_walks PROGRAM RECORD --seed FILE: writes the contents of the record, without its checksum.
 * fuzz_walks PROGRAM RECORD ROUNDS: damages the record of a run of the program in many small ways
 * and walks it. The same every time. Mostly the entries of one thread or the operations are
 * damaged, which no reader examines; once in a while it is all that the file has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/mutate.h"
#include "fuzz/walk_target.h"
#include "model/op.h"
#include "branches/record/record_file.h"

#define ROUNDS_PER_FILE 40
/* Maximum number of bytes that damage may add. */
#define ROOM 4096

static void *copy_of(const void *bytes, size_t size)
{
	void *copy = malloc(size + ROOM);

	BUG_ON(!copy);
	memcpy(copy, bytes, size);
	return copy;
}

/* One number of an entry's kind: its tag, or how many reports it is behind. */
static void damage_number(struct rng *rng, uint8_t *bytes, size_t size)
{
	const size_t at = size ? rng_below64(rng, size) : 0;

	if (!size)
		return;
	if (rng_below(rng, 2))
		bytes[at] = (uint8_t)((bytes[at] & 0xf0) | rng_below(rng, RECORD_TAG_COUNT + 2));
	else
		bytes[at] = (uint8_t)(bytes[at] + 16 * (1 + rng_below(rng, 7)));
}

static void damage_thread(struct rng *rng, const struct run_record *good, struct run_record *bad)
{
	struct run_thread *threads = copy_of(good->threads, good->thread_count * sizeof *threads);
	struct run_thread *thread = &threads[rng_below(rng, good->thread_count)];

	thread->bytes = copy_of(thread->bytes, thread->size);
	if (rng_below(rng, 3))
		damage_number(rng, thread->bytes, thread->size);
	else
		thread->size = mutate(rng, thread->bytes, thread->size, thread->size + ROOM);
	bad->threads = threads;
}

/* Readers check these: what they let through. */
static void damage_op(struct rng *rng, const struct run_record *good, struct run_record *bad)
{
	struct record_op *op;

	bad->ops = copy_of(good->ops, good->op_count * sizeof *good->ops);
	if (!good->op_count)
		return;
	op = &bad->ops[rng_below64(rng, good->op_count)];
	switch (rng_below(rng, 4)) {
	case 0:
		op->kind = (uint8_t)rng_below(rng, OP_KIND_COUNT);
		return;
	case 1:
		op->thread = (uint16_t)rng_below(rng, good->thread_count);
		return;
	case 2:
		op->other = rng_below(rng, 2) ? UINT16_MAX
					      : (uint16_t)rng_below(rng, good->thread_count);
		return;
	default:
		op->address = rng_next(rng);
		op->flags = (uint8_t)rng_next(rng);
	}
}

static bool walk_damaged(struct rng *rng, struct walk_target *target, const struct run_record *good)
{
	struct run_record bad = *good;
	bool is_complete;

	if (rng_below(rng, 8))
		damage_thread(rng, good, &bad);
	else
		damage_op(rng, good, &bad);
	is_complete = walk_target_walk(target, &bad);
	if (bad.threads != good->threads) {
		for (uint32_t i = 0; i < bad.thread_count; i++)
			if (bad.threads[i].bytes != good->threads[i].bytes)
				free(bad.threads[i].bytes);
		free(bad.threads);
	}
	if (bad.ops != good->ops)
		free(bad.ops);
	return is_complete;
}

static bool walk_damaged_file(struct rng *rng, const struct run_record *good)
{
	size_t size;
	uint8_t *bytes = record_contents(good, &size);
	uint8_t *bad = copy_of(bytes, size);
	bool is_complete;

	size = mutate(rng, bad, size, size + ROOM);
	is_complete = fuzz_target_walk.run(bad, size);
	free(bytes);
	free(bad);
	return is_complete;
}

static int fuzz(struct walk_target *target, const struct run_record *good, unsigned long rounds)
{
	unsigned long complete = 0;
	struct rng rng;

	if (!walk_target_walk(target, good)) {
		(void)fprintf(stderr, "the good record was not walked to its end\n");
		return 1;
	}
	rng_seed(&rng, 1);
	for (unsigned long i = 1; i <= rounds; i++)
		complete += i % ROUNDS_PER_FILE ? walk_damaged(&rng, target, good)
						: walk_damaged_file(&rng, good);
	printf("%lu damaged records, %lu walked to their ends\n", rounds, complete);
	/* All, or none: then the damage did not reach the walk. */
	return complete == rounds || !complete;
}

static int walks_write_seed(const struct run_record *record, const char *path)
{
	size_t size;
	uint8_t *contents = record_contents(record, &size);
	FILE *file = fopen(path, "w");
	const bool is_written = file && fwrite(contents, size, 1, file) == 1 && fclose(file) == 0;

	free(contents);
	if (!is_written)
		perror(path);
	return !is_written;
}

int main(int argc, char **argv)
{
	struct walk_target target;
	struct run_record record;
	struct error err;
	int status;

	const bool writes_seed = argc == 5 && !strcmp(argv[3], "--seed");

	if (argc != 4 && !writes_seed) {
		(void)fprintf(stderr, "usage: fuzz_walks PROGRAM RECORD ROUNDS|--seed FILE\n");
		return 2;
	}
	BUG_ON(setenv("RADDLE_FUZZ_PROGRAM", argv[1], 1));
	status = record_file_read(&record, argv[2], &err);
	if (status == 0 && writes_seed) {
		status = walks_write_seed(&record, argv[4]);
		run_record_release(&record);
		return status;
	}
	if (status == 0)
		status = image_open(&target.image, &record, argv[1], &err);
	if (status) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	code_book_open(&target.book, &target.image);
	status = fuzz(&target, &record, strtoul(argv[3], NULL, 10));
	code_book_close(&target.book);
	image_close(&target.image);
	run_record_release(&record);
	return status;
}
