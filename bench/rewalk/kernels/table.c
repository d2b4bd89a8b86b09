/* A hash table with chains and a list of what was used last. Two threads, now and then in the same one. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096
#define MOST 5000
#define TURNS 64

struct entry {
	struct entry *chain, *before, *behind;
	unsigned long key;
	char text[32];
};

struct table {
	struct entry *buckets[BUCKETS], *first, *last;
	int count;
	long hits, misses;
};

static long turns;
static struct table common;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned bucket_of(unsigned long key)
{
	return (unsigned)(key * 0x9e3779b97f4a7c15ul >> 52);
}

static void take_out(struct table *table, struct entry *entry)
{
	if (entry->before)
		entry->before->behind = entry->behind;
	else
		table->first = entry->behind;
	if (entry->behind)
		entry->behind->before = entry->before;
	else
		table->last = entry->before;
}

static void put_first(struct table *table, struct entry *entry)
{
	entry->before = NULL;
	entry->behind = table->first;
	if (table->first)
		table->first->before = entry;
	else
		table->last = entry;
	table->first = entry;
}

static struct entry *find(struct table *table, unsigned long key)
{
	for (struct entry *entry = table->buckets[bucket_of(key)]; entry; entry = entry->chain) {
		if (entry->key != key)
			continue;
		table->hits++;
		take_out(table, entry);
		put_first(table, entry);
		return entry;
	}
	table->misses++;
	return NULL;
}

static void add(struct table *table, unsigned long key)
{
	struct entry *entry, **at;

	if (table->count == MOST) {
		entry = table->last;
		take_out(table, entry);
		for (at = &table->buckets[bucket_of(entry->key)]; *at != entry; at = &(*at)->chain)
			;
		*at = entry->chain;
		table->count--;
	} else {
		entry = malloc(sizeof *entry);
	}
	entry->key = key;
	for (int i = 0; i < 31; i++)
		entry->text[i] = (char)('a' + (key + (unsigned long)i) % 26);
	entry->text[31] = 0;
	at = &table->buckets[bucket_of(key)];
	entry->chain = *at;
	*at = entry;
	put_first(table, entry);
	table->count++;
}

static void *worker(void *argument)
{
	struct table *own = calloc(1, sizeof *own);
	unsigned long random = 88172645463325252ul + (unsigned long)argument, sum = 0;

	for (long i = 0; i < turns; i++) {
		struct table *table = i % TURNS ? own : &common;
		struct entry *entry;
		unsigned long key;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		key = random & 3 ? (random >> 20) % 4000 : (random >> 20) % 20000;
		if (table == &common)
			pthread_mutex_lock(&lock);
		entry = find(table, key);
		if (!entry)
			add(table, key);
		else
			sum += (unsigned long)entry->text[key & 15];
		if (table == &common)
			pthread_mutex_unlock(&lock);
	}
	return (void *)(sum + (unsigned long)own->hits);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	turns = argc > 1 ? atol(argv[1]) : 100000;
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", common.hits);
	return 0;
}
