/*
 * seeded CASE: five data races and three deadlocks, each behind a path that a usual schedule does not
 * take. ThreadSanitizer reports a race only in a run that takes the path and in which nothing orders
 * the accesses by accident.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ITEMS 4

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t third = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long value, total;
static int queued, users;
static bool is_stopping, is_ready;
static char *text;

/* The writer writes before its critical section. A reader whose section comes later is ordered by
 * accident; a reader whose section came earlier races. */
static void *accident_writer(void *unused)
{
	value = 1;
	pthread_mutex_lock(&first);
	queued++;
	pthread_mutex_unlock(&first);
	return unused;
}

static void *accident_reader(void *unused)
{
	usleep(2000);
	pthread_mutex_lock(&first);
	queued++;
	pthread_mutex_unlock(&first);
	total = value;
	return unused;
}

/* A full queue makes the producer count outside of the lock. */
static void *full_producer(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		bool is_full;

		pthread_mutex_lock(&first);
		is_full = queued >= 2;
		queued += !is_full;
		pthread_mutex_unlock(&first);
		if (is_full)
			total++;
		usleep(3000);
	}
	return unused;
}

static void *full_consumer(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		pthread_mutex_lock(&first);
		queued -= queued > 0;
		pthread_mutex_unlock(&first);
		usleep(100);
	}
	total++;
	return unused;
}

/* A worker that has seen no stop writes once more after its critical section. */
static void *stop_worker(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		bool stops;

		pthread_mutex_lock(&first);
		stops = is_stopping && users > 1;
		users += !is_stopping;
		pthread_mutex_unlock(&first);
		if (stops)
			text[0] = 'x';
	}
	return unused;
}

static void *stop_main(void *unused)
{
	usleep(2000);
	pthread_mutex_lock(&first);
	is_stopping = true;
	pthread_mutex_unlock(&first);
	text[0] = 'y';
	return unused;
}

/* The second user of a new value adds to it outside of the lock, and counts itself only then. A third
 * user that comes in between does the same. */
static void *second_user(void *number)
{
	bool is_second;

	usleep((useconds_t)(long)number * 3000);
	pthread_mutex_lock(&first);
	is_second = queued == 1;
	queued += !is_second;
	pthread_mutex_unlock(&first);
	if (!is_second)
		return NULL;
	value++;
	pthread_mutex_lock(&first);
	queued++;
	pthread_mutex_unlock(&first);
	return NULL;
}

/* The last user frees; a user that comes between the test and the free still reads. */
static void *last_user(void *number)
{
	bool is_last, is_first;

	if (number)
		usleep(3000);
	pthread_mutex_lock(&first);
	users++;
	pthread_mutex_unlock(&first);
	pthread_mutex_lock(&first);
	is_last = --users == 0;
	is_first = !queued;
	queued += is_last;
	pthread_mutex_unlock(&first);
	if (is_last && is_first)
		total = text[1];
	else if (!is_last)
		text[1] = 'z';
	return NULL;
}

/* Opposite orders, one of them only while a request is queued. */
static void *order_client(void *unused)
{
	pthread_mutex_lock(&first);
	__atomic_fetch_add(&queued, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&second);
	__atomic_fetch_sub(&queued, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	return unused;
}

static void *order_server(void *unused)
{
	pthread_mutex_lock(&second);
	if (__atomic_load_n(&queued, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&first);
		pthread_mutex_unlock(&first);
	}
	pthread_mutex_unlock(&second);
	return unused;
}

/* Three locks in a circle; the third thread closes the circle only after the others have begun. */
static void *circle(void *number)
{
	pthread_mutex_t *const locks[] = {&first, &second, &third};
	const long own = (long)number;

	pthread_mutex_lock(locks[own]);
	__atomic_fetch_add(&users, 1, __ATOMIC_RELAXED);
	if (own < 2 || __atomic_load_n(&users, __ATOMIC_RELAXED) == 3) {
		pthread_mutex_lock(locks[(own + 1) % 3]);
		pthread_mutex_unlock(locks[(own + 1) % 3]);
	}
	__atomic_fetch_sub(&users, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(locks[own]);
	return NULL;
}

/* The waiter tests the state before it locks, so the only signal can come in between. */
static void *wait_once(void *unused)
{
	if (!__atomic_load_n(&is_ready, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&first);
		pthread_cond_wait(&changed, &first);
		pthread_mutex_unlock(&first);
	}
	return unused;
}

static void *signal_once(void *unused)
{
	usleep(3000);
	pthread_mutex_lock(&first);
	__atomic_store_n(&is_ready, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&first);
	return unused;
}

static const struct seeded {
	const char *name;
	void *(*bodies[3])(void *);
} cases[] = {
	{"accident", {accident_writer, accident_reader}},
	{"full", {full_producer, full_consumer}},
	{"stop", {stop_worker, stop_main}},
	{"second", {second_user, second_user, second_user}},
	{"last", {last_user, last_user}},
	{"order", {order_client, order_server}},
	{"circle", {circle, circle, circle}},
	{"signal", {wait_once, signal_once}},
};

int main(int count, char **arguments)
{
	const struct seeded *chosen = NULL;
	pthread_t threads[3];
	long made = 0;

	for (size_t i = 0; count == 2 && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].name, arguments[1]) == 0)
			chosen = &cases[i];
	if (!chosen)
		return 2;
	text = calloc(1, 16);
	if (!text)
		return 2;
	for (; made < 3 && chosen->bodies[made]; made++)
		if (pthread_create(&threads[made], NULL, chosen->bodies[made], (void *)made) != 0)
			return 2;
	while (made--)
		pthread_join(threads[made], NULL);
	free(text);
	return 0;
}
