#include <string.h>

#include "model/op.h"
#include "report/interleaving_rows.h"

/* More preemptions than these are no longer shown with the steps before them. */
#define PREEMPTIONS_SHOWN 5

static bool interleaving_rows_is_access(const struct finding_step *step)
{
	for (unsigned kind = 0; kind < OP_KIND_COUNT; kind++)
		if (op_descriptions[kind].object == OBJECT_MEMORY &&
			strcmp(op_descriptions[kind].verb, step->verb) == 0)
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
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
		if (step->where.module &&
			!strncmp(step->where.module, modules[i], strlen(modules[i])))
			return true;
	return interleaving_rows_is_access(step);
}

bool interleaving_is_folded(const struct report_style *style, const struct finding_step *step)
{
	return step->library_call && !style->has_system_frames && !style->has_callers;
}

static bool interleaving_rows_is_same_call(const struct report_style *style,
	const struct finding_step *before, const struct finding_step *step)
{
	return !step->cause_line && interleaving_is_folded(style, step) &&
	       interleaving_is_folded(style, before) && !step->is_switch &&
	       step->where.line == before->where.line && step->where.file && before->where.file &&
	       !strcmp(step->where.file, before->where.file);
}

/* Returns whether the step accesses memory that, by its name, only this thread accesses. */
static bool interleaving_rows_is_private(const struct finding *finding, uint32_t number)
{
	const struct finding_step *step = &finding->steps[number];

	if (!step->object || !interleaving_rows_is_access(step))
		return false;
	for (uint32_t i = 0; i < finding->step_count; i++)
		if (finding->steps[i].object &&
			strcmp(finding->steps[i].object, step->object) == 0 &&
			strcmp(finding->steps[i].thread, step->thread) != 0)
			return false;
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

static void interleaving_rows_drop_private(
	const struct finding *finding, enum interleaving_row *rows)
{
	for (uint32_t begin = 0, end; begin < finding->step_count; begin = end) {
		bool is_private = rows[begin] == ROW_SHOWN;

		end = interleaving_rows_end(finding, rows, begin);
		for (uint32_t i = begin; i < end && is_private; i++)
			is_private = !interleaving_rows_is_key(finding, i) &&
				     interleaving_rows_is_private(finding, i);
		for (uint32_t i = begin; i < end && is_private; i++)
			rows[i] = ROW_PRIVATE;
	}
}

/* Keeps a quarter of the rows from the beginning, and the rest from the end. */
static void interleaving_rows_drop_middle(
	const struct finding *finding, uint32_t most, uint32_t count, enum interleaving_row *rows)
{
	const uint32_t first = most / 4, last = count - (most - first);
	uint32_t row = 0;

	for (uint32_t begin = 0, end; begin < finding->step_count; begin = end) {
		bool is_dropped = rows[begin] == ROW_SHOWN && row >= first && row < last;

		row += rows[begin] == ROW_SHOWN;
		end = interleaving_rows_end(finding, rows, begin);
		for (uint32_t i = begin; i < end; i++)
			is_dropped &= !interleaving_rows_is_key(finding, i);
		for (uint32_t i = begin; i < end && is_dropped; i++)
			rows[i] = ROW_MIDDLE;
	}
}

void interleaving_choose_rows(const struct finding *finding, const struct report_style *style,
	enum interleaving_row *rows)
{
	uint32_t count;

	for (uint32_t i = 0; i < finding->step_count; i++) {
		const struct finding_step *step = &finding->steps[i];

		rows[i] = ROW_SHOWN;
		if (interleaving_rows_is_internal(style, step))
			rows[i] = ROW_LIBRARY;
		else if (i && rows[i - 1] != ROW_LIBRARY &&
			 interleaving_rows_is_same_call(style, step - 1, step))
			rows[i] = ROW_FOLDED;
	}
	if (!style->steps_most || interleaving_rows_count(finding, rows) <= style->steps_most)
		return;
	interleaving_rows_drop_private(finding, rows);
	count = interleaving_rows_count(finding, rows);
	if (count > style->steps_most)
		interleaving_rows_drop_middle(finding, style->steps_most, count, rows);
}
