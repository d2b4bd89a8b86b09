/*
 * store CLIENTS OPERATIONS: a store of sorted runs. Clients put and get keys in a skip list under a
 * lock. A background thread sorts full lists into blocks, compresses, checksums and merges them.
 * Most accesses are to memory of one thread: buffers, tables and copies of keys.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 8
#define LIST_ENTRIES 512
#define KEY_BYTES 16
#define VALUE_BYTES 96
#define RUN_BYTES (LIST_ENTRIES * (KEY_BYTES + VALUE_BYTES))
#define RUNS_MOST 4
#define FILTER_BITS 8192
#define MATCHES 1024

struct entry {
	char key[KEY_BYTES];
	char value[VALUE_BYTES];
	struct entry *next[LEVELS];
};

struct list {
	struct entry head;
	uint32_t count;
	uint32_t random;
};

struct run {
	uint32_t count, checksum, packed_bytes;
	unsigned char filter[FILTER_BITS / 8];
	unsigned char entries[RUN_BYTES];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t has_full, has_room;
	struct list *active, *full; /* guarded by lock */
	struct run *runs[RUNS_MOST];
	uint32_t run_count, clients, hits;
	uint64_t merged, dropped;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER,
	.has_full = PTHREAD_COND_INITIALIZER,
	.has_room = PTHREAD_COND_INITIALIZER};

static uint32_t operations;
static uint32_t crc_table[256];

static void crc_fill(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;

		for (int bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? UINT32_C(0xedb88320) : 0);
		crc_table[i] = value;
	}
}

static uint32_t crc_of(const unsigned char *bytes, size_t count)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < count; i++)
		crc = crc_table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
	return ~crc;
}

static uint32_t key_hash(const char *key, uint32_t seed)
{
	uint32_t hash = seed;

	for (int i = 0; i < KEY_BYTES; i++)
		hash = (hash ^ (unsigned char)key[i]) * UINT32_C(16777619);
	return hash;
}

static void filter_add(unsigned char *filter, const char *key)
{
	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t bit = key_hash(key, i) % FILTER_BITS;

		filter[bit / 8] |= (unsigned char)(1u << bit % 8);
	}
}

static int filter_has(const unsigned char *filter, const char *key)
{
	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t bit = key_hash(key, i) % FILTER_BITS;

		if (!(filter[bit / 8] >> bit % 8 & 1))
			return 0;
	}
	return 1;
}

static struct list *list_new(void)
{
	struct list *list = calloc(1, sizeof *list);

	list->random = 1;
	return list;
}

static struct entry *list_find(struct list *list, const char *key, struct entry **before)
{
	struct entry *at = &list->head;

	for (int level = LEVELS - 1; level >= 0; level--) {
		while (at->next[level] && memcmp(at->next[level]->key, key, KEY_BYTES) < 0)
			at = at->next[level];
		before[level] = at;
	}
	at = at->next[0];
	return at && memcmp(at->key, key, KEY_BYTES) == 0 ? at : NULL;
}

static void list_put(struct list *list, const char *key, const char *value)
{
	struct entry *before[LEVELS];
	struct entry *entry = list_find(list, key, before);
	int level = 0;

	if (!entry) {
		entry = calloc(1, sizeof *entry);
		memcpy(entry->key, key, KEY_BYTES);
		list->random = list->random * UINT32_C(1664525) + UINT32_C(1013904223);
		do {
			entry->next[level] = before[level]->next[level];
			before[level]->next[level] = entry;
		} while (++level < LEVELS && !(list->random >> (30 - 2 * level) & 3));
		list->count++;
	}
	memcpy(entry->value, value, VALUE_BYTES);
}

static void list_free(struct list *list)
{
	for (struct entry *at = list->head.next[0], *next; at; at = next) {
		next = at->next[0];
		free(at);
	}
	free(list);
}

/* A compressor of the Lempel-Ziv family that only counts. */
static uint32_t packed_bytes(const unsigned char *bytes, uint32_t count)
{
	uint32_t *last = calloc(MATCHES, sizeof *last);
	uint32_t size = 0;

	for (uint32_t at = 0; at + 4 < count;) {
		uint32_t word, match, length = 0;

		memcpy(&word, bytes + at, sizeof word);
		match = last[word * UINT32_C(2654435761) >> 22];
		last[word * UINT32_C(2654435761) >> 22] = at;
		while (match < at && at + length < count && length < 64 &&
			bytes[match + length] == bytes[at + length])
			length++;
		size += length > 4 ? 3 : 1;
		at += length > 4 ? length : 1;
	}
	free(last);
	return size;
}

static struct run *run_build(const struct list *list)
{
	struct run *run = calloc(1, sizeof *run);

	for (const struct entry *at = list->head.next[0]; at; at = at->next[0]) {
		unsigned char *to = run->entries + run->count++ * (KEY_BYTES + VALUE_BYTES);

		memcpy(to, at->key, KEY_BYTES);
		memcpy(to + KEY_BYTES, at->value, VALUE_BYTES);
		filter_add(run->filter, at->key);
	}
	return run;
}

static void run_seal(struct run *run)
{
	run->packed_bytes = packed_bytes(run->entries, sizeof run->entries);
	run->checksum = crc_of(run->entries, sizeof run->entries);
}

static const unsigned char *run_find(const struct run *run, const char *key)
{
	uint32_t low = 0, high = run->count;

	if (!filter_has(run->filter, key))
		return NULL;
	while (low < high) {
		const uint32_t middle = (low + high) / 2;
		const unsigned char *entry = run->entries + middle * (KEY_BYTES + VALUE_BYTES);
		const int order = memcmp(entry, key, KEY_BYTES);

		if (order == 0)
			return entry + KEY_BYTES;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Merges all runs into one, which keeps the first LIST_ENTRIES keys. */
static struct run *run_merge(struct run **runs, uint32_t count)
{
	struct run *merged = calloc(1, sizeof *merged);
	uint32_t at[RUNS_MOST] = {0};

	while (merged->count < LIST_ENTRIES) {
		const unsigned char *least = NULL;

		for (uint32_t i = 0; i < count; i++) {
			const unsigned char *entry =
				runs[i]->entries + at[i] * (KEY_BYTES + VALUE_BYTES);

			if (at[i] < runs[i]->count &&
				(!least || memcmp(entry, least, KEY_BYTES) < 0))
				least = entry;
		}
		if (!least)
			break;
		memcpy(merged->entries + merged->count++ * (KEY_BYTES + VALUE_BYTES), least,
			KEY_BYTES + VALUE_BYTES);
		filter_add(merged->filter, (const char *)least);
		for (uint32_t i = 0; i < count; i++)
			if (at[i] < runs[i]->count &&
				memcmp(runs[i]->entries + at[i] * (KEY_BYTES + VALUE_BYTES), least,
					KEY_BYTES) == 0)
				at[i]++;
	}
	return merged;
}

/* Only this thread removes runs: it reads them without the lock. */
static void compact(void)
{
	struct run *merged, *old[RUNS_MOST];
	uint32_t count = store.run_count;

	memcpy(old, store.runs, sizeof old);
	pthread_mutex_unlock(&store.lock);
	merged = run_merge(old, count);
	run_seal(merged);
	pthread_mutex_lock(&store.lock);
	store.runs[0] = merged;
	store.run_count = 1;
	store.merged++;
	for (uint32_t i = 0; i < count; i++)
		free(old[i]);
}

static void *background(void *unused)
{
	pthread_mutex_lock(&store.lock);
	for (;;) {
		struct list *list;
		struct run *run;

		while (!store.full && store.clients)
			pthread_cond_wait(&store.has_full, &store.lock);
		if (!(list = store.full))
			break;
		pthread_mutex_unlock(&store.lock);
		run = run_build(list);
		run_seal(run);
		pthread_mutex_lock(&store.lock);
		store.runs[store.run_count++] = run;
		store.full = NULL;
		list_free(list);
		pthread_cond_broadcast(&store.has_room);
		if (store.run_count == RUNS_MOST)
			compact();
	}
	pthread_mutex_unlock(&store.lock);
	return unused;
}

static void put(const char *key, const char *value)
{
	pthread_mutex_lock(&store.lock);
	while (store.active->count == LIST_ENTRIES) {
		if (store.full) {
			pthread_cond_wait(&store.has_room, &store.lock);
			continue;
		}
		store.full = store.active;
		store.active = list_new();
		pthread_cond_signal(&store.has_full);
	}
	list_put(store.active, key, value);
	pthread_mutex_unlock(&store.lock);
}

static int get(const char *key, char *value)
{
	struct entry *before[LEVELS];
	const struct entry *entry;
	const unsigned char *found = NULL;

	pthread_mutex_lock(&store.lock);
	entry = list_find(store.active, key, before);
	if (entry)
		found = (const unsigned char *)entry->value;
	for (uint32_t i = store.run_count; !found && i-- > 0;)
		found = run_find(store.runs[i], key);
	if (found)
		memcpy(value, found, VALUE_BYTES);
	store.hits += found != NULL;
	pthread_mutex_unlock(&store.lock);
	return found != NULL;
}

/* Computes a value from the key, as an application would. */
static void value_make(char *value, const char *key, uint32_t random)
{
	for (uint32_t round = 0; round < 8; round++)
		for (uint32_t i = 0; i < VALUE_BYTES; i++)
			value[i] = (char)('a' +
					  (key[i % KEY_BYTES] * (round + 1) + (random >> i % 8)) %
						  16);
}

static void *client(void *number)
{
	uint32_t random = (uint32_t)(uintptr_t)number;
	char key[KEY_BYTES], value[VALUE_BYTES];
	uint32_t sum = 0;

	for (uint32_t i = 0; i < operations; i++) {
		random = random * UINT32_C(1664525) + UINT32_C(1013904223);
		for (uint32_t digit = 0, left = random >> 12; digit < KEY_BYTES; digit++, left /= 4)
			key[digit] = (char)('0' + left % 4);
		if (random >> 8 & 1) {
			value_make(value, key, random);
			put(key, value);
		} else if (get(key, value)) {
			sum += crc_of((const unsigned char *)value, VALUE_BYTES);
		}
	}
	pthread_mutex_lock(&store.lock);
	store.clients--;
	store.dropped += sum & 1;
	pthread_cond_signal(&store.has_full);
	pthread_mutex_unlock(&store.lock);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[17];
	uint32_t clients;

	if (argc != 3 || (clients = (uint32_t)atoi(argv[1])) > 16)
		return 2;
	operations = (uint32_t)atoi(argv[2]);
	crc_fill();
	store.clients = clients;
	store.active = list_new();
	for (uint32_t i = 0; i < clients; i++)
		if (pthread_create(&threads[i], NULL, client, (void *)(uintptr_t)(i + 1)))
			return 2;
	if (pthread_create(&threads[clients], NULL, background, NULL))
		return 2;
	for (uint32_t i = 0; i <= clients; i++)
		pthread_join(threads[i], NULL);
	return store.clients != 0;
}
