/*
 * Fuzz targets: each feeds arbitrary bytes to one reader and verifies the reader's promise. A broken promise ends the
 * process. fuzz_readers.c applies fixed damage to a valid input; libfuzzer_entry.c lets libFuzzer search.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/rng.h"

#define FUZZ_CAPACITY (1 << 16)

struct fuzz_target {
	const char *name;
	/* Returns true if the reader accepts the bytes. */
	bool (*run)(const uint8_t *bytes, size_t size);
	/* Writes a valid input of at most `capacity` bytes and returns its size; NULL: the caller brings one. */
	size_t (*make_seed)(uint8_t *bytes, size_t capacity);
	/* Damages a valid input behind its checksums and returns the new size; NULL: mutate() reaches everything. */
	size_t (*damage)(struct rng *rng, uint8_t *bytes, size_t size, size_t capacity);
};

#define TARGET(name) extern const struct fuzz_target fuzz_target_##name;
#include "fuzz/fuzz_targets.def"
#undef TARGET
extern const struct fuzz_target fuzz_target_walk; /* needs LLVM and a program */

/* The reader refused its input: the message must have one line with a cause and a remedy. */
void fuzz_check_refusal(int status, const struct error *err);

/*
 * A folder of this process in memory, for targets that need files; removed at exit. Never fails: the process ends
 * where no folder can be made.
 */
const char *fuzz_folder(void);
/* Removes a file, or a folder with its contents; links are not followed. */
void fuzz_remove(const char *path);

/* ---- inputs of several parts: each part is a tag byte, a size of 4 bytes, and its bytes ---- */

struct fuzz_part {
	uint8_t tag;
	uint32_t size;
	const uint8_t *bytes;
};

/* Reads the part at *at and advances *at. Returns false at the end; a cut part ends with the
 * input. */
bool fuzz_part_next(struct fuzz_part *part, const uint8_t *bytes, size_t size, size_t *at);
/* Appends a part; returns the new size of the input. The parts must fit. */
size_t fuzz_part_add(uint8_t *input, size_t size, size_t capacity, uint8_t tag, const void *bytes,
	size_t part_size);
/* Damages the bytes of one part and keeps the others. */
size_t fuzz_part_damage(struct rng *rng, uint8_t *bytes, size_t size, size_t capacity);
