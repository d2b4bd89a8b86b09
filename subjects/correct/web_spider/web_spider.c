/* EXPECT: passed runs=500 needs=memory */
/* The twin of web_spider: a spider tests and takes under one lock. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

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

/* 0: none waits. */
static int take_address(void)
{
	int page = 0;

	pthread_mutex_lock(&lock);
	if (waiting > 0) {
		waiting = waiting - 1;
		page = queue[waiting];
	}
	pthread_mutex_unlock(&lock);
	return page;
}

/* Its links are added each by itself. */
RADDLE_NOT_UNIT("read_page");

static void read_page(int page)
{
	atomic_fetch_add(&page_count, 1);
	for (int i = 0; i < 2; i++)
		add_link(links[page][i]);
}

static void *crawl(void *unused)
{
	int page;

	while ((page = take_address()) != 0)
		read_page(page);
	return unused;
}

int main(void)
{
	pthread_t spiders[SPIDERS];

	add_link(1);
	for (int i = 0; i < SPIDERS; i++)
		pthread_create(&spiders[i], NULL, crawl, NULL);
	for (int i = 0; i < SPIDERS; i++)
		pthread_join(spiders[i], NULL);
	assert(atomic_load(&page_count) == PAGES - 1);
	return 0;
}
