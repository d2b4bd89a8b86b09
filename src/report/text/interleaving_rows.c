#include <string.h>

#include "base/array.h"
#include "base/starts_with.h"
#include "model/op.h"
#include "report/text/interleaving_rows.h"

/* More preemptions than these are no longer shown with the steps before them. */
#define PREEMPTIONS_SHOWN 5

static bool interleaving_rows_is_access(const struct finding_step *step)
{
	if (!strcmp(step->verb, call_verbs[CALL_FREE]))
		return true;
	for (unsigned kind = 0; kind < OP_KIND_COUNT; kind++)
		if (op_descriptions[kind].object == OBJECT_MEMORY &&
			strcmp(op_descriptions[kind].verb, step->verb) == 0)
			return true;
	return false;
}

/* Returns whether a thread waits for another one here, or ends such a wait. Locks do not count. */
static bool interleaving_rows_is_wait(const struct finding_step *step)
{
	static const enum op_kind kinds[] = {OP_COND_WAIT, OP_COND_SIGNAL, OP_COND_BROADCAST,
		OP_BARRIER_ARRIVE, OP_SEM_WAIT, OP_SEM_POST, OP_FUTEX_BLOCK, OP_FUTEX_WAKE,
		OP_SLEEP, OP_CHILD_WAIT, OP_SIGNAL_WAIT};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(step->verb, op_descriptions[kinds[i]].verb))
			return true;
	return false;
}

/* A step that the cause names, or next to one of the few preemptions that decide a minimised run. */
static bool interleaving_rows_is_key(const struct finding *finding, uint32_t step)
{
	const struct finding_step *steps = finding->steps;

	return steps[step].cause_line ||
	       (finding->preemptions <= PREEMPTIONS_SHOWN &&
		       (steps[step].is_preemption ||
			       (step + 1 < finding->step_count && steps[step + 1].is_preemption)));
}

/*
 * Returns whether the step is inside the C library (streams, unwinding), or an access inside a
 * library that no code of the program has called: a thread of the C++ library reading its own state.
 */
static bool interleaving_rows_is_internal(
	const struct report_style *style, const struct finding_step *step)
{
	static const char *const modules[] = {"libc.so", "libgcc_s", "ld-linux"};

	if (!step->where.is_system || step->is_switch || step->cause_line ||
		style->has_system_frames)
		return false;
	return STARTS_WITH_ANY(step->where.module, modules) || interleaving_rows_is_access(step);
}

bool interleaving_is_folded(const struct report_style *style, const struct finding_step *step)
{
	return step->library_call && !style->has_system_frames && !style->has_callers;
}

/*
 * Returns whether the step belongs to the row of the library call of an earlier step of the thread:
 * it is part of a call at the same line, or wakes waiters there, which is what such calls do.
 */
static bool interleaving_rows_is_same_call(const struct report_style *style,
	const struct finding_step *before, const struct finding_step *step)
{
	const bool is_wake = !strcmp(step->verb, op_descriptions[OP_FUTEX_WAKE].verb);

	return !step->cause_line && !step->is_switch && interleaving_is_folded(style, before) &&
	       (interleaving_is_folded(style, step) || is_wake) &&
	       step->where.line == before->where.line && step->where.file && before->where.file &&
	       !strcmp(step->where.file, before->where.file);
}

/* Returns whether the thread returns from pthread_create, or passes an interruption point, or is about to wait, before anything else has
 * happened. */
static bool interleaving_rows_is_plain_return(const struct finding *finding, uint32_t number)
{
	const struct finding_step *step = &finding->steps[number];

	return (!strcmp(step->verb, op_descriptions[OP_AFTER_ENABLE].verb) ||
		       !strcmp(step->verb, op_descriptions[OP_BEFORE_WAIT].verb) ||
		       (!strcmp(step->verb, op_descriptions[OP_THREAD_CREATED].verb) &&
			       !strcmp(step[-1].verb, op_descriptions[OP_THREAD_CREATE].verb))) &&
	       !step->is_switch && !interleaving_rows_is_key(finding, number);
}

static bool interleaving_rows_is_read(const struct finding_step *step)
{
	return !strcmp(step->verb, op_descriptions[OP_LOAD].verb) ||
	       !strcmp(step->verb, op_descriptions[OP_ATOMIC_LOAD].verb);
}

/* Returns whether a step between two others, by the parent, creates or joins the thread `child`,
 * given by the first `length` bytes of its path. */
static bool interleaving_rows_parent_does(const struct finding *finding, uint32_t from, uint32_t to,
	enum op_kind kind, const char *parent, const char *child, size_t length)
{
	static const char noun[] = "thread ";

	for (uint32_t i = from + 1; i < to; i++) {
		const struct finding_step *step = &finding->steps[i];

		if (step->object && !strcmp(step->verb, op_descriptions[kind].verb) &&
			!strcmp(step->thread, parent) &&
			!strncmp(step->object, noun, sizeof noun - 1) &&
			!strncmp(step->object + sizeof noun - 1, child, length) &&
			!step->object[sizeof noun - 1 + length])
			return true;
	}
	return false;
}

/*
 * Returns whether no schedule exchanges two steps: they are of one thread, the first thread creates
 * the second one or its ancestor in between, or the second thread joins the first one.
 */
static bool interleaving_rows_are_ordered(
	const struct finding *finding, uint32_t first, uint32_t second)
{
	const char *before = finding->steps[first].thread, *after = finding->steps[second].thread;
	const size_t length = strlen(before), length_after = strlen(after);

	if (strcmp(before, after) == 0)
		return true;
	if (!strncmp(before, after, length) && after[length] == '.')
		return interleaving_rows_parent_does(finding, first, second, OP_THREAD_CREATE,
			before, after, length + 1 + strcspn(after + length + 1, "."));
	return !strncmp(before, after, length_after) && before[length_after] == '.' &&
	       interleaving_rows_parent_does(
		       finding, first, second, OP_THREAD_JOIN, after, before, length);
}

/* Returns whether the step uses an object without a declaration, such as a lock of a library. Objects on which a thread is
 * blocked do not count, because they explain the failure. */
static bool interleaving_rows_is_unnamed_lock(
	const struct finding *finding, const struct finding_step *step)
{
	if (!step->object[finding_short_name(step->object)])
		return false;
	for (uint32_t i = 0; i < finding->wait_count; i++)
		if (finding->waits[i].object && !strcmp(finding->waits[i].object, step->object))
			return false;
	return true;
}

/*
 * Returns whether the step is an access to memory or an operation on an object without a name, and can change places
 * with no such step of another thread: by its name, only this thread uses the memory or object, or one
 * thread hands it to the next by creating or joining it.
 */
static bool interleaving_rows_is_private(const struct finding *finding, uint32_t number)
{
	const struct finding_step *step = &finding->steps[number];

	if (!step->object || !(interleaving_rows_is_access(step) ||
				     interleaving_rows_is_unnamed_lock(finding, step)))
		return false;
	for (uint32_t i = 0; i < finding->step_count; i++) {
		const struct finding_step *other = &finding->steps[i];

		if (!other->object || strcmp(other->object, step->object) != 0)
			continue;
		if (interleaving_rows_is_read(step) && interleaving_rows_is_read(other))
			continue;
		if (!interleaving_rows_are_ordered(
			    finding, i < number ? i : number, i < number ? number : i))
			return false;
	}
	return true;
}

/* Returns the end of the row that begins at the step: the steps folded into it belong to it. */
static uint32_t interleaving_rows_end(
	const struct finding *finding, const enum interleaving_row *rows, uint32_t begin)
{
	uint32_t end = begin + 1;

	while (end < finding->step_count && rows[end] == ROW_FOLDED)
		end++;
	return end;
}

static uint32_t interleaving_rows_count(
	const struct finding *finding, const enum interleaving_row *rows)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < finding->step_count; i++)
		count += rows[i] == ROW_SHOWN;
	return count;
}

/* The state of a new thread, the captures of its function and the locks of libraries have no name. */
static bool interleaving_rows_is_unnamed(const struct finding_step *step)
{
	return step->object && (!strncmp(step->object, "(block of ", 10) ||
				       step->object[finding_short_name(step->object)]);
}

static void interleaving_rows_drop_private(
	const struct finding *finding, bool is_unnamed, enum interleaving_row *rows)
{
	for (uint32_t begin = 0, end; begin < finding->step_count; begin = end) {
		bool is_private = rows[begin] == ROW_SHOWN;

		end = interleaving_rows_end(finding, rows, begin);
		for (uint32_t i = begin; i < end && is_private; i++)
			is_private =
				!interleaving_rows_is_key(finding, i) &&
				(!is_unnamed || interleaving_rows_is_unnamed(&finding->steps[i])) &&
				interleaving_rows_is_private(finding, i);
		for (uint32_t i = begin; i < end && is_private; i++)
			rows[i] = ROW_PRIVATE;
	}
}

/* Returns the first step of the last `most` waits that are shown. */
static uint32_t interleaving_rows_first_wait(
	const struct finding *finding, uint32_t most, const enum interleaving_row *rows)
{
	uint32_t step = finding->step_count;

	while (step && most) {
		step--;
		most -= rows[step] == ROW_SHOWN && interleaving_rows_is_wait(&finding->steps[step]);
	}
	return step;
}

/*
 * Keeps a quarter of the rows from the beginning, and the rest from the end; of the rows between
 * these, waits and what ends them.
 */
static void interleaving_rows_drop_middle(
	const struct finding *finding, uint32_t most, uint32_t count, enum interleaving_row *rows)
{
	const uint32_t first = most / 4, last = count - (most - first);
	const uint32_t waits = interleaving_rows_first_wait(finding, most / 2, rows);
	uint32_t row = 0;

	for (uint32_t begin = 0, end; begin < finding->step_count; begin = end) {
		bool is_dropped =
			rows[begin] == ROW_SHOWN && row >= first && row < last &&
			(begin < waits || !interleaving_rows_is_wait(&finding->steps[begin]));

		row += rows[begin] == ROW_SHOWN;
		end = interleaving_rows_end(finding, rows, begin);
		for (uint32_t i = begin; i < end; i++)
			is_dropped &= !interleaving_rows_is_key(finding, i);
		for (uint32_t i = begin; i < end && is_dropped; i++)
			rows[i] = ROW_MIDDLE;
	}
}

static bool interleaving_rows_is_same(const char *text, const char *other)
{
	return text == other || (text && other && !strcmp(text, other));
}

static bool interleaving_rows_are_equal(
	const struct finding *finding, uint32_t number, uint32_t other)
{
	const struct finding_step *a = &finding->steps[number], *b = &finding->steps[other];

	return !interleaving_rows_is_key(finding, other) && !b->is_switch &&
	       !strcmp(a->thread, b->thread) && !strcmp(a->verb, b->verb) &&
	       a->where.line == b->where.line && interleaving_rows_is_same(a->object, b->object) &&
	       interleaving_rows_is_same(a->where.file, b->where.file) &&
	       interleaving_rows_is_same(a->library_call, b->library_call);
}

/* The longest body of a loop, in rows, of which only the first turn is shown. */
#define LOOP_MOST 8
/* A line says how many rows are left out, so leaving out fewer hardly shortens the table. */
#define REPEATED_LEAST 4

/*
 * Returns how many of the rows from `at` on repeat the `period` rows before them: whole turns of a
 * loop of one thread, which no other thread interrupts.
 */
static uint32_t interleaving_rows_count_repeated(const struct finding *finding,
	const uint32_t *shown, uint32_t count, uint32_t at, uint32_t period)
{
	uint32_t end = at;

	while (end < count && interleaving_rows_are_equal(finding, shown[end - period], shown[end]))
		end++;
	return (end - at) / period * period;
}

/* Leaves out the further turns of loops. */
static void interleaving_rows_drop_repeated(
	const struct finding *finding, enum interleaving_row *rows)
{
	FREE_SCOPED uint32_t *shown = array_new(finding->step_count + 1u, sizeof *shown);
	uint32_t count = 0;

	for (uint32_t i = 0; i < finding->step_count; i++)
		if (rows[i] == ROW_SHOWN)
			shown[count++] = i;
	for (uint32_t at = 1; at < count; at++)
		for (uint32_t period = 1; period <= LOOP_MOST && period <= at; period++) {
			const uint32_t repeated =
				interleaving_rows_count_repeated(finding, shown, count, at, period);

			if (repeated < REPEATED_LEAST)
				continue;
			for (uint32_t i = at; i < at + repeated; i++)
				for (uint32_t step = shown[i];
					step < interleaving_rows_end(finding, rows, shown[i]);
					step++)
					rows[step] = ROW_REPEATED;
			at += repeated - 1;
			break;
		}
}

void interleaving_choose_rows(const struct finding *finding, const struct report_style *style,
	enum interleaving_row *rows)
{
	uint32_t count, row = 0;

	for (uint32_t i = 0; i < finding->step_count; i++) {
		const struct finding_step *step = &finding->steps[i];

		rows[i] = ROW_SHOWN;
		if (interleaving_rows_is_internal(style, step))
			rows[i] = ROW_LIBRARY;
		else if (i && rows[i - 1] != ROW_LIBRARY &&
			 interleaving_rows_is_same_call(style, &finding->steps[row], step))
			rows[i] = ROW_FOLDED;
		else if (i && !style->has_callers && rows[i - 1] == ROW_SHOWN &&
			 interleaving_rows_is_plain_return(finding, i))
			rows[i] = ROW_FOLDED;
		else
			row = i;
	}
	if (!style->steps_most)
		return;
	interleaving_rows_drop_private(finding, true, rows);
	interleaving_rows_drop_repeated(finding, rows);
	if (interleaving_rows_count(finding, rows) <= style->steps_most)
		return;
	interleaving_rows_drop_private(finding, false, rows);
	count = interleaving_rows_count(finding, rows);
	if (count > style->steps_most)
		interleaving_rows_drop_middle(finding, style->steps_most, count, rows);
}
