/* Entry of libFuzzer for the target that RADDLE_FUZZ_TARGET names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_targets.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t capacity);

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct fuzz_target *const targets[] = {
#define TARGET(name) &fuzz_target_##name,
#include "fuzz/fuzz_targets.def"
#undef TARGET
		&fuzz_target_walk};
	const char *name = getenv("RADDLE_FUZZ_TARGET");

	(void)argc;
	(void)argv;
	for (size_t i = 0; name && i < sizeof targets / sizeof *targets; i++)
		if (!strcmp(targets[i]->name, name))
			target = targets[i];
	if (target)
		return 0;
	(void)fprintf(stderr, "set RADDLE_FUZZ_TARGET to a name in fuzz_targets.def, or to walk\n");
	exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	(void)target->run(bytes, size); /* a broken promise ends the process */
	return 0;
}

/* Half of the inputs are damaged behind their checksums. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned int seed)
{
	struct rng rng;

	rng_seed(&rng, seed);
	if (!target->damage || rng_below(&rng, 2) || capacity > FUZZ_CAPACITY)
		return LLVMFuzzerMutate(bytes, size, capacity);
	return target->damage(&rng, bytes, size, capacity);
}
