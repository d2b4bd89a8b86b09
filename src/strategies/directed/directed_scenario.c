#include "strategies/directed/directed_scenario.h"

#define NOBODY UINT16_MAX
/* Wanted number of completions. A single one may be harmless, or concern other objects than
 * intended. */
#define COMPLETIONS_WANTED 4
/* One in this many runs tries another start: if the proven start led to a failure, or did not. */
#define FAILING_PART 16
#define HARMLESS_PART 8
/* Each completion adds 1 to the trust in a proven start; each run without one subtracts 1. */
#define TRUST_MOST 3

static void directed_scenario_restart(struct directed_scenario *scenario)
{
	scenario->next = 0;
	scenario->threads[0] = scenario->threads[1] = NOBODY;
	scenario->objects[0] = scenario->objects[1] = 0;
}

/* Draws the start of a run. Ordinal 0: the first op that is not skipped. */
static struct directed_start directed_scenario_draw_start(
	struct directed_scenario *scenario, struct rng *rng)
{
	const uint32_t part = scenario->has_failed ? FAILING_PART : HARMLESS_PART;

	scenario->tries_proven = scenario->proven.ordinal && rng_below(rng, part);
	if (scenario->tries_proven)
		return scenario->proven;
	if (scenario->recorded.ordinal && rng_below(rng, 2)) {
		struct directed_start start = scenario->recorded;

		start.is_alone = rng_below(rng, 2);
		return start;
	}
	while (scenario->skipped + 1 < scenario->firsts && rng_below(rng, 2))
		scenario->skipped++;
	return (struct directed_start){0};
}

void directed_scenario_begin_run(struct directed_scenario *scenario, struct rng *rng)
{
	directed_scenario_restart(scenario);
	scenario->skipped = 0;
	scenario->wanted = directed_scenario_draw_start(scenario, rng);
	if (scenario->wanted.ordinal)
		scenario->threads[scenario->ops[0].party] = scenario->wanted.thread;
	scenario->parties = scenario->wanted;
	scenario->began = scenario->completed_from = (struct directed_start){0};
	for (uint32_t i = 0; i < SCENARIO_THREADS; i++)
		scenario->comings[i] = 0;
	scenario->firsts = 0;
	scenario->waiting_since = 0;
	scenario->seen = 0;
	scenario->completed = 0;
}

void directed_scenario_learn(struct directed_scenario *scenario, bool is_shown, bool has_failed)
{
	if (scenario->tries_proven && !is_shown && --scenario->trust == 0) {
		scenario->proven = (struct directed_start){0};
		scenario->has_failed = false;
	}
	if (scenario->tries_proven && is_shown && scenario->trust < TRUST_MOST)
		scenario->trust++;
	if (is_shown && (!scenario->proven.ordinal || (has_failed && !scenario->has_failed))) {
		scenario->proven = scenario->completed_from;
		scenario->trust = 1;
		scenario->has_failed = has_failed;
	}
}

static bool directed_scenario_is_complete(const struct directed_scenario *scenario)
{
	return !scenario->op_count || scenario->completed == COMPLETIONS_WANTED;
}

static bool directed_scenario_has_context(
	const struct schedule_view *view, uint32_t thread, uint32_t context)
{
	return !context || !view->contexts || view->contexts[thread] == context;
}

static bool directed_scenario_fits_op(
	const struct directed_op *op, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *pending = &view->pending[thread];

	return pending->site == op->site && pending->kind == op->kind &&
	       directed_scenario_has_context(view, thread, op->context);
}

static bool directed_scenario_fits_gate(
	const struct directed_op *op, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *pending = &view->pending[thread];

	return op->gate_site && pending->site == op->gate_site && pending->flags & OP_ACQUIRE &&
	       directed_scenario_has_context(view, thread, op->gate_context);
}

static bool directed_scenario_could_be_of(
	const struct directed_scenario *scenario, const struct directed_op *op, uint32_t thread)
{
	const uint16_t bound = scenario->threads[op->party];

	return bound == NOBODY ? thread != scenario->threads[!op->party] : thread == bound;
}

static bool directed_scenario_may_concern(const struct directed_scenario *scenario,
	const struct directed_op *op, const struct pending_op *pending)
{
	const object_name object = scenario->objects[op->variable];

	return !object || object == pending->object || pending->flags & OP_WIDE;
}

static bool directed_scenario_is_due(
	const struct directed_scenario *scenario, const struct schedule_view *view, uint32_t thread)
{
	const struct directed_op *op = &scenario->ops[scenario->next];

	return directed_scenario_fits_op(op, view, thread) &&
	       directed_scenario_could_be_of(scenario, op, thread) &&
	       directed_scenario_may_concern(scenario, op, &view->pending[thread]);
}

static bool directed_scenario_leads_to_due(
	const struct directed_scenario *scenario, const struct schedule_view *view, uint32_t thread)
{
	const struct directed_op *op = &scenario->ops[scenario->next];

	return directed_scenario_could_be_of(scenario, op, thread) &&
	       directed_scenario_fits_gate(op, view, thread);
}

bool directed_scenario_holds(
	const struct directed_scenario *scenario, const struct schedule_view *view, uint32_t thread)
{
	const uint8_t turn = scenario->ops[scenario->next].party;

	if (directed_scenario_is_complete(scenario) ||
		directed_scenario_is_due(scenario, view, thread) ||
		directed_scenario_leads_to_due(scenario, view, thread))
		return false;
	for (uint32_t i = scenario->next + 1; i < scenario->op_count; i++) {
		const struct directed_op *op = &scenario->ops[i];

		/* Later ops of the party that moves next follow its current op in any case. */
		if (op->party == turn || !directed_scenario_could_be_of(scenario, op, thread))
			continue;
		if (op->gate_site ? directed_scenario_fits_gate(op, view, thread)
				  : directed_scenario_fits_op(op, view, thread) &&
					    directed_scenario_may_concern(
						    scenario, op, &view->pending[thread]))
			return true;
	}
	return false;
}

void directed_scenario_waits(struct directed_scenario *scenario, const struct schedule_view *view)
{
	if (!scenario->waiting_since)
		scenario->waiting_since = view->step + 1;
	else if (view->step - scenario->waiting_since > SCENARIO_PATIENCE)
		scenario->completed = COMPLETIONS_WANTED;
}

bool directed_scenario_wants(
	const struct directed_scenario *scenario, const struct schedule_view *view, uint32_t thread)
{
	return !directed_scenario_is_complete(scenario) && scenario->next &&
	       directed_scenario_is_due(scenario, view, thread);
}

bool directed_scenario_is_alone(const struct directed_scenario *scenario)
{
	return scenario->parties.is_alone && !scenario->completed;
}

bool directed_scenario_is_outsider(const struct directed_scenario *scenario, uint32_t thread)
{
	return thread != scenario->parties.thread && thread != scenario->parties.other;
}

bool directed_scenario_favours(const struct directed_scenario *scenario, uint32_t thread)
{
	return !directed_scenario_is_complete(scenario) && scenario->next &&
	       scenario->threads[scenario->ops[scenario->next].party] == thread;
}

/* Returns whether a bound thread performs an op before it is due, because thrashing released the
 * thread. */
static bool directed_scenario_violates_turn(
	const struct directed_scenario *scenario, const struct schedule_view *view, uint32_t thread)
{
	if (!scenario->next || (thread != scenario->threads[0] && thread != scenario->threads[1]))
		return false;
	if (view->pending[thread].kind == OP_THREAD_EXIT)
		return true;
	for (uint32_t i = scenario->next + 1; i < scenario->op_count; i++)
		if (directed_scenario_could_be_of(scenario, &scenario->ops[i], thread) &&
			directed_scenario_fits_op(&scenario->ops[i], view, thread) &&
			directed_scenario_may_concern(
				scenario, &scenario->ops[i], &view->pending[thread]))
			return true;
	return false;
}

static bool directed_scenario_is_at_first_site(
	const struct directed_scenario *scenario, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *pending = &view->pending[thread];

	return thread < SCENARIO_THREADS && pending->site == scenario->ops[0].site &&
	       pending->kind == scenario->ops[0].kind;
}

/* Returns whether the first op, which is due, is skipped, as the run begins at another one. */
static bool directed_scenario_is_skipped(struct directed_scenario *scenario, uint32_t thread)
{
	if (!scenario->wanted.ordinal) {
		if (!scenario->skipped)
			return false;
		scenario->skipped--;
		return true;
	}
	if (scenario->comings[thread % SCENARIO_THREADS] < scenario->wanted.ordinal)
		return true;
	/* The start is reached or was missed: any later first op is accepted. */
	scenario->wanted.ordinal = 0;
	return false;
}

void directed_scenario_executed(
	struct directed_scenario *scenario, const struct schedule_view *view, uint32_t thread)
{
	const struct directed_op *op;

	if (directed_scenario_is_complete(scenario))
		return;
	scenario->firsts += directed_scenario_fits_op(&scenario->ops[0], view, thread);
	scenario->comings[thread % SCENARIO_THREADS] +=
		directed_scenario_is_at_first_site(scenario, view, thread);
	if (!directed_scenario_is_due(scenario, view, thread) &&
		directed_scenario_violates_turn(scenario, view, thread))
		directed_scenario_restart(scenario);
	/* The first op is repeated before the other party has continued: the later one counts. */
	if (scenario->next == 1 && thread == scenario->threads[scenario->ops[0].party] &&
		directed_scenario_fits_op(&scenario->ops[0], view, thread))
		directed_scenario_restart(scenario);
	if (!directed_scenario_is_due(scenario, view, thread))
		return;
	if (scenario->next == 0 && directed_scenario_is_skipped(scenario, thread))
		return;
	if (scenario->next == 0) {
		scenario->began = (struct directed_start){.thread = (uint16_t)thread,
			.ordinal = thread < SCENARIO_THREADS ? scenario->comings[thread] : 0};
	}
	op = &scenario->ops[scenario->next];
	if (scenario->next)
		scenario->waiting_since = 0;
	scenario->threads[op->party] = (uint16_t)thread;
	if (!scenario->objects[op->variable])
		scenario->objects[op->variable] = view->pending[thread].object;
	if (!(scenario->seen >> scenario->next & 1))
		scenario->reached[scenario->next]++;
	scenario->seen |= (uint8_t)(1u << scenario->next);
	if (++scenario->next < scenario->op_count)
		return;
	scenario->completions += !scenario->completed;
	if (!scenario->completed++) {
		scenario->completed_from = scenario->began;
		scenario->completed_from.other = scenario->threads[!scenario->ops[0].party];
		scenario->completed_from.is_alone = scenario->parties.is_alone;
	}
	directed_scenario_restart(scenario);
}
