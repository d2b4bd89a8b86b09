/* 199 threads use one ordered set of words, a treap with a lock. */
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
#define ROUNDS (100 * SCALE)
#define WORD_BYTES 128

struct node {
	struct node *left, *right;
	unsigned weight; /* children have smaller weights */
	char word[WORD_BYTES];
};

static struct {
	pthread_mutex_t lock;
	struct node *root; /* guarded by lock */
	long count;
} set = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct node *merge(struct node *left, struct node *right)
{
	if (!left || !right)
		return left ? left : right;
	if (left->weight > right->weight) {
		left->right = merge(left->right, right);
		return left;
	}
	right->left = merge(left, right->left);
	return right;
}

/* Into those before the word, and the others. */
static void split(struct node *node, const char *word, struct node **before, struct node **behind)
{
	if (!node) {
		*before = *behind = NULL;
	} else if (strcmp(node->word, word) < 0) {
		split(node->right, word, &node->right, behind);
		*before = node;
	} else {
		split(node->left, word, before, &node->left);
		*behind = node;
	}
}

static struct node **find(const char *word)
{
	struct node **at = &set.root;
	int order;

	while (*at && (order = strcmp(word, (*at)->word)) != 0)
		at = order < 0 ? &(*at)->left : &(*at)->right;
	return at;
}

static bool add(const char *word, unsigned weight)
{
	struct node *before, *behind;
	bool is_new;

	pthread_mutex_lock(&set.lock);
	is_new = !*find(word);
	if (is_new) {
		struct node *const node = calloc(1, sizeof *node);

		node->weight = weight;
		strcpy(node->word, word);
		split(set.root, word, &before, &behind);
		set.root = merge(merge(before, node), behind);
		set.count++;
	}
	pthread_mutex_unlock(&set.lock);
	return is_new;
}

static bool take_out(const char *word)
{
	pthread_mutex_lock(&set.lock);
	struct node **const at = find(word);
	struct node *const node = *at;

	if (node) {
		*at = merge(node->left, node->right);
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
		const unsigned number = (thread * ROUNDS + i) * 2654435761u;

		spell(word, number);
		added += add(word, number ^ number >> 15);
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
