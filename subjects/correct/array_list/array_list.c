/* EXPECT: passed runs=500 needs=memory */
/* The twin of array_list: a thread that iterates over a second list holds the locks of both. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

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
	const int size = list->size;
	pthread_mutex_unlock(&list->lock);
	return size;
}

static int list_get(struct list *list, int index)
{
	pthread_mutex_lock(&list->lock);
	assert(index < list->size);
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
	list->size = 0;
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
	pthread_mutex_lock(&other->lock);
	for (int i = 0; has_all && i < list_size(other); i++)
		has_all = list_has(list, list_get(other, i));
	pthread_mutex_unlock(&other->lock);
	pthread_mutex_unlock(&list->lock);
	return has_all;
}

static void *check(void *argument)
{
	*(bool *)argument = list_has_all(&approved, &wanted);
	return NULL;
}

static void *cancel(void *unused)
{
	list_clear(&wanted);
	return unused;
}

static void *approve(void *unused)
{
	list_add(&approved, 5);
	return unused;
}

int main(void)
{
	pthread_t checker, canceller, approver;
	bool has_all = false;

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
