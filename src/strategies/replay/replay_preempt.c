/* See replay_preempt.h. */
#include "strategies/replay/replay_preempt.h"

void replay_state_set_preemptions(struct replay_state *state, const struct replay_preemption *items,
	uint32_t count, const uint64_t *sites, uint32_t site_count)
{
	struct replay_preempt *preempt;

	state->preempt_offset = (state->bytes + 7) / 8 * 8;
	state->bytes = state->preempt_offset + sizeof *preempt;
	preempt = replay_preempt(state);
	preempt->count = count < REPLAY_PREEMPTIONS_MOST ? count : REPLAY_PREEMPTIONS_MOST;
	for (uint32_t i = 0; i < preempt->count; i++) {
		const uint32_t site = key_table_add(&preempt->sites, items[i].site);

		preempt->items[i] = items[i];
		preempt->next[i] = preempt->first[site];
		preempt->first[site] = i + 1;
	}
	/* Operations at sites beyond the table's capacity are not counted. */
	for (uint32_t i = 0; i < site_count; i++)
		(void)key_table_add(&preempt->sites, sites[i]);
}

void replay_preempt_begin_run(struct replay_preempt *preempt)
{
	for (uint32_t i = 0; i < preempt->sites.count; i++)
		preempt->performed[i] = preempt->open[i] = 0;
	for (uint32_t i = 0; i < THREAD_CAPACITY; i++)
		preempt->held[i] = 0;
	preempt->preempted = THREAD_NONE;
}

static bool replay_preempt_is_open(
	const struct replay_preempt *preempt, const struct pending_op *op, uint32_t thread)
{
	return !preempt->held[thread] || op->flags & OP_ACQUIRE;
}

/* An attempt to lock does not count, because it may fail. */
static void replay_preempt_note_lock(
	struct replay_preempt *preempt, const struct pending_op *op, uint32_t thread)
{
	if (op->flags & OP_ACQUIRE && op->flags & OP_MAYBLOCK)
		preempt->held[thread]++;
	else if ((op->flags & OP_RELEASE || op->kind == OP_COND_WAIT) && preempt->held[thread])
		preempt->held[thread]--;
}

static const struct replay_preemption *replay_preempt_due(
	const struct replay_preempt *preempt, const struct pending_op *op, uint32_t thread)
{
	const bool is_open = replay_preempt_is_open(preempt, op, thread);
	const uint32_t site = op->site ? key_table_find(&preempt->sites, op->site) : KEY_TABLE_NONE;

	for (uint32_t i = site == KEY_TABLE_NONE ? 0 : preempt->first[site]; i;
		i = preempt->next[i - 1]) {
		const struct replay_preemption *item = &preempt->items[i - 1];
		const uint64_t before =
			item->is_open ? preempt->open[site] : preempt->performed[site];

		if (item->number == before + 1 && (is_open || !item->is_open))
			return item;
	}
	return NULL;
}

/* The other enabled threads take turns. */
static struct thread_id replay_preempt_other(
	const struct schedule_view *view, struct thread_id preempted, uint32_t turn)
{
	uint32_t left = turn % (view->enabled_count - 1), thread = view_next_enabled(view, 0);

	for (;; thread = view_next_enabled(view, thread + 1))
		if (thread != preempted.index && !left--)
			return (struct thread_id){(uint16_t)thread};
}

struct thread_id replay_preempt_choose(
	struct replay_preempt *preempt, const struct schedule_view *view)
{
	const struct thread_id standard = view_default(view), back = preempt->preempted;
	const struct replay_preemption *item;

	if (back.index < view->thread_count) {
		if ((preempt->op_left && preempt->step_left) || !view_is_enabled(view, back.index))
			return standard;
		preempt->preempted = THREAD_NONE;
		return back;
	}
	item = replay_preempt_due(preempt, &view->pending[standard.index], standard.index);
	if (!item || view->enabled_count < 2)
		return standard;
	preempt->preempted = item->op_count ? standard : THREAD_NONE;
	preempt->object = view->pending[standard.index].object;
	preempt->op_left = item->op_count;
	preempt->step_left = item->step_count;
	return replay_preempt_other(view, standard, item->turn);
}

void replay_preempt_executed(
	struct replay_preempt *preempt, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];
	const uint32_t site = op->site ? key_table_find(&preempt->sites, op->site) : KEY_TABLE_NONE;

	if (site != KEY_TABLE_NONE) {
		preempt->performed[site]++;
		preempt->open[site] += replay_preempt_is_open(preempt, op, thread);
	}
	replay_preempt_note_lock(preempt, op, thread);
	if (thread == preempt->preempted.index) /* all other threads are blocked */
		preempt->preempted = THREAD_NONE;
	preempt->step_left -= preempt->step_left > 0;
	preempt->op_left -= preempt->op_left > 0 && op->object == preempt->object;
}
