/* A chained hash table: insertions, look-ups, removals. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 16384
#define KEYS 60000
#define ROUNDS 6

struct entry {
	struct entry *next;
	uint64_t key, value;
};

static struct entry *buckets[BUCKETS];
long hits;

static unsigned place_of(uint64_t key)
{
	return (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> 50);
}

static struct entry *find(uint64_t key)
{
	struct entry *entry = buckets[place_of(key)];

	while (entry && entry->key != key)
		entry = entry->next;
	return entry;
}

static void insert(uint64_t key, uint64_t value)
{
	struct entry **bucket = &buckets[place_of(key)];
	struct entry *entry = malloc(sizeof *entry);

	if (!entry)
		abort();
	*entry = (struct entry){*bucket, key, value};
	*bucket = entry;
}

static void take_out(uint64_t key)
{
	struct entry **link = &buckets[place_of(key)];

	while (*link && (*link)->key != key)
		link = &(*link)->next;
	if (*link) {
		struct entry *entry = *link;

		*link = entry->next;
		free(entry);
	}
}

int main(void)
{
	uint64_t sum = 0;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (uint64_t key = 0; key < KEYS; key++)
			insert(key * 7 + round, key ^ round);
		for (uint64_t key = 0; key < 3 * KEYS; key++) {
			const struct entry *entry = find(key * 3 + round);

			if (entry) {
				hits++;
				sum += entry->value;
			}
		}
		for (uint64_t key = 0; key < KEYS; key++)
			take_out(key * 7 + round);
	}
	printf("%llu %ld\n", (unsigned long long)sum, hits);
	return 0;
}
