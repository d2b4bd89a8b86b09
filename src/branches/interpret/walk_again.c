/*
 * Walks a run whose record is not stored: the source re-executes the run and delivers its record
 * piece by piece.
 *
 * The interpreter of a thread keeps its state on its call stack. A helper thread therefore walks
 * each recorded thread, and blocks when the thread's entries are used up. Exactly one of the source
 * and the helper threads runs at a time, and passes control by semaphores: the shared walk state
 * needs no locks.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "base/bug.h"
#include "branches/interpret/walk_internal.h"

struct walk_supply {
	struct walker walker;
	pthread_t thread;
	sem_t wake, asleep;
	bool is_last; /* entries end with the current piece */
	bool is_done;
};

struct feed {
	struct walk *walk;
	unsigned mode;
	struct walk_supply *supplies[THREAD_CAPACITY];
	uint32_t count;
};

static void walk_again_pass_on(sem_t *to, sem_t *wait_for)
{
	BUG_ON(sem_post(to) != 0);
	while (sem_wait(wait_for) != 0)
		; /* EINTR */
}

bool walk_more(struct walker *walker)
{
	struct walk_supply *supply = walker->supply;

	while (walker->at >= walker->end && !supply->is_last)
		walk_again_pass_on(&supply->asleep, &supply->wake);
	return walker->at < walker->end;
}

static void *walk_in_thread(void *argument)
{
	struct walk_supply *supply = argument;

	while (sem_wait(&supply->wake) != 0)
		; /* EINTR */
	walk_through(&supply->walker);
	supply->is_done = true;
	BUG_ON(sem_post(&supply->asleep) != 0);
	return NULL;
}

static void open_supply(struct feed *feed, uint16_t number)
{
	struct walk_supply *supply = calloc(1, sizeof *supply);

	BUG_ON(!supply);
	feed->supplies[number] = supply;
	walk_open_walker(&supply->walker, feed->walk, number, feed->mode);
	supply->walker.supply = supply;
	supply->walker.at = supply->walker.end = NULL;
	BUG_ON(sem_init(&supply->wake, 0, 0) != 0 || sem_init(&supply->asleep, 0, 0) != 0);
	BUG_ON(pthread_create(&supply->thread, NULL, walk_in_thread, supply) != 0);
}

static void close_supply(struct walk_supply *supply)
{
	/* Cannot fail: the thread is joined once, and no thread waits on the semaphores. */
	(void)pthread_join(supply->thread, NULL);
	(void)sem_destroy(&supply->wake);
	(void)sem_destroy(&supply->asleep);
	walk_close_walker(&supply->walker);
	free(supply);
}

/* Returns when the helper thread has used up the entries. */
static void supply_entries(
	struct walk_supply *supply, const uint8_t *bytes, uint64_t size, bool is_last)
{
	if (supply->is_done)
		return;
	supply->walker.at = bytes;
	supply->walker.end = bytes + size;
	supply->is_last = is_last;
	walk_again_pass_on(&supply->wake, &supply->asleep);
}

static bool is_behind_part(const struct feed *feed)
{
	bool is_behind = false;

	for (uint32_t i = 0; i < feed->count; i++) {
		const struct walker *walker = &feed->supplies[i]->walker;

		if (!feed->supplies[i]->is_done)
			return false;
		is_behind |= walker->has_passed;
	}
	return is_behind;
}

static bool take_piece(void *context, const struct run_record *piece, bool is_last)
{
	struct feed *feed = context;
	const uint32_t known = feed->walk->record->thread_count;

	while (feed->count < piece->thread_count && feed->count < known)
		open_supply(feed, (uint16_t)feed->count++);
	for (uint32_t i = 0; i < feed->count; i++)
		if (is_last || piece->threads[i].size)
			supply_entries(feed->supplies[i], piece->threads[i].bytes,
				piece->threads[i].size, is_last);
	return !code_book_is_interrupted(feed->walk->book) && !is_behind_part(feed);
}

void walk_run_again(struct walk *walk, unsigned mode)
{
	const struct run_record *record = walk->record;
	struct feed feed = {.walk = walk, .mode = mode};

	record->source->perform(record->source, record, take_piece, &feed);
	for (uint32_t i = 0; i < feed.count; i++) {
		supply_entries(feed.supplies[i], NULL, 0, true); /* when the source ended early */
		close_supply(feed.supplies[i]);
	}
}
