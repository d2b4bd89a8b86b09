/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: array list (a synchronised list goes through another, which is locked for each step and not in between).
 *
 * Fails when: main.0 looks whether approved has all elements of wanted, with approved locked, and
 * finds that wanted has a further element; main.1 clears wanted; main.0 asks for the removed element.
 *
 * EXPECT-PATTERN: R1-W2-R1 wanted.size @size @clear @get
 * EXPECT-VIOLATION: R1-W2-R1 list_has_all list_clear @size @clear @get
 * EXPECT-BRANCH: assert(index < list->size); [bug]
 * EXPECT-BRANCH: for (int i = 0; has_all && i < list_size(other); i++) [benign]
 * EXPECT-BRANCH: for (int i = 0; i < list->size; i++) [benign]
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define CAPACITY 8

struct list {
	pthread_mutex_t lock;
	int size;		/* guarded by lock */
	int elements[CAPACITY]; /* guarded by lock */
};

static struct list approved = {PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, 4, {1, 2, 3, 4}};
static struct list wanted = {PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, 2, {2, 3}};

static int list_size(struct list *list)
{
	pthread_mutex_lock(&list->lock);
	const int size = list->size; /* @size */
	pthread_mutex_unlock(&list->lock);
	return size;
}

static int list_get(struct list *list, int index)
{
	pthread_mutex_lock(&list->lock);
	assert(index < list->size); /* @get */
	const int element = list->elements[index];
	pthread_mutex_unlock(&list->lock);
	return element;
}

static bool list_has(struct list *list, int element)
{
	bool has = false;

	pthread_mutex_lock(&list->lock);
	for (int i = 0; i < list->size; i++)
		has = has || list->elements[i] == element;
	pthread_mutex_unlock(&list->lock);
	return has;
}

static void list_clear(struct list *list)
{
	pthread_mutex_lock(&list->lock);
	list->size = 0; /* @clear */
	pthread_mutex_unlock(&list->lock);
}

static void list_add(struct list *list, int element)
{
	pthread_mutex_lock(&list->lock);
	assert(list->size < CAPACITY);
	list->elements[list->size] = element;
	list->size++;
	pthread_mutex_unlock(&list->lock);
}

/* Locks are always taken in this order: first list, second list. */
static bool list_has_all(struct list *list, struct list *other)
{
	bool has_all = true;

	pthread_mutex_lock(&list->lock);
	for (int i = 0; has_all && i < list_size(other); i++)
		has_all = list_has(list, list_get(other, i));
	pthread_mutex_unlock(&list->lock);
	return has_all;
}

static void *check(void *argument)
{
	*(bool *)argument = list_has_all(&approved, &wanted);
	return NULL;
}

/* Steps of its own that the second thread makes first: the first argument. */
static long steps_apart;

static void stay_apart(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
}

static void *cancel(void *unused)
{
	stay_apart();
	list_clear(&wanted);
	return unused;
}

static void *approve(void *unused)
{
	list_add(&approved, 5);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t checker, canceller, approver;
	bool has_all = false;

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	pthread_create(&checker, NULL, check, &has_all);
	pthread_create(&canceller, NULL, cancel, NULL);
	pthread_create(&approver, NULL, approve, NULL);
	pthread_join(checker, NULL);
	pthread_join(canceller, NULL);
	pthread_join(approver, NULL);
	assert(has_all);
	assert(wanted.size == 0 && approved.size == 5);
	return 0;
}
