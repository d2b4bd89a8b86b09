/*
 * Tasks of bounded: children of a range of runs (run_tree_tasks.c). The task is dropped if either
 * state learns more threads or variables before the join. The owner alone knows equivalent earlier
 * runs. The join therefore checks the keys that the task noted, in the order of the runs.
 */
#include "strategies/search/bounded_internal.h"

#include <stddef.h>
#include <string.h>

/* A noted run, stored in the slots of `seen`, which a task does not use otherwise. */
struct noted_run {
	uint64_t key;
	uint64_t node; /* node in the task's tree; UINT32_MAX: none */
};

static struct noted_run *bounded_tasks_noted_runs(struct bounded *task)
{
	return (struct noted_run *)(void *)hash_set_begin(&task->seen);
}

void bounded_note_run(struct bounded *task, uint64_t key, uint32_t node)
{
	if (2 * (uint64_t)task->noted_count + 1 > task->seen.mask)
		task->is_lost = true;
	else
		bounded_tasks_noted_runs(task)[task->noted_count++] = (struct noted_run){key, node};
}

static uint64_t bounded_tasks_hash_knowledge(const struct bounded *bounded)
{
	const struct shared_variables *shared = &bounded->shared;
	const uint32_t count = shared->objects.count;
	uint64_t hash = hash_pair(hash_pair(count, shared->shared_count),
		hash_pair(shared->thread_names.count, bounded->names.count));

	hash = hash_pair(hash,
		hash_pair(bounded->threads_most, 2u * bounded->has_focus + bounded->has_paused));
	hash = hash_pair(hash, hash_bytes(shared->variable, count * sizeof *shared->variable));
	return hash_pair(hash, hash_bytes(shared->thread, count * sizeof *shared->thread));
}

static bool bounded_split(void *state, void *block, uint32_t number, uint64_t most, bool is_exact)
{
	struct bounded *bounded = state, *task = block;

	(void)is_exact; /* joins are always exact */
	if (!bounded->has_learnt || bounded->is_exhausted || bounded->is_lost ||
		!run_tree_split(
			&bounded->tree, &task->tree, number, most, bounded->shared.variable))
		return false;
	memcpy(task, bounded, offsetof(struct bounded, tree));
	task->task = number;
	task->runs_had = bounded->runs;
	task->elsewhere_had = bounded->runs_elsewhere;
	task->noted_count = 0;
	task->knowledge = bounded_tasks_hash_knowledge(bounded);
	return true;
}

static void bounded_copy(void *to, const void *block)
{
	/* The accessors need a non-const state; the block is not changed. */
	struct bounded *task = (struct bounded *)(uintptr_t)block, *copy = to;

	memcpy(copy, task, offsetof(struct bounded, tree));
	run_tree_copy(&copy->tree, &task->tree);
	memcpy(bounded_tasks_noted_runs(copy), bounded_tasks_noted_runs(task),
		task->noted_count * sizeof(struct noted_run));
}

static uint32_t bounded_awaited(const void *state)
{
	return ((const struct bounded *)state)->tree.awaited;
}

static uint64_t bounded_runs(const void *block)
{
	const struct bounded *task = block;

	return task->runs - task->runs_had;
}

static void bounded_tasks_continue(struct bounded *bounded)
{
	bounded->is_lost = bounded->tree.is_lost;
	bounded->is_exhausted |= bounded->is_lost;
	bounded_advance(bounded);
}

static void bounded_leave(void *state, uint32_t number)
{
	struct bounded *bounded = state;
	const bool is_awaited =
		bounded->tree.awaited && (!number || bounded->tree.awaited == number);

	run_tree_leave(&bounded->tree, number, bounded->shared.variable);
	if (is_awaited)
		bounded_tasks_continue(bounded);
}

static bool bounded_tasks_is_joinable(const struct bounded *bounded, struct bounded *task)
{
	const uint32_t room = bounded->seen.mask / 2;

	for (uint32_t i = 0; i < task->noted_count; i++)
		if (bounded_tasks_noted_runs(task)[i].node != UINT32_MAX &&
			bounded_tasks_noted_runs(task)[i].node >= task->tree.node_count)
			return false;
	return !task->is_lost && bounded_runs(task) &&
	       bounded_tasks_hash_knowledge(bounded) == task->knowledge &&
	       bounded_tasks_hash_knowledge(task) == task->knowledge &&
	       bounded->seen.count <= room && task->noted_count <= room - bounded->seen.count &&
	       run_tree_may_join(&bounded->tree, &task->tree);
}

static bool bounded_join(void *state, void *block, bool is_exact)
{
	struct bounded *bounded = state, *task = block;

	(void)is_exact; /* joins are always exact */
	if (!bounded_tasks_is_joinable(bounded, task)) {
		bounded_leave(bounded, task->task);
		return false;
	}
	for (uint32_t i = 0; i < task->noted_count; i++) {
		const struct noted_run *noted = &bounded_tasks_noted_runs(task)[i];

		if (!hash_set_add(&bounded->seen, noted->key) && noted->node != UINT32_MAX)
			run_tree_close(&task->tree, (uint32_t)noted->node);
	}
	bounded->runs += bounded_runs(task);
	bounded->runs_elsewhere += task->runs_elsewhere - task->elsewhere_had;
	run_tree_join(&bounded->tree, &task->tree, bounded->shared.variable);
	bounded_tasks_continue(bounded);
	return true;
}

const struct strategy_tasks bounded_tasks = {
	.split = bounded_split,
	.copy = bounded_copy,
	.awaited = bounded_awaited,
	.runs = bounded_runs,
	.join = bounded_join,
	.leave = bounded_leave,
};
