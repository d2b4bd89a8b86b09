#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "fuzz/fuzz_targets.h"
#include "fuzz/mutate.h"

#define PART_HEAD 5

void fuzz_check_refusal(int status, const struct error *err)
{
	BUG_ON(status >= 0 || err->code != status);
	BUG_ON(!strstr(err->text, "; ") || strchr(err->text, '\n'));
}

/* ---- a folder ---- */

static char support_folder[64];

static int support_remove_entry(
	const char *path, const struct stat *status, int kind, struct FTW *location)
{
	(void)status;
	(void)kind;
	(void)location;
	(void)remove(path); /* a temporary file that stays does no harm */
	return 0;
}

void fuzz_remove(const char *path)
{
	/* files that cannot be removed stay */
	(void)nftw(path, support_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void support_remove_folder(void)
{
	fuzz_remove(support_folder);
}

const char *fuzz_folder(void)
{
	if (*support_folder)
		return support_folder;
	/* The folder lies in memory if possible, because stores synchronise their files often. */
	strcpy(support_folder, access("/dev/shm", W_OK) ? "/tmp/raddle_fuzz.XXXXXX"
							: "/dev/shm/raddle_fuzz.XXXXXX");
	BUG_ON(!mkdtemp(support_folder) || atexit(support_remove_folder));
	return support_folder;
}

/* ---- parts ---- */

bool fuzz_part_next(struct fuzz_part *part, const uint8_t *bytes, size_t size, size_t *at)
{
	if (size - *at < PART_HEAD)
		return false;
	part->tag = bytes[*at];
	memcpy(&part->size, bytes + *at + 1, sizeof part->size);
	*at += PART_HEAD;
	if (part->size > size - *at)
		part->size = (uint32_t)(size - *at);
	part->bytes = bytes + *at;
	*at += part->size;
	return true;
}

size_t fuzz_part_add(uint8_t *input, size_t size, size_t capacity, uint8_t tag, const void *bytes,
	size_t part_size)
{
	const uint32_t stored = (uint32_t)part_size;

	BUG_ON(part_size > UINT32_MAX || size + PART_HEAD + part_size > capacity);
	input[size] = tag;
	memcpy(input + size + 1, &stored, sizeof stored);
	if (part_size)
		memcpy(input + size + PART_HEAD, bytes, part_size);
	return size + PART_HEAD + part_size;
}

size_t fuzz_part_damage(struct rng *rng, uint8_t *bytes, size_t size, size_t capacity)
{
	static uint8_t damaged[FUZZ_CAPACITY];
	struct fuzz_part part;
	uint32_t count = 0, chosen;
	size_t at = 0, out = 0;

	while (fuzz_part_next(&part, bytes, size, &at))
		count++;
	if (!count || capacity > sizeof damaged)
		return mutate(rng, bytes, size, capacity);
	chosen = rng_below(rng, count);
	at = 0;
	for (uint32_t i = 0; fuzz_part_next(&part, bytes, size, &at); i++) {
		const size_t head = out;

		if (out + PART_HEAD + part.size > capacity)
			break;
		out = fuzz_part_add(damaged, out, capacity, part.tag, part.bytes, part.size);
		if (i == chosen) {
			const size_t room = capacity - (size - at) - head - PART_HEAD;
			const uint32_t changed =
				(uint32_t)mutate(rng, damaged + head + PART_HEAD, part.size, room);

			memcpy(damaged + head + 1, &changed, sizeof changed);
			out = head + PART_HEAD + changed;
		}
	}
	memcpy(bytes, damaged, out);
	return out;
}
