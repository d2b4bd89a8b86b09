/* random_program SEED [branches]: prints a random litmus test for orders.c, of two or three threads and at most seven
 * operations; with "branches": half of the reads end the thread if they read 0. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static unsigned draw(unsigned bound)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % bound;
}

/* Every store has its own value, so that outcomes tell the stores apart. */
static void print_operation(int *value, int has_branches)
{
	static const char *const kinds = "WWWWRRRRFXAC";
	static const char *const orders[] = {['W'] = "nrrlls",
		['R'] = "nrraas",
		['F'] = "albss",
		['X'] = "ralbs",
		['A'] = "rb",
		['C'] = "rs"};
	static const unsigned counts[] = {
		['W'] = 6, ['R'] = 6, ['F'] = 5, ['X'] = 5, ['A'] = 2, ['C'] = 2};
	const unsigned char kind = (unsigned char)kinds[draw(12)];

	printf("%c%c", kind, orders[kind][draw(counts[kind])]);
	if (kind == 'F')
		return;
	putchar("xxyyz"[draw(5)]);
	if (kind == 'A')
		putchar('1');
	else if (kind != 'R')
		printf("%d", (*value)++);
	if (has_branches && kind != 'W' && draw(2))
		fputs(" B", stdout);
}

int main(int argc, char **argv)
{
	int value = 1;

	if (argc != 2 && argc != 3)
		return 2;
	state = (uint64_t)strtoull(argv[1], NULL, 10) * 2654435761u + 1;
	(void)draw(1);
	const unsigned threads = 2 + draw(2);
	for (unsigned thread = 0; thread < threads; thread++) {
		const unsigned count = threads == 2 ? 2 + draw(2) : 1 + draw(2);

		for (unsigned i = 0; i < count; i++) {
			fputs(i ? " " : thread ? "|" : "", stdout);
			print_operation(&value, argc > 2);
		}
	}
	putchar('\n');
	return 0;
}
