/*
 * scribbles PLACE SEED: two threads lock a mutex in turn. At a step that SEED chooses, one of them writes random words over the
 * mappings that the process shares with others, which /proc/self/maps lists. PLACE: `words`, few of them, anywhere; `start`, few of
 * them in the first 24 KB; `contract`, the same in the contract only; `flood`, all of the first 20 KB; `none`;
 * `image`, one word of a mapping that is sealed; `edges` writes nothing, and checks the neighbours of these mappings.
 * scribbles pid PID: names that process as its own in the contract, and then computes without an end.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/contract.h"

#define TURNS 12
#define START_BYTES 24576u
#define FLOOD_BYTES 20480u

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *place;
static uint64_t state;
static unsigned turn, chosen_turn;
static uint32_t named;

static uint64_t next_random(void)
{
	state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t mixed = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

static void write_words(char *start, size_t bytes, unsigned count)
{
	while (count--) {
		const size_t at = next_random() % (bytes / 8) * 8;
		const unsigned size = 1u << next_random() % 4;
		const uint64_t word = next_random() % 4 ? next_random() : next_random() % 8;

		memcpy(start + at, &word, size);
	}
}

static void scribble(char *start, size_t bytes)
{
	if (strcmp(place, "words") == 0)
		write_words(
			start, next_random() % 2 || bytes < START_BYTES ? bytes : START_BYTES, 64);
	else if (strcmp(place, "image") == 0)
		write_words(start, bytes, 1);
	else if (strcmp(place, "pid") == 0)
		memcpy(start + offsetof(struct contract, guest_pid), &named, sizeof named);
	else if (strcmp(place, "start") == 0 || strcmp(place, "contract") == 0)
		write_words(start, bytes < START_BYTES ? bytes : START_BYTES,
			1 + (unsigned)(next_random() % 16));
	else if (strcmp(place, "flood") == 0)
		for (size_t at = 0; at < FLOOD_BYTES && at < bytes; at += 8)
			memcpy(start + at, &(uint64_t){next_random()}, 8);
}

static void scribble_all(void)
{
	const char *wanted = strcmp(place, "image") == 0 ? "r--s" : "rw-s";
	const bool has_contract_only = strcmp(place, "contract") == 0 || strcmp(place, "pid") == 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char rights[8], line[512];

	while (maps && fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3 &&
			strcmp(rights, wanted) == 0 &&
			(!has_contract_only || strstr(line, "raddle-contract")))
			scribble((char *)start, end - start);
	if (maps)
		(void)fclose(maps);
	while (strcmp(place, "pid") == 0)
		continue;
}

/* Aborts if a shared mapping adjoins accessible memory of the program. */
static void check_edges(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, last_end = 0;
	bool is_last_shared = false;
	char rights[8], line[512];

	while (maps && fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3 || rights[0] == '-')
			continue;
		if (start == last_end && is_last_shared != (rights[3] == 's'))
			abort();
		last_end = end;
		is_last_shared = rights[3] == 's';
	}
	if (maps)
		(void)fclose(maps);
}

static void *take_turns(void *unused)
{
	for (int i = 0; i < TURNS; i++) {
		(void)pthread_mutex_lock(&mutex);
		if (turn++ == chosen_turn && strcmp(place, "edges") == 0)
			check_edges();
		else if (turn - 1 == chosen_turn)
			scribble_all();
		(void)pthread_mutex_unlock(&mutex);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc != 3)
		return 0;
	place = argv[1];
	state = strtoull(argv[2], NULL, 10);
	named = (uint32_t)state;
	chosen_turn = (unsigned)(next_random() % (2 * TURNS));
	(void)pthread_create(&threads[0], NULL, take_turns, NULL);
	(void)pthread_create(&threads[1], NULL, take_turns, NULL);
	(void)pthread_join(threads[0], NULL);
	(void)pthread_join(threads[1], NULL);
	return 0;
}
