/* Learning of strategy `pctvb`: lessons of runs, and the knowledge derived from them. */
#include "strategies/sampling/pctvb_internal.h"

void pctvb_begin_lesson(struct pctvb *pctvb)
{
	key_table_clear(&pctvb->run_classes);
	pctvb->lessons[pctvb->position].count = 0;
}

static struct pctvb_taught *pctvb_learn_taught_of(struct pctvb *pctvb, uint64_t class)
{
	struct pctvb_lesson *lesson = &pctvb->lessons[pctvb->position];
	uint32_t index = key_table_find(&pctvb->run_classes, class);

	if (index == KEY_TABLE_NONE) {
		if (lesson->count == PCTVB_LESSON_VARIABLES)
			return NULL;
		index = key_table_add(&pctvb->run_classes, class);
		lesson->variables[lesson->count++] = (struct pctvb_taught){.class = class};
	}
	return &lesson->variables[index];
}

void pctvb_note_stands(struct pctvb *pctvb, uint64_t class, uint64_t count)
{
	struct pctvb_taught *taught = pctvb_learn_taught_of(pctvb, class);

	if (taught)
		taught->count += count;
}

/* Returns whether the order may be reversed: the thread existed at the other thread's access. */
static bool pctvb_learn_might_precede(struct pctvb_access access, uint32_t thread)
{
	return access.thread && access.thread != thread + 1 && thread < access.thread_count;
}

void pctvb_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct pctvb *pctvb = state;
	const struct pending_op *op = &view->pending[thread.index];
	const bool is_read = op->flags & OP_READ;
	struct pctvb_taught *taught;

	if (!pctvb_teaches(pctvb) || !pctvb_has_variable(op))
		return;
	taught = pctvb_learn_taught_of(pctvb, op_class(op));
	if (!taught || taught->is_shared)
		return;
	taught->is_shared = pctvb_learn_might_precede(taught->write, thread.index) ||
			    (!is_read && pctvb_learn_might_precede(taught->read, thread.index));
	*(is_read ? &taught->read : &taught->write) =
		(struct pctvb_access){(uint16_t)(thread.index + 1), (uint16_t)view->thread_count};
}

void pctvb_end_run(void *state, const struct run_summary *summary)
{
	struct pctvb *pctvb = state;
	struct pctvb_lesson *lesson;

	if (!pctvb_teaches(pctvb))
		return;
	lesson = &pctvb->lessons[pctvb->position];
	lesson->outcome = summary->outcome;
	lesson->threads = summary->thread_count;
	lesson->is_focused = pctvb->is_focused;
	lesson->drawn_count = pctvb->drawn_count;
	for (uint32_t i = 0; i < pctvb->drawn_count; i++)
		lesson->drawn[i] = pctvb->drawn[i].variable;
}

void pctvb_begin_position(void *state, uint32_t position)
{
	((struct pctvb *)state)->position = position;
}

static void pctvb_learn_copy_lesson(struct pctvb_lesson *to, const struct pctvb_lesson *from)
{
	to->outcome = from->outcome;
	to->threads = from->threads;
	to->is_focused = from->is_focused;
	to->drawn_count = from->drawn_count;
	for (uint32_t i = 0; i < from->drawn_count; i++)
		to->drawn[i] = from->drawn[i];
	to->count = from->count;
	for (uint32_t i = 0; i < from->count; i++)
		to->variables[i] = from->variables[i];
}

void pctvb_gather(void *state, const void *other, uint32_t position, uint32_t count)
{
	const struct pctvb *from = other;
	struct pctvb *pctvb = state;

	for (uint32_t i = position; i < position + count && i < PCTVB_TEACHING; i++)
		pctvb_learn_copy_lesson(&pctvb->lessons[i], &from->lessons[i]);
}

static bool pctvb_learn_knows_accesses(const struct pctvb_lesson *lesson, uint32_t variable)
{
	for (uint32_t i = 0; lesson->is_focused && i < lesson->drawn_count; i++)
		if (lesson->drawn[i] == variable)
			return true;
	return !lesson->is_focused;
}

static void pctvb_learn_variable(struct pctvb *pctvb, const struct pctvb_taught *taught)
{
	const uint32_t number = key_table_add(&pctvb->classes, taught->class);
	struct pctvb_variable *variable;

	if (number == KEY_TABLE_NONE)
		return;
	variable = &pctvb->variables[number];
	variable->count = taught->count;
	if (!taught->is_shared || variable->is_shared)
		return;
	variable->is_shared = true;
	pctvb->shared[pctvb->shared_count++] = (uint16_t)number;
}

static void pctvb_learn_lesson(struct pctvb *pctvb, const struct pctvb_lesson *lesson)
{
	const bool is_whole = lesson->outcome == OUTCOME_PASSED || lesson->outcome == OUTCOME_EXIT;

	for (uint32_t i = 0; i < pctvb->classes.count; i++)
		pctvb->variables[i].count = 0;
	for (uint32_t i = 0; i < lesson->count; i++)
		pctvb_learn_variable(pctvb, &lesson->variables[i]);
	if (outcome_is_cut_off((enum outcome_kind)lesson->outcome))
		return;
	if (lesson->threads > pctvb->threads_most)
		pctvb->threads_most = lesson->threads;
	for (uint32_t i = 0; i < pctvb->classes.count; i++)
		if (pctvb_learn_knows_accesses(lesson, i))
			run_length_learn(
				&pctvb->variables[i].accesses, pctvb->variables[i].count, is_whole);
}

void pctvb_learn(void *state, uint32_t count, uint32_t next)
{
	struct pctvb *pctvb = state;

	(void)next; /* nothing is planned */
	for (uint32_t i = 0; i < count && i < PCTVB_TEACHING; i++)
		pctvb_learn_lesson(pctvb, &pctvb->lessons[i]);
}

void pctvb_share(void *state, const void *other)
{
	const struct pctvb *from = other;
	struct pctvb *pctvb = state;

	pctvb->threads_most = from->threads_most;
	pctvb->shared_count = from->shared_count;
	key_table_copy(&pctvb->classes, &from->classes);
	for (uint32_t i = 0; i < from->shared_count; i++)
		pctvb->shared[i] = from->shared[i];
	for (uint32_t i = 0; i < from->classes.count; i++)
		pctvb->variables[i] = from->variables[i];
}
