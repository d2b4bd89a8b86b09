/*
 * generate MEGABYTES: prints this amount of data, always the same, which compressors reduce to about a third.
 * The data has words of a made-up language, tables of numbers, repeated blocks and random bytes in turn.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 65536
#define WORDS 4096
#define WORD_BYTES 12

static uint64_t state = 88172645463325252u;

/* xorshift64 (Marsaglia 2003): random enough, and the same everywhere. */
static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static char words[WORDS][WORD_BYTES + 1];

static void make_words(void)
{
	static const char letters[] = "etaoinshrdlucmfwypvbgkqjxz";

	for (int i = 0; i < WORDS; i++) {
		size_t length = 2 + next_random() % (WORD_BYTES - 2);

		for (size_t c = 0; c < length; c++) {
			/* The lesser of two draws: some letters are frequent. */
			uint64_t one = next_random() % 26;
			uint64_t other = next_random() % 26;

			words[i][c] = letters[one < other ? one : other];
		}
	}
}

static size_t fill_text(char *block, size_t length)
{
	uint64_t one = next_random() % WORDS;
	uint64_t other = next_random() % WORDS;

	return length + (size_t)sprintf(block + length, "%s ", words[one < other ? one : other]);
}

static size_t fill_numbers(char *block, size_t length)
{
	return length + (size_t)sprintf(block + length, "%08" PRIu64 ";%" PRIu64 "\n",
				UINT64_C(10000000) + length, next_random() % 1000);
}

static void fill(char *block, char *earlier, unsigned long number)
{
	size_t length = 0;

	switch (number % 8) {
	case 6: /* an earlier block with a few changes */
		memcpy(block, earlier, BLOCK_BYTES);
		for (int i = 0; i < 64; i++)
			block[next_random() % BLOCK_BYTES] = (char)next_random();
		return;
	case 7:
		for (; length < BLOCK_BYTES; length++)
			block[length] = (char)next_random();
		return;
	default:
		while (length < BLOCK_BYTES)
			length =
				number % 2 ? fill_numbers(block, length) : fill_text(block, length);
	}
	if (number % 8 == 0)
		memcpy(earlier, block, BLOCK_BYTES);
}

int main(int argc, char **argv)
{
	static char block[BLOCK_BYTES + 64]; /* a last word may stand over */
	static char earlier[BLOCK_BYTES];
	unsigned long count = argc == 2 ? strtoul(argv[1], NULL, 10) * 16 : 0;

	make_words();
	for (unsigned long i = 0; i < count; i++) {
		fill(block, earlier, i);
		if (fwrite(block, BLOCK_BYTES, 1, stdout) != 1)
			return 1;
	}
	return fflush(stdout) != 0;
}
