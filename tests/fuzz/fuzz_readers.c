/*
 * fuzz_readers NAME ITERATIONS: reads the inputs of corpus/NAME, which once broke a promise of the target. Then damages a
 * valid input in many small ways, the same in every run.
 * fuzz_readers NAME --seed FILE: writes the valid input, the first entry of a corpus.
 */
#include <glob.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/fuzz_targets.h"
#include "fuzz/mutate.h"
#include "support/seeds.h"

static const struct fuzz_target *const targets[] = {
#define TARGET(name) &fuzz_target_##name,
#include "fuzz/fuzz_targets.def"
#undef TARGET
};

static bool readers_run_file(const struct fuzz_target *target, const char *path)
{
	static uint8_t bytes[FUZZ_CAPACITY];
	FILE *file = fopen(path, "r");
	const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;

	if (!size || fclose(file)) {
		perror(path);
		return false;
	}
	(void)target->run(bytes, size); /* a broken promise ends the process */
	return true;
}

static bool readers_run_corpus(const struct fuzz_target *target)
{
	char pattern[512];
	bool is_read = true;
	glob_t files;

	(void)snprintf(pattern, sizeof pattern, "%s/%s/*", FUZZ_CORPUS, target->name);
	if (glob(pattern, 0, NULL, &files) != 0)
		return true; /* most targets have no such input */
	for (size_t i = 0; i < files.gl_pathc; i++)
		is_read &= readers_run_file(target, files.gl_pathv[i]);
	printf("%s: %zu kept inputs\n", target->name, files.gl_pathc);
	globfree(&files);
	return is_read;
}

static int readers_fuzz(const struct fuzz_target *target, unsigned long iterations)
{
	static uint8_t valid[FUZZ_CAPACITY], damaged[FUZZ_CAPACITY];
	const size_t size = target->make_seed(valid, sizeof valid);
	unsigned long accepted = 0;
	struct rng rng;

	if (!readers_run_corpus(target))
		return 1;
	if (!target->run(valid, size)) {
		(void)fprintf(stderr, "%s: the valid input was refused\n", target->name);
		return 1;
	}
	rng_seed(&rng, 1);
	for (unsigned long i = 0; i < iterations; i++) {
		size_t changed;

		memcpy(damaged, valid, size);
		changed = target->damage ? target->damage(&rng, damaged, size, sizeof damaged)
					 : mutate(&rng, damaged, size, sizeof damaged);
		accepted += target->run(damaged, changed);
	}
	printf("%s: %lu damaged inputs, %lu accepted\n", target->name, iterations, accepted);
	/* All or none accepted: the damage did not reach the inside of the reader. */
	return accepted == iterations || !accepted;
}

static int readers_write_seed(const struct fuzz_target *target, const char *path)
{
	static uint8_t valid[FUZZ_CAPACITY];
	const size_t size = target->make_seed(valid, sizeof valid);
	FILE *file = fopen(path, "w");

	if (file && fwrite(valid, size, 1, file) == 1 && fclose(file) == 0)
		return 0;
	perror(path);
	return 1;
}

int main(int argc, char **argv)
{
	/* The kernel would otherwise map the readers' buffers of a megabyte anew in each iteration. */
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 25); /* slower where it fails */
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 27);
	for (size_t i = 0; argc > 2 && i < sizeof targets / sizeof *targets; i++) {
		if (strcmp(argv[1], targets[i]->name) != 0)
			continue;
		return argc == 4 && !strcmp(argv[2], "--seed")
			       ? readers_write_seed(targets[i], argv[3])
			       : readers_fuzz(targets[i], test_seeds(strtoul(argv[2], NULL, 10)));
	}
	(void)fprintf(stderr,
		"usage: fuzz_readers NAME ITERATIONS|--seed FILE; names: fuzz_targets.def\n");
	return 2;
}
