/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: crawler (a spider tests whether addresses wait, and takes one; the lock is only around
 * the second).
 *
 * Fails when: main.0 sees that one address waits; main.1 takes it; main.0 takes an address, and there is
 * none.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-PATTERN: R1-W2-R1 waiting @more @take @top
 * EXPECT-VIOLATION: R1-W2-R1 take_next take_next @more @take @top
 * EXPECT-BRANCH: if (!has_waiting()) [benign|bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <raddle.h>

#define PAGES 6
#define SPIDERS 2

/* Each page has two links at most; 0 leads nowhere. */
static const int links[PAGES][2] = {{0, 0}, {2, 0}, {1, 3}, {4, 2}, {5, 0}, {0, 0}};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int waiting;  /* addresses in queue; guarded by lock */
static int queue[PAGES];      /* guarded by lock */
static bool is_known[PAGES];  /* guarded by lock */
static atomic_int page_count; /* read so far */

static void add_link(int page)
{
	pthread_mutex_lock(&lock);
	if (page != 0 && !is_known[page]) {
		is_known[page] = true;
		queue[waiting] = page;
		waiting = waiting + 1;
	}
	pthread_mutex_unlock(&lock);
}

static bool has_waiting(void)
{
	return waiting > 0; /* @more */
}

static int take_address(void)
{
	pthread_mutex_lock(&lock);
	const int last = waiting - 1; /* @top */

	assert(last >= 0);
	const int page = queue[last];
	waiting = last; /* @take */
	pthread_mutex_unlock(&lock);
	return page;
}

/* Returns false if no page waits. */
static bool take_next(int *page)
{
	if (!has_waiting())
		return false;
	*page = take_address();
	return true;
}

/* Its links are added each by itself. */
RADDLE_NOT_UNIT("read_page");

static void read_page(int page)
{
	atomic_fetch_add(&page_count, 1);
	for (int i = 0; i < 2; i++)
		add_link(links[page][i]);
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

static void *crawl(void *is_second)
{
	int page;

	if (is_second)
		stay_apart();
	while (take_next(&page))
		read_page(page);
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t spiders[SPIDERS];

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	add_link(1);
	for (int i = 0; i < SPIDERS; i++)
		pthread_create(&spiders[i], NULL, crawl, i ? &steps_apart : NULL);
	for (int i = 0; i < SPIDERS; i++)
		pthread_join(spiders[i], NULL);
	assert(atomic_load(&page_count) == PAGES - 1);
	return 0;
}
