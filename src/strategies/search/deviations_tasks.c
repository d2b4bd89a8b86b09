/*
 * Tasks of a deviation search: children of one kind and level, known long before they are made. A
 * task explores a range of points, in a state with only their records and ancestors. The join
 * appends the task's records, as if the owner had made the runs. The owner's range is first,
 * followed by those of the tasks and the free range. Ranges become shorter towards the end, where a
 * long task would be wasted.
 */
#include "strategies/search/deviations.h"

#include <string.h>

#define POINTS_LEAST 8
#define POINTS_MOST 16384
/* A task gets 1/SHARE of the free range, and leaves the rest to later tasks. */
#define SHARE 4

/* `record` may be one behind the last. */
struct position {
	uint32_t record, ordinal;
};

static struct position deviations_tasks_end_of_all(const struct deviations *deviations)
{
	return (struct position){
		deviations->kind == DEVIATION_COSTLY ? deviations->level_end : deviations->count,
		0};
}

/* Continues to `end` at most; `passed` receives the number of points. */
static struct position deviations_tasks_continue(struct deviations *deviations,
	struct position from, struct position end, uint64_t points, uint64_t *passed)
{
	const struct deviation_record *records = deviations_records(deviations);

	*passed = 0;
	while (from.record < end.record || from.ordinal < end.ordinal) {
		const uint32_t last = from.record < end.record
					      ? records[from.record].points[deviations->kind]
					      : end.ordinal;
		const uint64_t here = last > from.ordinal ? last - from.ordinal : 0;

		if (here >= points - *passed) {
			from.ordinal += (uint32_t)(points - *passed);
			*passed = points;
			return from;
		}
		*passed += here;
		if (from.record == end.record)
			return end;
		from = (struct position){from.record + 1, 0};
	}
	return end;
}

/* The standard run gets parent DEVIATIONS_NONE, because its new position is not known yet. */
static struct deviation_record deviations_tasks_ancestor(
	struct deviations *deviations, uint32_t record)
{
	struct deviation_record copy = deviations_records(deviations)[record];

	if (copy.parent == record)
		copy.parent = DEVIATIONS_NONE;
	return copy;
}

/* Parents are in the order of their children: hardly any is copied twice. */
static void deviations_tasks_give_records(
	struct deviations *deviations, struct deviations *task, uint32_t first, uint32_t count)
{
	struct deviation_record *records = deviations_records(task);
	uint32_t last = DEVIATIONS_NONE; /* the parent copied last */

	for (uint32_t i = 0; i < count; i++)
		records[i] = deviations_tasks_ancestor(deviations, first + i);
	task->count = count;
	for (uint32_t i = 0; i < task->count; i++) {
		const uint32_t parent = records[i].parent;

		if (parent == DEVIATIONS_NONE) {
			records[i].parent = i;
		} else if (parent >= first && parent - first < count) {
			records[i].parent = parent - first;
		} else if (parent == last) {
			records[i].parent = task->count - 1;
		} else if (task->count < task->capacity) {
			records[i].parent = task->count;
			records[task->count++] =
				deviations_tasks_ancestor(deviations, last = parent);
		} else {
			task->is_lost = true;
			return;
		}
	}
}

static void deviations_tasks_give(struct deviations *deviations, struct deviations *task,
	uint32_t number, struct position start, struct position end)
{
	memcpy(task, deviations, deviations->records_at);
	task->task = number;
	task->limit_count = 0;
	task->runs = task->runs_elsewhere = task->diverged_runs = task->points_tried =
		task->children_made = 0;
	task->given_first = start.record;
	task->last_child.record = DEVIATIONS_NONE;
	task->before.ordinal = deviations_own_point_before(deviations, start.record, start.ordinal);
	task->has_before = false;
	deviations_tasks_give_records(
		deviations, task, start.record, end.record - start.record + (end.ordinal != 0));
	task->count_given = task->count;
	task->record = 0;
	task->ordinal = start.ordinal;
	task->alternative = 0;
	task->end_record = end.record - start.record;
	task->end_ordinal = end.ordinal;
	if (!task->is_lost)
		deviations_find_child(task);
}

static uint64_t deviations_tasks_points_for(const struct deviations *deviations, uint64_t runs)
{
	const uint64_t tried = deviations->points_tried + 1, made = deviations->children_made + 1;

	return runs / made >= UINT64_MAX / tried ? UINT64_MAX : runs * tried / made;
}

static bool deviations_tasks_may_split(const struct deviations *deviations)
{
	return deviations->has_standard && !deviations->is_exhausted && !deviations->is_lost &&
	       !deviations->awaited && deviations->limit_count < DEVIATIONS_TASKS_MOST;
}

static struct position deviations_tasks_start_of_free(
	const struct deviations *deviations, struct position here)
{
	const struct deviation_limit *farthest = &deviations->limits[0];

	return deviations->limit_count
		       ? (struct position){farthest->end_record, farthest->end_ordinal}
		       : here;
}

static bool deviations_split(
	void *state, void *block, uint32_t number, uint64_t most, bool is_exact)
{
	struct deviations *deviations = state, *task = block;
	const struct position here = {
		deviations->record, deviations->ordinal + (deviations->alternative != 0)};
	const struct position all = deviations_tasks_end_of_all(deviations);
	uint64_t wanted, ahead, size, points;
	struct position free, start, end;

	(void)is_exact; /* joins are always exact */
	if (!deviations_tasks_may_split(deviations))
		return false;
	wanted = deviations_tasks_points_for(deviations, most);
	free = deviations_tasks_start_of_free(deviations, here);
	(void)deviations_tasks_continue(deviations, here, free, UINT64_MAX, &ahead);
	if (wanted <= ahead)
		return false;
	wanted -= ahead;
	if (wanted > (uint64_t)SHARE * POINTS_MOST)
		wanted = (uint64_t)SHARE * POINTS_MOST;
	(void)deviations_tasks_continue(deviations, free, all, wanted, &points);
	size = points / SHARE;
	if (size < POINTS_LEAST)
		return false;
	/* The owner keeps the first range, unless other work is left for it. */
	start = ahead ? free : deviations_tasks_continue(deviations, free, all, size, &points);
	end = deviations_tasks_continue(deviations, start, all, size, &points);
	deviations_tasks_give(deviations, task, number, start, end);
	if (task->is_exhausted || task->is_lost)
		return false;
	memmove(&deviations->limits[1], &deviations->limits[0],
		deviations->limit_count * sizeof deviations->limits[0]);
	deviations->limits[0] = (struct deviation_limit){
		start.record, start.ordinal, end.record, end.ordinal, number};
	deviations->limit_count++;
	return true;
}

static void deviations_copy(void *to, const void *block)
{
	const struct deviations *from = block;

	memcpy(to, from, from->records_at + from->count * sizeof(struct deviation_record));
}

static uint32_t deviations_awaited(const void *state)
{
	return ((const struct deviations *)state)->awaited;
}

static uint64_t deviations_runs(const void *block)
{
	return ((const struct deviations *)block)->runs;
}

static void deviations_leave(void *state, uint32_t number)
{
	struct deviations *deviations = state;

	if (!number) {
		number = deviations->awaited;
		deviations->limit_count = 0;
	}
	for (uint32_t i = 0; i < deviations->limit_count; i++) {
		if (deviations->limits[i].task != number)
			continue;
		deviations->limit_count--;
		memmove(&deviations->limits[i], &deviations->limits[i + 1],
			(deviations->limit_count - i) * sizeof deviations->limits[i]);
	}
	if (!number || deviations->awaited != number)
		return;
	deviations->awaited = 0;
	deviations_find_child(deviations);
}

/* Neighbours must have equal prints: siblings, or a last child and its parent. */
static void deviations_tasks_join_children(
	struct deviations *deviations, const struct deviations *task)
{
	const struct deviation_child *last = &deviations->last_child;
	const struct deviation_record *record = &deviations_records(deviations)[task->given_first];

	if (last->record == task->given_first && last->kind == task->kind &&
		last->ordinal == task->before.ordinal)
		deviations->diverged_runs +=
			last->print !=
			(task->has_before ? task->before.print : record->prints[task->kind]);
	if (task->last_child.record == DEVIATIONS_NONE)
		return;
	deviations->last_child = task->last_child;
	deviations->last_child.record += task->given_first;
}

/* Returns whether the task's records are valid in the owner's state: each index lies within the
 * owner's records, and each parent has a smaller index than its child. */
static bool deviations_tasks_fits(const struct deviations *deviations, struct deviations *task)
{
	const struct deviation_record *records = deviations_records(task);
	const uint32_t added = task->count - task->count_given, first = task->given_first;

	if (added > deviations->capacity - deviations->count || first >= deviations->count ||
		task->record > deviations->count - first + added)
		return false;
	for (uint32_t i = 0; i < added; i++)
		if (records[task->count_given + i].parent >= deviations->count - first + i)
			return false;
	return true;
}

static bool deviations_join(void *state, void *block, bool is_exact)
{
	struct deviations *deviations = state, *task = block;
	const uint32_t added = task->count - task->count_given;

	(void)is_exact; /* joins are always exact */
	if (task->is_lost || !task->runs || !deviations_tasks_fits(deviations, task)) {
		deviations_leave(deviations, task->task);
		return false;
	}
	for (uint32_t i = 0; i < added; i++) {
		struct deviation_record *record =
			&deviations_records(deviations)[deviations->count++];

		*record = deviations_records(task)[task->count_given + i];
		record->parent += task->given_first;
	}
	deviations_tasks_join_children(deviations, task);
	deviations->runs += task->runs;
	deviations->runs_elsewhere += task->runs_elsewhere;
	deviations->diverged_runs += task->diverged_runs;
	deviations->points_tried += task->points_tried;
	deviations->children_made += task->children_made;
	deviations->record = task->given_first + task->record;
	deviations->ordinal = task->ordinal;
	deviations->alternative = task->alternative;
	deviations->alternatives = task->alternatives;
	deviations_leave(deviations, task->task);
	return true;
}

const struct strategy_tasks deviations_tasks = {
	.split = deviations_split,
	.copy = deviations_copy,
	.awaited = deviations_awaited,
	.runs = deviations_runs,
	.join = deviations_join,
	.leave = deviations_leave,
};
