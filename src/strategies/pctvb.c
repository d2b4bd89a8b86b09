/*
 * Strategy `pctvb`: probabilistic concurrency testing with variable and thread bounding.
 *
 * Bindal, Bansal, Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs",
 * 2012, sections 3 (PCTVB) and 4. As pct, but v *variables* are drawn for each run, and the change
 * points among the accesses to them only: a variable that is rarely used is tried as often as one
 * that is used all the time.
 *
 * A variable is what the paper says: a global (in memory: each eight bytes), or all that one allocation
 * site allocates; a lock or another object of synchronisation is one, too. op_class() is its number.
 *
 * Deviations from the paper:
 * - What pct deviates in: contested points only, one place past the end, a fall before the access.
 * - Only variables that two threads have used are drawn: no other order matters.
 * - How often a variable is used is the expected count of pct's kind (run_length), not an average.
 * - Priority orders: the paper gives a thread a random new priority at each change point, so a bug that
 *   needs one order of t thread fragments shows with 1/t!. pct's fall below everybody needs only
 *   that one thread is the lowest of n at first: 1/n. By default whichever promises more is taken.
 */
#include "base/rng.h"
#include "strategies/key_table.h"
#include "strategies/priority_table.h"
#include "strategies/strategy.h"

enum pctvb_option { OPTION_DEPTH, OPTION_VARIABLES, OPTION_THREADS };

#define VARIABLES_MOST 8
#define FRAGMENTS_STANDARD 3

struct pctvb_variable {
	uint64_t count;		    /* contested accesses in this run */
	struct run_length accesses; /* of a run, learnt */
	uint16_t thread;	    /* learnt: the first that used it, + 1 */
	bool is_shared;
};

struct pctvb_change {
	uint32_t variable; /* index in `variables` */
	uint64_t access;   /* the thread about to make this one, counted from 0 */
};

struct pctvb {
	struct rng rng;
	uint32_t depth, wanted, fragments; /* fragments 0: not asked for */
	uint32_t threads_most;
	uint32_t shared_count;
	uint32_t change_count, fallen;
	uint64_t
		drawn_for; /* seed + 1 of the run whose variables have been drawn already; 0: none */
	bool is_focused;   /* accesses to other variables than the run's may have been no points */
	struct pctvb_change changes[CHANGE_POINTS_MAX];
	struct priority_table priorities;
	struct key_table classes;
	struct key_table thread_names;
	uint16_t shared[KEY_TABLE_CAPACITY]; /* indices in `variables` */
	struct pctvb_variable variables[KEY_TABLE_CAPACITY];
};

static size_t pctvb_state_bytes(const struct strategy_config *config)
{
	(void)config; /* all arrays are bounded */
	return sizeof(struct pctvb);
}

static void pctvb_begin_campaign(void *state, const struct strategy_config *config)
{
	struct pctvb *pctvb = state;

	pctvb->depth = (uint32_t)config->option[OPTION_DEPTH];
	pctvb->wanted = (uint32_t)config->option[OPTION_VARIABLES];
	pctvb->fragments = (uint32_t)config->option[OPTION_THREADS];
}

static uint64_t factorial(uint32_t number)
{
	uint64_t product = 1;

	while (number > 1)
		product *= number--;
	return product;
}

/* A fall goes to a random place, not below everybody. */
static bool has_random_falls(const struct pctvb *pctvb)
{
	return pctvb->fragments || pctvb->threads_most > factorial(FRAGMENTS_STANDARD);
}

static uint32_t variables_per_run(const struct pctvb *pctvb)
{
	return pctvb->wanted < pctvb->shared_count ? pctvb->wanted : pctvb->shared_count;
}

/* ---- before a run ---- */

/* Brings the run's variables, drawn without replacement, to the front of `shared`. */
static void draw_variables(struct pctvb *pctvb)
{
	for (uint32_t i = 0; i < variables_per_run(pctvb); i++) {
		const uint32_t pick = i + rng_below(&pctvb->rng, pctvb->shared_count - i);
		const uint16_t other = pctvb->shared[pick];

		pctvb->shared[pick] = pctvb->shared[i];
		pctvb->shared[i] = other;
	}
}

/* Each of the accesses to the run's variables is as likely; the last place is past the end. */
static void draw_changes(struct pctvb *pctvb)
{
	const uint32_t count = variables_per_run(pctvb);
	uint64_t places = 1;

	pctvb->change_count = 0;
	for (uint32_t i = 0; i < count; i++)
		places += pctvb->variables[pctvb->shared[i]].accesses.expected;
	for (uint32_t i = 1; count && i < pctvb->depth; i++) {
		uint64_t place = rng_below64(&pctvb->rng, places);
		uint32_t j = 0;

		while (j < count && place >= pctvb->variables[pctvb->shared[j]].accesses.expected)
			place -= pctvb->variables[pctvb->shared[j++]].accesses.expected;
		if (j < count)
			pctvb->changes[pctvb->change_count++] = (struct pctvb_change){
				.variable = pctvb->shared[j], .access = place};
	}
}

/* Draws the run's variables, once. */
static void begin_drawing(struct pctvb *pctvb, uint64_t seed)
{
	if (pctvb->drawn_for == seed + 1)
		return;
	pctvb->drawn_for = seed + 1;
	pctvb->is_focused = false;
	rng_seed(&pctvb->rng, seed);
	draw_variables(pctvb);
}

/* Change points are at accesses to the run's variables; of others nothing is wanted. */
static uint32_t pctvb_focus(void *state, uint64_t seed, object_name *objects, uint32_t capacity)
{
	struct pctvb *pctvb = state;
	const uint32_t count = variables_per_run(pctvb);

	begin_drawing(pctvb, seed);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t class = pctvb->classes.keys[pctvb->shared[i]];

		/* All that one place allocates has no name of an object. */
		if (i == capacity || class <= UINT16_MAX)
			return 0;
		objects[i] = (object_name) class;
	}
	pctvb->is_focused = count;
	return count;
}

static void pctvb_begin_run(void *state, uint64_t seed)
{
	struct pctvb *pctvb = state;

	begin_drawing(pctvb, seed);
	pctvb->priorities.known = 0;
	pctvb->fallen = 0;
	for (uint32_t i = 0; i < pctvb->classes.count; i++)
		pctvb->variables[i].count = 0;
	draw_changes(pctvb);
}

/* ---- during a run ---- */

/* Is the access that the thread is about to make a change point? */
static bool is_change(const struct pctvb *pctvb, uint32_t variable)
{
	for (uint32_t i = 0; i < pctvb->change_count; i++)
		if (pctvb->changes[i].variable == variable &&
			pctvb->changes[i].access == pctvb->variables[variable].count)
			return true;
	return false;
}

static void fall(struct pctvb *pctvb, uint32_t thread)
{
	pctvb->fallen++;
	pctvb->priorities.priority[thread] = has_random_falls(pctvb)
						     ? rng_next(&pctvb->rng) | PRIORITY_INITIAL
						     : CHANGE_POINTS_MAX - pctvb->fallen + 1;
}

/* The variable of an op; KEY_TABLE_NONE: it has none. */
static uint32_t variable_of(struct pctvb *pctvb, const struct pending_op *op)
{
	/* Who is created, begins, ends or is waited for cannot be in another order. */
	if (!op->object || op_descriptions[op->kind].object == OBJECT_THREAD)
		return KEY_TABLE_NONE;
	return key_table_add(&pctvb->classes, op_class(op));
}

static struct thread_id pctvb_choose(void *state, const struct schedule_view *view)
{
	struct pctvb *pctvb = state;
	uint32_t chosen, variable;

	priority_table_meet(&pctvb->priorities, &pctvb->rng, view);
	if (view->enabled_count == 1)
		return (struct thread_id){(uint16_t)view_next_enabled(view, 0)};
	chosen = priority_table_highest(&pctvb->priorities, view);
	variable = variable_of(pctvb, &view->pending[chosen]);
	if (variable == KEY_TABLE_NONE)
		return (struct thread_id){(uint16_t)chosen};
	if (is_change(pctvb, variable)) {
		fall(pctvb, chosen);
		chosen = priority_table_highest(&pctvb->priorities, view);
	}
	pctvb->variables[variable].count++;
	return (struct thread_id){(uint16_t)chosen};
}

/* Learns who uses what. */
static void pctvb_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct pctvb *pctvb = state;
	const uint32_t number = variable_of(pctvb, &view->pending[thread.index]);
	const uint32_t name = key_table_add(&pctvb->thread_names, view->names[thread.index]);
	struct pctvb_variable *variable;

	if (number == KEY_TABLE_NONE || name == KEY_TABLE_NONE)
		return;
	variable = &pctvb->variables[number];
	if (!variable->thread)
		variable->thread = (uint16_t)(name + 1);
	if (variable->thread == name + 1 || variable->is_shared)
		return;
	variable->is_shared = true;
	pctvb->shared[pctvb->shared_count++] = (uint16_t)number;
}

/* Is it one of the run's variables? */
static bool is_drawn(const struct pctvb *pctvb, uint32_t variable)
{
	for (uint32_t i = 0; i < variables_per_run(pctvb); i++)
		if (pctvb->shared[i] == variable)
			return true;
	return false;
}

static void pctvb_end_run(void *state, const struct run_summary *summary)
{
	struct pctvb *pctvb = state;

	/* Such a run was cut off: its length says how long one waited, not how long runs are. */
	if (summary->outcome == OUTCOME_LIVELOCK || summary->outcome == OUTCOME_HANG)
		return;
	if (summary->thread_count > pctvb->threads_most)
		pctvb->threads_most = summary->thread_count;
	for (uint32_t i = 0; i < pctvb->classes.count; i++) {
		/* Of others not all accesses were points. */
		if (pctvb->is_focused && !is_drawn(pctvb, i))
			continue;
		run_length_learn(&pctvb->variables[i].accesses, pctvb->variables[i].count,
			summary->outcome == OUTCOME_PASSED || summary->outcome == OUTCOME_EXIT);
	}
}

/* ---- the promise ---- */

/* The most accesses that v variables have together in a run: the careful side. */
static uint64_t places_most(const struct pctvb *pctvb)
{
	uint64_t most[VARIABLES_MOST] = {0};
	uint64_t places = 1;

	for (uint32_t i = 0; i < pctvb->shared_count; i++) {
		uint64_t count = pctvb->variables[pctvb->shared[i]].accesses.most;

		for (uint32_t j = 0; j < variables_per_run(pctvb); j++) {
			const uint64_t smaller = most[j] < count ? most[j] : count;

			most[j] = most[j] > count ? most[j] : count;
			count = smaller;
		}
	}
	for (uint32_t j = 0; j < VARIABLES_MOST; j++)
		places += most[j];
	return places;
}

static bool pctvb_guarantee(const void *state, struct strategy_guarantee *out)
{
	const struct pctvb *pctvb = state;
	const uint32_t variables = variables_per_run(pctvb);
	const uint32_t fragments = pctvb->fragments ? pctvb->fragments : FRAGMENTS_STANDARD;
	const bool is_random = has_random_falls(pctvb);

	*out = (struct strategy_guarantee){.depth = pctvb->depth,
		.threads = pctvb->threads_most,
		.steps = places_most(pctvb),
		.variables = variables,
		.variable_total = pctvb->shared_count,
		.fragments = is_random ? fragments : 0,
		.formula = is_random ? "1/(C(m,v)*k^(d-1)*t!)" : "1/(C(m,v)*k^(d-1)*n)"};
	if (!variables || !pctvb->threads_most)
		return false;
	out->probability =
		1 / (is_random ? (double)factorial(fragments) : (double)pctvb->threads_most);
	for (uint32_t i = 1; i < pctvb->depth; i++)
		out->probability /= (double)out->steps;
	for (uint32_t i = 0; i < variables; i++)
		out->probability *= (double)(i + 1) / (double)(pctvb->shared_count - i);
	return true;
}

static const struct strategy_option pctvb_options[] = {
	{"depth", 3, 2, CHANGE_POINTS_MAX, "ordering constraints a bug may need, as for pct", NULL},
	{"variables", 1, 1, VARIABLES_MOST,
		"v: so many variables hold all the places where a thread has to be stopped; most "
		"known bugs need one",
		NULL},
	{"threads", 0, 2, 8,
		"t: so many thread fragments have to be in one order; a thread that is stopped then "
		"gets a random place. Without it, 3 with more than 6 threads, else as pct",
		NULL},
	{0},
};

const struct strategy strategy_pctvb = {
	.name = "pctvb",
	.summary =
		"as pct, but stops threads only at accesses to a few variables, drawn for each run",
	.options = pctvb_options,
	.state_bytes = pctvb_state_bytes,
	.begin_campaign = pctvb_begin_campaign,
	.begin_run = pctvb_begin_run,
	.focus = pctvb_focus,
	.choose = pctvb_choose,
	.executed = pctvb_executed,
	.end_run = pctvb_end_run,
	.guarantee = pctvb_guarantee,
};
