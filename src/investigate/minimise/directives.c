#include "investigate/minimise/directives.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void directives_release(struct directives *directives)
{
	free(directives->items);
	*directives = (struct directives){0};
}

static void directives_insert(
	struct directives *directives, uint32_t at, struct replay_directive directive)
{
	directives->items =
		array_room(directives->items, directives->count, sizeof *directives->items);
	memmove(directives->items + at + 1, directives->items + at,
		(directives->count - at) * sizeof *directives->items);
	directives->items[at] = directive;
	directives->count++;
}

/* The first item of the same thread with an equal or later `after`, else the end. */
static uint32_t directives_place_before_equals(
	const struct directives *directives, const struct replay_directive *directive)
{
	for (uint32_t i = 0; i < directives->count; i++)
		if (directives->items[i].thread == directive->thread &&
			directives->items[i].after >= directive->after)
			return i;
	return directives->count;
}

struct walk {
	const struct failure *failure;
	uint64_t *performed; /* ops performed, by thread index */
	uint32_t segment;
	uint32_t used;
	uint64_t step;
	uint16_t thread; /* thread of the last step; UINT16_MAX before the first step */
};

static void directives_walk_init(struct walk *walk, const struct failure *failure)
{
	*walk = (struct walk){.failure = failure, .thread = UINT16_MAX};
	walk->performed = array_new(THREAD_CAPACITY, sizeof *walk->performed);
}

static const struct schedule_segment *directives_walk_here(struct walk *walk)
{
	while (walk->segment < walk->failure->segment_count) {
		const struct schedule_segment *segment = &walk->failure->segments[walk->segment];

		/* A wild write of the target may leave an index beyond the table. */
		if (!(segment->flags & SEGMENT_VALUE) && segment->thread >= THREAD_CAPACITY)
			return NULL;
		if (!(segment->flags & SEGMENT_VALUE) && walk->used < segment->count)
			return segment;
		walk->segment++;
		walk->used = 0;
	}
	return NULL;
}

static void directives_walk_take(
	struct walk *walk, const struct schedule_segment *segment, uint32_t count)
{
	walk->thread = segment->thread;
	walk->performed[segment->thread] += count;
	walk->used += count;
	walk->step += count;
}

void directives_from_preemptions(struct directives *directives, const struct failure *failure)
{
	const struct schedule_segment *segment;
	struct walk walk;

	directives_release(directives);
	directives_walk_init(&walk, failure);
	while ((segment = directives_walk_here(&walk)) != NULL) {
		if (segment->flags & SEGMENT_PREEMPTS && walk.thread < failure->thread_count &&
			segment->thread < failure->thread_count && walk.thread != segment->thread)
			directives_insert(directives, directives->count,
				(struct replay_directive){
					.thread = failure->names[walk.thread],
					.next = failure->names[segment->thread],
					.after = walk.performed[walk.thread],
					.stalls = segment->flags & SEGMENT_STALLS,
				});
		directives_walk_take(&walk, segment, segment->count);
	}
	free(walk.performed);
}

/*
 * Adds the directive for the first difference, where `run` moved `moved` and `wanted` has
 * `instead`. A passing run leaves no names. A new directive precedes one that applied too early.
 */
static void directives_add_missing(struct directives *directives, const struct failure *wanted,
	const struct walk *run, uint16_t moved, const struct schedule_segment *instead)
{
	const thread_name *names = wanted->names;
	struct replay_directive missing = {.thread = names[moved],
		.next = names[instead->thread],
		.after = run->performed[moved],
		.stalls = instead->flags & SEGMENT_STALLS};

	for (uint32_t i = 0; i < directives->count; i++) {
		const struct replay_directive *directive = &directives->items[i];

		if (directive->next != names[moved])
			continue;
		for (uint32_t thread = 0; thread < wanted->thread_count; thread++) {
			if (names[thread] != directive->thread ||
				run->performed[thread] != directive->after)
				continue;
			missing.thread = directive->thread;
			missing.after = directive->after;
		}
	}
	directives_insert(
		directives, directives_place_before_equals(directives, &missing), missing);
}

bool directives_mend(struct directives *directives, const struct failure *wanted,
	const struct failure *run, uint64_t *parted_at)
{
	struct walk here;
	struct walk there;
	bool has_parted = false;

	directives_walk_init(&here, run);
	directives_walk_init(&there, wanted);
	for (;;) {
		const struct schedule_segment *now = directives_walk_here(&here);
		const struct schedule_segment *then = directives_walk_here(&there);
		uint32_t now_left, then_left;

		if (!now || !then)
			break;
		if (now->thread != then->thread) {
			*parted_at = here.step;
			if (then->thread < wanted->thread_count &&
				now->thread < wanted->thread_count)
				directives_add_missing(
					directives, wanted, &here, now->thread, then);
			has_parted = true;
			break;
		}
		now_left = now->count - here.used;
		then_left = then->count - there.used;
		directives_walk_take(&here, now, now_left < then_left ? now_left : then_left);
		directives_walk_take(&there, then, now_left < then_left ? now_left : then_left);
	}
	free(here.performed);
	free(there.performed);
	return has_parted;
}

void directives_without(
	struct directives *out, const struct directives *directives, uint32_t from, uint32_t to)
{
	directives_release(out);
	for (uint32_t i = 0; i < directives->count; i++)
		if (i < from || i >= to)
			directives_insert(out, out->count, directives->items[i]);
}
