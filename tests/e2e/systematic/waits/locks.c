/* argv[2] threads make argv[3] rounds with the lock, ring or flag that argv[1] names. Each waits in a loop. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

#define THREADS_MOST 4

static word_atomic wants[2], turn, next, serving, sequence;
static flag_atomic lock;
static flag_atomic full;
static int counter, slot;
static int rounds;

static void use_peterson(int self)
{
	const int other = 1 - self;

	STORE(wants[self], 1);
	STORE(turn, other);
	while (LOAD(wants[other]) && LOAD(turn) == other)
		;
	counter++;
	STORE(wants[self], 0);
}

static void use_dekker(int self)
{
	const int other = 1 - self;

	STORE(wants[self], 1);
	while (LOAD(wants[other])) {
		if (LOAD(turn) == self)
			continue;
		STORE(wants[self], 0);
		while (LOAD(turn) != self)
			;
		STORE(wants[self], 1);
	}
	counter++;
	STORE(turn, other);
	STORE(wants[self], 0);
}

static void use_exchange(int self)
{
	(void)self;
	while (EXCHANGE(lock, true))
		;
	counter++;
	STORE(lock, false);
}

static void use_replacement(int self)
{
	bool expected = false;

	(void)self;
	while (!REPLACE(lock, expected, true))
		expected = false;
	counter++;
	STORE(lock, false);
}

static void use_test_and_exchange(int self)
{
	(void)self;
	do {
		while (LOAD(lock))
			;
	} while (EXCHANGE(lock, true));
	counter++;
	STORE(lock, false);
}

static void use_ticket(int self)
{
	const int mine = ADD(next, 1);

	(void)self;
	while (LOAD(serving) != mine)
		;
	counter++;
	STORE(serving, mine + 1);
}

struct node {
	POINTER_ATOMIC(struct node) next;
	flag_atomic waits;
};

static POINTER_ATOMIC(struct node) tail;
static struct node nodes[THREADS_MOST];

/* Mellor-Crummey and Scott: each waits for its own flag. */
static void use_queue(int self)
{
	struct node *mine = &nodes[self], *expected = mine, *none = NULL, *before;

	STORE(mine->next, none);
	STORE(mine->waits, true);
	before = EXCHANGE(tail, mine);
	if (before) {
		STORE(before->next, mine);
		while (LOAD(mine->waits))
			;
	}
	counter++;
	if (!LOAD(mine->next)) {
		if (REPLACE(tail, expected, none))
			return;
		while (!LOAD(mine->next))
			;
	}
	STORE(LOAD(mine->next)->waits, false);
}

/* A ring of one slot, from thread 0 to thread 1. */
static void use_ring(int self)
{
	if (self) {
		while (!LOAD(full))
			;
		if (slot != counter)
			abort();
		STORE(full, false);
	} else {
		while (LOAD(full))
			;
		slot = ++counter;
		STORE(full, true);
	}
}

static word_atomic first, second;

static void use_sequence(int self)
{
	int before, a, b;

	if (!self) {
		STORE(sequence, LOAD(sequence) + 1);
		STORE(first, LOAD(first) + 1);
		STORE(second, LOAD(second) + 1);
		STORE(sequence, LOAD(sequence) + 1);
		return;
	}
	do {
		while ((before = LOAD(sequence)) & 1)
			;
		a = LOAD(first);
		b = LOAD(second);
	} while (LOAD(sequence) != before);
	if (a != b)
		abort();
}

/* Each thread waits for either of two words that nobody sets. */
static void use_nothing(int self)
{
	while (!LOAD(wants[self]) && !LOAD(turn))
		;
}

static const struct {
	const char *name;
	void (*use)(int self);
	bool excludes;
} kinds[] = {
	{"peterson", use_peterson, true},
	{"dekker", use_dekker, true},
	{"exchange", use_exchange, true},
	{"replacement", use_replacement, true},
	{"test_and_exchange", use_test_and_exchange, true},
	{"ticket", use_ticket, true},
	{"queue", use_queue, true},
	{"ring", use_ring, false},
	{"sequence", use_sequence, false},
	{"nothing", use_nothing, false},
};

static void (*use)(int self);

static void *body(void *number)
{
	for (int i = 0; i < rounds; i++)
		use((int)(long)number);
	return NULL;
}

int main(int argc, char **argv)
{
	const int count = argc == 4 ? atoi(argv[2]) : 0;
	pthread_t threads[THREADS_MOST];
	bool excludes = false;

	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (argc != 4 || strcmp(argv[1], kinds[i].name) != 0)
			continue;
		use = kinds[i].use;
		excludes = kinds[i].excludes;
	}
	if (!use || count < 1 || count > THREADS_MOST)
		return 2;
	rounds = atoi(argv[3]);
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, body, (void *)i);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return excludes && counter != count * rounds;
}
