/* 199 threads use one set of words, a hash table with a lock. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "run_time.h"

#ifndef SCALE
#define SCALE 1
#endif
#define WORKERS 199
#define ROUNDS (150 * SCALE)
#define WORD_BYTES 128
#define BUCKETS 4096

struct node {
	struct node *next;
	unsigned hash;
	char word[WORD_BYTES];
};

static struct {
	pthread_mutex_t lock;
	struct node *buckets[BUCKETS]; /* guarded by lock */
	long count;
} set = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned hash_of(const char *word)
{
	unsigned sum = 2166136261u;

	while (*word)
		sum = (sum ^ (unsigned char)*word++) * 16777619u;
	return sum;
}

/* Returns the place where the word is, or would be. */
static struct node **find(unsigned hash, const char *word)
{
	struct node **at = &set.buckets[hash % BUCKETS];

	while (*at && ((*at)->hash != hash || strcmp((*at)->word, word) != 0))
		at = &(*at)->next;
	return at;
}

static bool add(const char *word)
{
	const unsigned hash = hash_of(word);
	bool is_new;

	pthread_mutex_lock(&set.lock);
	struct node **const at = find(hash, word);

	is_new = !*at;
	if (is_new) {
		*at = calloc(1, sizeof **at);
		(*at)->hash = hash;
		strcpy((*at)->word, word);
		set.count++;
	}
	pthread_mutex_unlock(&set.lock);
	return is_new;
}

static bool take_out(const char *word)
{
	const unsigned hash = hash_of(word);

	pthread_mutex_lock(&set.lock);
	struct node **const at = find(hash, word);
	struct node *const node = *at;

	if (node) {
		*at = node->next;
		set.count--;
	}
	pthread_mutex_unlock(&set.lock);
	free(node);
	return node;
}

static void spell(char *word, unsigned number)
{
	for (int i = 0; i < WORD_BYTES - 1; i++) {
		number = number * 1103515245 + 12345;
		word[i] = (char)('a' + (number >> 16) % 26);
	}
	word[WORD_BYTES - 1] = '\0';
}

static void *work(void *argument)
{
	const unsigned thread = *(const unsigned *)argument;
	char word[WORD_BYTES];
	int added = 0, taken = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		spell(word, thread * ROUNDS + i);
		added += add(word);
		if (i % 8) /* most do not stay long */
			taken += take_out(word);
	}
	assert(added == ROUNDS && taken == ROUNDS - (ROUNDS + 7) / 8);
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];
	unsigned numbers[WORKERS];

	for (unsigned i = 0; i < WORKERS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	assert(set.count == WORKERS * ((ROUNDS + 7) / 8));
	run_ends();
	return 0;
}
