/*
 * Chunks: parts of long runs that are small enough for one set of constraints (TAME, section 4,
 * partition). A chunk has one window of events per thread. Events before a window have happened as
 * recorded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "branches/solve/sensitivity_internal.h"

/* A run of this many windows is a single chunk. A global window has the same size. */
#define WINDOWS_TOGETHER 4

/* Limit of the estimated cost: about a second of building constraints. */
#define COST_MOST 200000
/* Shortening stops at this number of events. */
#define WINDOW_LEAST 20

/*
 * Number of other threads with a window in the chunk: those that write most of what the first
 * thread reads. All further threads stand still. Deviation from the paper, whose programs have few
 * threads: with two hundred threads the constraints become unusable.
 */
#define PARTNERS_MOST 3
/* Near windows need all threads that write to a counter, for example. */
#define PARTNERS_NEAR_MOST 8
/* A thread that the first one waits for precedes all writers as a partner. */
#define SCORE_OF_WAIT 1000

void chunk_open(struct chunk *chunk, const struct sensitivity *analysis)
{
	const uint32_t threads = analysis->order.thread_count;

	*chunk = (struct chunk){0};
	chunk->window.begin = array_new(threads + 1u, sizeof *chunk->window.begin);
	chunk->window.end = array_new(threads + 1u, sizeof *chunk->window.end);
}

void chunk_release(struct chunk *chunk)
{
	free(chunk->window.begin);
	free(chunk->window.end);
	*chunk = (struct chunk){0};
}

void chunk_rewind(struct chunk_cursor *cursor, const struct sensitivity *analysis, uint32_t window)
{
	free(cursor->ends);
	*cursor = (struct chunk_cursor){.window = window,
		.ends = array_new(analysis->order.thread_count + 1u, sizeof *cursor->ends)};
	for (uint32_t i = 0; i < analysis->order.thread_count; i++) {
		cursor->ends[i] = (uint32_t)analysis->walk.threads[i].first;
		cursor->global_end += analysis->walk.threads[i].first;
	}
}

bool chunk_is_all(const struct chunk *chunk, const struct sensitivity *analysis)
{
	for (uint32_t i = 0; i < analysis->order.thread_count; i++)
		if (chunk->window.begin[i] ||
			chunk->window.end[i] != analysis->walk.threads[i].count)
			return false;
	return true;
}

bool chunk_is_whole(const struct sensitivity *analysis, uint32_t window)
{
	return analysis->order.event_count <= (uint64_t)WINDOWS_TOGETHER * window;
}

static bool chunks_is_global(const struct sensitivity *analysis, uint32_t window)
{
	return analysis->options.is_global || chunk_is_whole(analysis, window);
}

static uint64_t chunks_global_size(const struct sensitivity *analysis, uint32_t window)
{
	return chunk_is_whole(analysis, window) ? analysis->order.event_count
						: (uint64_t)WINDOWS_TOGETHER * window;
}

/* The accesses of a window to one word; for a lock, `writes` are its critical sections. */
struct access_count {
	uint64_t
		key; /* of slots.h: the word plus one, or the complement of the address of the lock */
	uint64_t reads, writes;
};

static void chunks_count_accesses(
	const struct walk *walk, const struct order_window *window, struct slots *counts)
{
	for (uint32_t i = 0; i < walk->record->thread_count; i++)
		for (uint32_t j = window->begin[i]; j < window->end[i]; j++) {
			const struct walk_event *event = &walk->threads[i].events[j];
			struct access_count *word;

			if (!event_is_access(event))
				continue;
			word = slots_add(counts, sizeof *word, (event->address >> 3) + 1);
			word->reads += event->kind == EVENT_READ;
			word->writes += event->kind == EVENT_WRITE;
		}
}

static void chunks_count_sections(
	const struct order *order, const struct order_window *window, struct slots *counts)
{
	const struct order_sections *index = &order->by_thread;

	for (uint32_t i = 0; i < order->thread_count; i++)
		for (uint32_t j = order_sections_from(index, i, window->begin[i]);
			j < index->first[i + 1]; j++) {
			const struct order_section *section = &order->sections[index->items[j]];
			struct access_count *lock;

			if (section->begin >= window->end[i])
				break;
			if (section->end < window->begin[i])
				continue;
			lock = slots_add(counts, sizeof *lock, ~section->lock);
			lock->reads = 1;
			lock->writes++;
		}
}

/* Estimates how many logical terms the solver would get for this window of the run, and returns whether they are too many.
 * A word of memory that is read R times and written W times needs about R * W * W terms, which say which write each read
 * sees. Each pair of critical sections of one lock needs one more term for the order of the two. */
static bool chunks_is_too_large(
	const struct sensitivity *analysis, const struct order_window *window)
{
	struct slots counts = {0};
	const struct access_count *items;
	uint64_t cost = 0;

	chunks_count_accesses(&analysis->walk, window, &counts);
	chunks_count_sections(&analysis->order, window, &counts);
	items = counts.items;
	for (uint64_t i = 0; i < counts.capacity; i++)
		cost += items[i].reads * items[i].writes * items[i].writes;
	slots_release(&counts);
	return cost > COST_MOST;
}

/* Shortens windows until the cost is below the limit. */
static void chunks_shorten(const struct sensitivity *analysis, struct order_window *window)
{
	const struct walk *walk = &analysis->walk;

	for (uint32_t size = UINT32_MAX;
		size > WINDOW_LEAST && chunks_is_too_large(analysis, window);) {
		uint32_t longest = 0;

		for (uint32_t i = 0; i < walk->record->thread_count; i++)
			if (window->end[i] - window->begin[i] > longest)
				longest = window->end[i] - window->begin[i];
		size = longest / 2;
		for (uint32_t i = 0; i < walk->record->thread_count; i++)
			if (window->end[i] - window->begin[i] > size)
				window->end[i] = window->begin[i] + size;
	}
}

static void chunks_set_global_ends(const struct order *order, const struct chunk_cursor *cursor,
	uint64_t count, struct order_window *window)
{
	for (uint32_t i = 0; i < order->thread_count; i++)
		window->end[i] = window->begin[i] = cursor->ends[i];
	for (uint64_t i = 0; i < count; i++)
		window->end[order->events[cursor->global_end + i].thread]++;
}

static bool chunks_next_global(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk)
{
	const struct order *order = &analysis->order;
	const uint64_t room = order->event_count - cursor->global_end;
	const uint64_t wanted = chunks_global_size(analysis, cursor->window);
	uint64_t count = room < wanted ? room : wanted;

	chunks_set_global_ends(order, cursor, count, &chunk->window);
	while (count > WINDOW_LEAST && chunks_is_too_large(analysis, &chunk->window)) {
		count /= 2;
		chunks_set_global_ends(order, cursor, count, &chunk->window);
	}
	for (uint32_t i = 0; i < order->thread_count; i++)
		cursor->ends[i] = chunk->window.end[i];
	cursor->global_end += count;
	chunk->first = 0;
	chunk->last = order->thread_count - 1;
	return count > 0;
}

/* Returns the words that the thread reads in its window, sorted and unique. The caller frees the
 * list. */
static uint64_t *chunks_words_read(
	const struct walk *walk, const struct order_window *window, uint32_t thread, size_t *count)
{
	uint64_t *words =
		array_new(window->end[thread] - window->begin[thread] + 1u, sizeof *words);
	size_t unique = 0;

	*count = 0;
	for (uint32_t i = window->begin[thread]; i < window->end[thread]; i++)
		if (walk->threads[thread].events[i].kind == EVENT_READ)
			words[(*count)++] = walk->threads[thread].events[i].address >> 3;
	if (*count)
		qsort(words, *count, sizeof *words, compare_numbers);
	for (size_t i = 0, all = *count; i < all; i++)
		if (!i || words[i] != words[unique - 1])
			words[unique++] = words[i];
	*count = unique;
	return words;
}

/* Marks the words that the thread writes in its window. Returns how many no partner writes yet. */
static uint32_t chunks_words_written(const struct walk *walk, const struct order_window *window,
	uint32_t thread, const uint64_t *words, size_t count, bool *is_written)
{
	uint32_t written = 0;

	for (uint32_t i = window->begin[thread]; i < window->end[thread]; i++) {
		const struct walk_event *event = &walk->threads[thread].events[i];
		const uint64_t word = event->address >> 3;
		const uint64_t *found =
			event->kind == EVENT_WRITE && count
				? bsearch(&word, words, count, sizeof *words, compare_numbers)
				: NULL;

		written += found && !is_written[found - words];
		if (found)
			is_written[found - words] = true;
	}
	return written;
}

static void chunks_add_waits(const struct order *order, const struct order_window *window,
	uint32_t thread, uint32_t *scores)
{
	for (uint32_t i = 0; i < order->edge_count; i++) {
		const struct order_edge *edge = &order->edges[i];

		if (edge->second.thread == thread && edge->second.index >= window->begin[thread] &&
			edge->second.index < window->end[thread] &&
			edge->first.index >= window->begin[edge->first.thread])
			scores[edge->first.thread] += SCORE_OF_WAIT;
	}
}

/* Returns the thread with the highest score: waits, plus words read that no partner writes yet. */
static uint32_t chunks_best_partner(const struct sensitivity *analysis,
	const struct order_window *window, const uint64_t *words, size_t count,
	const bool *is_written, const uint32_t *waits, const bool *is_partner)
{
	FREE_SCOPED bool *own = array_new(count + 1, 1);
	uint32_t best = UINT32_MAX, most = 0;

	for (uint32_t i = 0; i < analysis->order.thread_count; i++) {
		uint32_t score;

		if (is_partner[i])
			continue;
		memcpy(own, is_written, count);
		score = 1 + waits[i] +
			chunks_words_written(&analysis->walk, window, i, words, count, own);
		if (score > most) {
			best = i;
			most = score;
		}
	}
	return best;
}

static void chunks_choose_partners(const struct sensitivity *analysis, struct order_window *window,
	uint32_t thread, bool is_near)
{
	const uint32_t threads = analysis->order.thread_count;
	FREE_SCOPED uint32_t *waits = array_new(threads + 1u, sizeof *waits);
	FREE_SCOPED bool *is_partner = array_new(threads + 1u, sizeof *is_partner);
	size_t count;
	FREE_SCOPED uint64_t *words = chunks_words_read(&analysis->walk, window, thread, &count);
	FREE_SCOPED bool *is_written = array_new(count + 1, sizeof *is_written);

	chunks_add_waits(&analysis->order, window, thread, waits);
	is_partner[thread] = true;
	for (uint32_t round = 0; round < (is_near ? PARTNERS_NEAR_MOST : PARTNERS_MOST); round++) {
		uint32_t best, written;

		/* The further partners of a near window write to any word that the thread reads. */
		if (round >= PARTNERS_MOST)
			memset(is_written, 0, count + 1);
		best = chunks_best_partner(
			analysis, window, words, count, is_written, waits, is_partner);
		if (best == UINT32_MAX)
			break;
		written = chunks_words_written(
			&analysis->walk, window, best, words, count, is_written);
		if (round >= PARTNERS_MOST && !written)
			break;
		is_partner[best] = true;
	}
	for (uint32_t i = 0; i < threads; i++)
		if (!is_partner[i])
			window->end[i] = window->begin[i];
}

/* Finds the previous event of the thread, or the event that created the thread. Returns false if
 * there is none. */
static bool chunks_find_before(
	const struct order *order, struct event_id event, struct event_id *out)
{
	if (event.index) {
		*out = (struct event_id){event.thread, event.index - 1};
		return true;
	}
	for (uint32_t i = 0; i < order->edge_count; i++) {
		const struct order_edge *edge = &order->edges[i];

		*out = edge->first;
		if (edge->second.thread == event.thread && edge->second.index == 0)
			return true;
	}
	return false;
}

/* Moves window beginnings behind everything that happened before the event in this run. */
static void chunks_add_past(
	const struct order *order, struct order_window *window, struct event_id event)
{
	struct event_id before;

	if (!chunks_find_before(order, event, &before))
		return;
	for (uint32_t i = 0; i < order->thread_count; i++) {
		const uint32_t count = order_clock_of(order, &order->pasts, before, (uint16_t)i);

		if (count > window->begin[i])
			window->begin[i] = count;
	}
}

/*
 * Windows begin where the threads stand when the thread reaches its event. Threads that do not
 * exist yet are created, unless that needs events of the thread's own window.
 */
static void chunks_begin_windows(
	const struct order *order, struct event_id event, struct order_window *window)
{
	for (uint32_t i = 0; i < order->thread_count; i++)
		window->begin[i] = (uint32_t)order->walk->threads[i].first;
	chunks_add_past(order, window, event);
	for (uint32_t i = 0; i < order->thread_count; i++) {
		const struct event_id first = {(uint16_t)i, 0};
		struct event_id creation;

		if (!window->begin[i] && chunks_find_before(order, first, &creation) &&
			order_clock_of(order, &order->pasts, creation, event.thread) <=
				window->begin[event.thread])
			chunks_add_past(order, window, first);
	}
}

/* Finds the next window, round robin: queries per location are limited, so that all threads get their
 * share. */
static bool chunks_find_window(const struct sensitivity *analysis, struct chunk_cursor *cursor)
{
	const uint32_t threads = analysis->order.thread_count;

	for (uint32_t i = 0; i < threads; i++) {
		const struct walked_thread *walked = &analysis->walk.threads[cursor->thread];
		uint32_t *begin = &cursor->ends[cursor->thread];

		if (*begin < walked->first)
			*begin = (uint32_t)walked->first;
		if (*begin < walked->count)
			return true;
		cursor->thread = (uint16_t)((cursor->thread + 1u) % threads);
	}
	return false;
}

/* Finds the next window of one thread. The windows of the other threads begin as early as
 * possible. */
static bool chunks_next_distributed(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk)
{
	const struct order *order = &analysis->order;
	const struct walk *walk = &analysis->walk;

	if (!chunks_find_window(analysis, cursor))
		return false;
	chunks_begin_windows(order, (struct event_id){cursor->thread, cursor->ends[cursor->thread]},
		&chunk->window);
	for (uint32_t i = 0; i < order->thread_count; i++) {
		const uint64_t end = chunk->window.begin[i] + (uint64_t)cursor->window;

		chunk->window.end[i] =
			(uint32_t)(end < walk->threads[i].count ? end : walk->threads[i].count);
	}
	if (order->thread_count > PARTNERS_MOST + 1)
		chunks_choose_partners(analysis, &chunk->window, cursor->thread,
			cursor->window <= SEARCH_NEAR_WINDOW);
	chunk->first = chunk->last = cursor->thread;
	chunks_shorten(analysis, &chunk->window);
	cursor->ends[cursor->thread] = chunk->window.end[cursor->thread];
	cursor->thread = (uint16_t)((cursor->thread + 1u) % order->thread_count);
	return true;
}

bool chunk_next(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk)
{
	return chunks_is_global(analysis, cursor->window)
		       ? chunks_next_global(analysis, cursor, chunk)
		       : chunks_next_distributed(analysis, cursor, chunk);
}

uint64_t chunk_count(const struct sensitivity *analysis, uint32_t window)
{
	const uint64_t events = analysis->order.event_count;
	uint64_t count = 0;

	if (chunks_is_global(analysis, window))
		return events ? (events - 1) / chunks_global_size(analysis, window) + 1 : 0;
	for (uint32_t i = 0; i < analysis->order.thread_count; i++)
		count += (analysis->walk.threads[i].count - analysis->walk.threads[i].first +
				 window - 1) /
			 window;
	return count;
}
