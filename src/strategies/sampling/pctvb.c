/*
 * Strategy `pctvb`: probabilistic concurrency testing with variable and thread bounding.
 *
 * Bindal, Bansal, Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded
 * Programs", 2012, sections 3 (PCTVB) and 4. The strategy is pct, but each run draws v *variables*,
 * and change points only at accesses to these. A rarely used variable is tested as often as a
 * heavily used one.
 *
 * A variable is a global (each eight bytes of memory), all memory that one allocation site
 * allocates, or a synchronisation object. op_class() is its number.
 *
 * Deviations from the paper:
 * - The deviations of pct: contested points only, one position past the end, a priority drops before
 *   the access.
 * - Variables are drawn only if their accesses can be reordered: another thread used the variable
 * before, and one of the two accesses is a write. The later thread must also exist at the earlier
 * access. - The expected access count of a variable is a run_length as in pct, not an average. The
 * first
 *   runs of a round determine it.
 * - Change points are a set, of which any number may lie past the end: one of C(k+d-1, d-1) sets
 *   instead of k^(d-1) sequences.
 * - Priority orders: in the paper a thread gets a random new priority at each change point. A bug
 *   of t threads, cut by d-1 stops into t+d-1 fragments, then shows with probability 1/(t+d-1)!.
 *   Here the priority is drawn below the next thread, because the stop would otherwise have no
 *   effect. If n is small, each position below the next thread is equally likely: bound
 *   1/(t!*(n-1)^(d-1)). For two threads the stopped one always drops below all others: 1/2!.
 *   Without option t the drop is pct's, for which one thread must initially be the lowest of n:
 *   1/n.
 */
#include "strategies/sampling/pctvb_internal.h"

enum pctvb_option { OPTION_DEPTH, OPTION_VARIABLES, OPTION_THREADS };

static void pctvb_begin_campaign(void *state, const struct strategy_config *config)
{
	struct pctvb *pctvb = state;

	pctvb->depth = (uint32_t)config->option[OPTION_DEPTH];
	pctvb->wanted = (uint32_t)config->option[OPTION_VARIABLES];
	pctvb->threads = (uint32_t)config->option[OPTION_THREADS];
}

static double pctvb_factorial(uint32_t number)
{
	double product = 1;

	while (number > 1)
		product *= number--;
	return product;
}

/* Returns the number of equally likely initial orders of t threads with their drops at d-1 stops;
 * the bug needs one. */
static double pctvb_orders_of(const struct pctvb *pctvb, enum pctvb_falls falls)
{
	const uint32_t stops = pctvb->depth - 1;
	double orders = pctvb_factorial(pctvb->threads);

	if (falls == FALLS_RANDOM)
		return pctvb_factorial(pctvb->threads + stops);
	if (falls == FALLS_LOWEST)
		return pctvb->threads ? orders : pctvb->threads_most;
	for (uint32_t i = 0; i < stops && pctvb->threads_most > 1; i++)
		orders *= pctvb->threads_most - 1;
	return orders;
}

static enum pctvb_falls pctvb_choose_placement(const struct pctvb *pctvb)
{
	if (pctvb->threads <= 2)
		return FALLS_LOWEST;
	return pctvb_orders_of(pctvb, FALLS_POSITIONS) < pctvb_orders_of(pctvb, FALLS_RANDOM)
		       ? FALLS_POSITIONS
		       : FALLS_RANDOM;
}

static uint32_t pctvb_variables_per_run(const struct pctvb *pctvb)
{
	return pctvb->wanted < pctvb->shared_count ? pctvb->wanted : pctvb->shared_count;
}

static void pctvb_swap_shared(struct pctvb *pctvb, uint32_t one, uint32_t other)
{
	const uint16_t kept = pctvb->shared[one];

	pctvb->shared[one] = pctvb->shared[other];
	pctvb->shared[other] = kept;
}

/* Draws variables without replacement. `shared` is unchanged afterwards: only the run's seed
 * matters. */
static void pctvb_draw_variables(struct pctvb *pctvb)
{
	uint32_t picks[PCTVB_VARIABLES_MOST];

	pctvb->drawn_count = pctvb_variables_per_run(pctvb);
	for (uint32_t i = 0; i < pctvb->drawn_count; i++) {
		picks[i] = i + rng_below(&pctvb->rng, pctvb->shared_count - i);
		pctvb_swap_shared(pctvb, i, picks[i]);
		pctvb->drawn[i] = (struct pctvb_drawn){.variable = pctvb->shared[i],
			.class = pctvb->classes.keys[pctvb->shared[i]]};
	}
	for (uint32_t i = pctvb->drawn_count; i-- > 0;)
		pctvb_swap_shared(pctvb, i, picks[i]);
}

static bool pctvb_is_change(const struct pctvb *pctvb, uint32_t drawn, uint64_t access)
{
	for (uint32_t i = 0; i < pctvb->change_count; i++)
		if (pctvb->changes[i].drawn == drawn && pctvb->changes[i].access == access)
			return true;
	return false;
}

static uint64_t pctvb_expected_accesses(const struct pctvb *pctvb, uint32_t drawn)
{
	return pctvb->variables[pctvb->drawn[drawn].variable].accesses.expected;
}

/* Finds access number `number` to the run's variables; false: past the end. */
static bool pctvb_find_access(const struct pctvb *pctvb, uint64_t number, struct pctvb_change *out)
{
	for (uint32_t i = 0; i < pctvb->drawn_count; i++) {
		if (number < pctvb_expected_accesses(pctvb, i)) {
			*out = (struct pctvb_change){.drawn = i, .access = number};
			return true;
		}
		number -= pctvb_expected_accesses(pctvb, i);
	}
	return false;
}

/*
 * Draws each set of d-1 positions with equal probability, among the accesses and d-1 positions past the
 * end: Bentley, Floyd, "A Sample of Brilliance", CACM 30:9, 1987, algorithm F2.
 */
static void pctvb_draw_changes(struct pctvb *pctvb)
{
	const uint32_t stops = pctvb->depth - 1;
	uint64_t drawn[CHANGE_POINTS_MAX];
	uint64_t accesses = 0;

	pctvb->change_count = 0;
	for (uint32_t i = 0; i < pctvb->drawn_count; i++)
		accesses += pctvb_expected_accesses(pctvb, i);
	for (uint32_t i = 0; i < stops; i++) {
		uint64_t position = rng_below64(&pctvb->rng, accesses + i + 1);

		for (uint32_t j = 0; j < i; j++)
			if (drawn[j] == position)
				position = accesses + i;
		drawn[i] = position;
		pctvb->change_count +=
			pctvb_find_access(pctvb, position, &pctvb->changes[pctvb->change_count]);
	}
}

static void pctvb_begin_drawing(struct pctvb *pctvb, uint64_t seed)
{
	if (pctvb->drawn_for == seed + 1)
		return;
	pctvb->drawn_for = seed + 1;
	pctvb->is_focused = false;
	rng_seed(&pctvb->rng, seed);
	pctvb_draw_variables(pctvb);
}

static uint32_t pctvb_focus(void *state, uint64_t seed, object_name *objects, uint32_t capacity)
{
	struct pctvb *pctvb = state;

	pctvb_begin_drawing(pctvb, seed);
	for (uint32_t i = 0; i < pctvb->drawn_count; i++) {
		if (i == capacity)
			return 0;
		objects[i] = (object_name)pctvb->drawn[i].class;
	}
	pctvb->is_focused = pctvb->drawn_count;
	return pctvb->drawn_count;
}

static void pctvb_begin_run(void *state, uint64_t seed)
{
	struct pctvb *pctvb = state;
	struct priority_table *table = &pctvb->priorities;

	pctvb_begin_drawing(pctvb, seed);
	pctvb->falls = pctvb_choose_placement(pctvb);
	/* A stopped thread may have to drop below threads that are not yet created. */
	priority_table_begin_run(table);
	for (; table->known < pctvb->threads_most; table->known++)
		table->priority[table->known] = rng_next(&pctvb->rng) | PRIORITY_INITIAL;
	pctvb->fallen = 0;
	for (uint32_t i = 0; i < pctvb->drawn_count; i++)
		pctvb->drawn[i].count = 0;
	if (pctvb_teaches(pctvb))
		pctvb_begin_lesson(pctvb);
	pctvb_draw_changes(pctvb);
}

/* Returns whether the thread may still move, or is not yet created. */
static bool pctvb_is_ahead(const struct schedule_view *view, uint32_t thread)
{
	return thread >= view->thread_count || view->pending[thread].kind != OP_NONE;
}

static uint64_t pctvb_highest_below(
	const struct pctvb *pctvb, const struct schedule_view *view, uint64_t limit)
{
	uint64_t highest = 0;

	for (uint32_t i = 0; i < pctvb->priorities.known; i++) {
		const uint64_t priority = pctvb->priorities.priority[i];

		if (priority < limit && priority > highest && pctvb_is_ahead(view, i))
			highest = priority;
	}
	return highest;
}

/* Draws a position directly below a random thread among those of priority `highest` and lower. */
static uint64_t pctvb_draw_position(
	struct pctvb *pctvb, const struct schedule_view *view, uint64_t highest)
{
	uint64_t above = highest, below;
	uint32_t count = 1;

	for (uint64_t at = highest; (at = pctvb_highest_below(pctvb, view, at));)
		count++;
	for (uint32_t position = rng_below(&pctvb->rng, count); position; position--)
		above = pctvb_highest_below(pctvb, view, above);
	below = pctvb_highest_below(pctvb, view, above);
	if (!below)
		below = PRIORITY_INITIAL;
	return below + (above - below) / 2;
}

/* Returns the thread that is then the highest. */
static uint32_t pctvb_lower_priority(
	struct pctvb *pctvb, const struct schedule_view *view, uint32_t thread)
{
	struct priority_table *table = &pctvb->priorities;
	uint32_t next;
	uint64_t limit;

	pctvb->fallen++;
	table->priority[thread] = CHANGE_POINTS_MAX - pctvb->fallen + 1;
	next = priority_table_highest(table, view);
	limit = table->priority[next];
	if (pctvb->falls == FALLS_LOWEST || limit <= PRIORITY_INITIAL)
		return next;
	if (pctvb->falls == FALLS_RANDOM) {
		table->priority[thread] =
			PRIORITY_INITIAL | rng_below64(&pctvb->rng, limit - PRIORITY_INITIAL);
	} else {
		table->priority[thread] = 0; /* the thread does not count among the others */
		table->priority[thread] = pctvb_draw_position(pctvb, view, limit);
	}
	return next;
}

/* Returns whether the plan stops the first thread that is pending at this access. */
static bool pctvb_is_stopped(struct pctvb *pctvb, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];
	uint64_t class;

	if (!pctvb_has_variable(op))
		return false;
	class = op_class(op);
	if (pctvb_teaches(pctvb))
		pctvb_note_stands(pctvb, class, 1);
	for (uint32_t i = 0; i < pctvb->drawn_count; i++)
		if (pctvb->drawn[i].class == class)
			return pctvb_is_change(pctvb, i, pctvb->drawn[i].count++);
	return false;
}

/* Gives leases in runs with one variable to which all accesses belong: only their count is
 * learnt. */
static uint64_t pctvb_lease(void *state, const struct schedule_view *view, bool is_focused)
{
	const struct pctvb *pctvb = state;
	uint64_t next = UINT64_MAX;

	if (!is_focused || !pctvb->is_focused || pctvb->drawn_count != 1)
		return 0;
	for (uint32_t i = 0; view->enabled_count > 1 && i < pctvb->change_count; i++)
		if (pctvb->changes[i].access >= pctvb->drawn[0].count &&
			pctvb->changes[i].access < next)
			next = pctvb->changes[i].access;
	return next == UINT64_MAX ? next : next - pctvb->drawn[0].count;
}

static void pctvb_end_lease(void *state, const struct schedule_view *view, uint64_t count)
{
	struct pctvb *pctvb = state;

	if (view->enabled_count == 1)
		return;
	pctvb->drawn[0].count += count;
	if (pctvb_teaches(pctvb))
		pctvb_note_stands(pctvb, pctvb->drawn[0].class, count);
}

static struct thread_id pctvb_choose(void *state, const struct schedule_view *view)
{
	struct pctvb *pctvb = state;
	uint32_t chosen;

	priority_table_add_thread(&pctvb->priorities, &pctvb->rng, view);
	chosen = priority_table_first(&pctvb->priorities, view);
	while (view->enabled_count > 1 && pctvb_is_stopped(pctvb, view, chosen))
		chosen = pctvb_lower_priority(pctvb, view, chosen);
	return (struct thread_id){(uint16_t)chosen};
}

/* Returns a conservative bound of the accesses to any v variables in a run. */
static uint64_t pctvb_accesses_most(const struct pctvb *pctvb)
{
	uint64_t most[PCTVB_VARIABLES_MOST] = {0};
	uint64_t accesses = 0;

	for (uint32_t i = 0; i < pctvb->shared_count; i++) {
		uint64_t count = pctvb->variables[pctvb->shared[i]].accesses.most;

		for (uint32_t j = 0; j < pctvb_variables_per_run(pctvb); j++) {
			const uint64_t smaller = most[j] < count ? most[j] : count;

			most[j] = most[j] > count ? most[j] : count;
			count = smaller;
		}
	}
	for (uint32_t j = 0; j < PCTVB_VARIABLES_MOST; j++)
		accesses += most[j];
	return accesses;
}

static const char *pctvb_formula_of(const struct pctvb *pctvb, enum pctvb_falls falls)
{
	if (falls == FALLS_RANDOM)
		return "1/(C(m,v)*C(k+d-1,d-1)*(t+d-1)!)";
	if (falls == FALLS_POSITIONS)
		return "1/(C(m,v)*C(k+d-1,d-1)*t!*(n-1)^(d-1))";
	return pctvb->threads ? "1/(C(m,v)*C(k+d-1,d-1)*t!)" : "1/(C(m,v)*C(k+d-1,d-1)*n)";
}

static bool pctvb_guarantee(const void *state, struct strategy_guarantee *out)
{
	const struct pctvb *pctvb = state;
	const uint32_t variables = pctvb_variables_per_run(pctvb);
	const enum pctvb_falls falls = pctvb_choose_placement(pctvb);

	*out = (struct strategy_guarantee){.depth = pctvb->depth,
		.threads = pctvb->threads_most,
		.steps = pctvb_accesses_most(pctvb),
		.variables = variables,
		.variable_total = pctvb->shared_count,
		.order_threads = pctvb->threads,
		.formula = pctvb_formula_of(pctvb, falls)};
	if (!variables || !pctvb->threads_most)
		return false;
	out->probability = 1 / pctvb_orders_of(pctvb, falls);
	for (uint32_t i = 1; i < pctvb->depth; i++)
		out->probability *= (double)i / (double)(out->steps + i);
	for (uint32_t i = 0; i < variables; i++)
		out->probability *= (double)(i + 1) / (double)(pctvb->shared_count - i);
	return true;
}

static const struct strategy_option pctvb_options[] = {
	{"depth", 3, 2, CHANGE_POINTS_MAX, "bug depth, as for pct", NULL},
	{"variables", 1, 1, PCTVB_VARIABLES_MOST,
		"v: number of variables with all the positions where a thread must be preempted; most known bugs need one",
		NULL},
	{"threads", 0, 2, 8,
		"t: number of threads in one order; from 3 on a preempted thread gets any position among the others, otherwise the last one",
		NULL},
	{0},
};

const struct strategy strategy_pctvb = {
	.name = "pctvb",
	.summary =
		"as pct, but preempts threads only at accesses to a few variables, drawn for each run",
	.options = pctvb_options,
	.state_bytes = sizeof(struct pctvb),
	.begin_campaign = pctvb_begin_campaign,
	.begin_run = pctvb_begin_run,
	.choose = pctvb_choose,
	.executed = pctvb_executed,
	.end_run = pctvb_end_run,
	.guarantee = pctvb_guarantee,
	.learning = {.begin_position = pctvb_begin_position,
		.gather = pctvb_gather,
		.learn = pctvb_learn,
		.share = pctvb_share},
	.fast_path = {.focus = pctvb_focus, .lease = pctvb_lease, .end_lease = pctvb_end_lease},
};
