/* Runs in the rewind server and in the moving thread. */
#include "runtime/restart/checkpoint_cost.h"

/*
 * A stretch is a number of runs whose time is measured. Stretches with checkpoints are longer, because
 * their first runs take the checkpoints.
 */
#define RUNS_WITHOUT 16
#define RUNS_WITH 64
/* Per mode, alternating. The fastest counts: disturbances only slow a stretch down. */
#define STRETCHES 3
/* Some milliseconds: a stretch without checkpoints ends early when a few runs take this long, */
#define TICKS_ENOUGH (UINT64_C(1) << 23)
#define RUNS_FEW 4
/* A stretch of any number of runs ends early when its runs take this long. */
#define TICKS_LONG (UINT64_C(1) << 26)
/* Runs until the next trial, doubled each time. */
#define RUNS_STAY 2048
#define RUNS_STAY_MOST (UINT64_C(1) << 20)
/* Number of runs per check between trials. */
#define RUNS_WATCH 256
#define FACTOR_MOST 1024
/* Counts of a divergence are halved after this many runs. A new divergence replaces the rarest one. */
#define RUNS_REMEMBERED 4096
/* First runs, without known divergences; then a timed checkpoint must save TICKS_BLIND times more. */
#define RUNS_BLIND 64
#define TICKS_BLIND 16
/* Cost of a checkpoint as a multiple of its taking: it is also restored and dropped. */
#define TAKING_IN_ALL 2
/* The counts of a divergence are reliable after this many runs. */
#define RUNS_KNOWN 8
/* A first guess, for a small image. */
#define TAKING_GUESS 20000

void checkpoint_cost_begin(struct checkpoint_cost *cost)
{
	*cost = (struct checkpoint_cost){.mode = CHECKPOINT_COST_WITHOUT,
		.taking = TAKING_GUESS,
		.factor = 1,
		.stay_next = RUNS_STAY / 2};
}

static void checkpoint_cost_set_mode(
	struct checkpoint_cost *cost, enum checkpoint_cost_mode mode, uint64_t stay)
{
	cost->mode = mode;
	cost->stay = stay;
	cost->runs = cost->ticks = cost->longest = 0;
}

/* Returns true if the mean is lower by at least a sixteenth: smaller differences may be random. */
static bool checkpoint_cost_is_worth(const struct checkpoint_cost *cost, uint64_t mean)
{
	return mean + cost->mean[CHECKPOINT_COST_WITHOUT] / 16 <
	       cost->mean[CHECKPOINT_COST_WITHOUT];
}

static void checkpoint_cost_decide(struct checkpoint_cost *cost)
{
	if (cost->stay_next < RUNS_STAY_MOST)
		cost->stay_next *= 2;
	cost->stretches = 0;
	checkpoint_cost_set_mode(cost,
		checkpoint_cost_is_worth(cost, cost->mean[CHECKPOINT_COST_WITH])
			? CHECKPOINT_COST_WITH
			: CHECKPOINT_COST_WITHOUT,
		cost->stay_next);
}

/* Returns the mean duration without the longest run, which may have been disturbed. */
static uint64_t checkpoint_cost_mean(const struct checkpoint_cost *cost)
{
	return cost->runs > RUNS_FEW ? (cost->ticks - cost->longest) / (cost->runs - 1)
				     : cost->ticks / cost->runs;
}

/* Returns true if checkpoints save more than a quarter: the trial ends early. */
static bool checkpoint_cost_is_clear(const struct checkpoint_cost *cost)
{
	return cost->mean[CHECKPOINT_COST_WITH] &&
	       cost->mean[CHECKPOINT_COST_WITH] < cost->mean[CHECKPOINT_COST_WITHOUT] / 4 * 3;
}

static void checkpoint_cost_judge(struct checkpoint_cost *cost)
{
	const enum checkpoint_cost_mode other =
		cost->mode == CHECKPOINT_COST_WITH ? CHECKPOINT_COST_WITHOUT : CHECKPOINT_COST_WITH;
	const uint64_t mean = checkpoint_cost_mean(cost);

	if (cost->stay) {
		cost->mean[CHECKPOINT_COST_WITH] = cost->mean[CHECKPOINT_COST_WITHOUT] = 0;
		checkpoint_cost_set_mode(cost, CHECKPOINT_COST_WITHOUT, 0);
		return;
	}
	if (!cost->mean[cost->mode] || mean < cost->mean[cost->mode])
		cost->mean[cost->mode] = mean;
	cost->stretches++;
	if (cost->stretches == 2 * STRETCHES || checkpoint_cost_is_clear(cost))
		checkpoint_cost_decide(cost);
	else
		checkpoint_cost_set_mode(cost, other, 0);
}

static bool checkpoint_cost_is_long(const struct checkpoint_cost *cost)
{
	return cost->ticks > TICKS_LONG || (cost->ticks > TICKS_ENOUGH && cost->runs >= RUNS_FEW);
}

void checkpoint_cost_run_ended(struct checkpoint_cost *cost, uint64_t ticks)
{
	const uint64_t enough = cost->stay			     ? cost->stay
				: cost->mode == CHECKPOINT_COST_WITH ? RUNS_WITH
								     : RUNS_WITHOUT;

	/* The very first run warms up the process. */
	if (!cost->is_warm) {
		cost->is_warm = true;
		return;
	}
	/* Probably the run lost the processor to another process. */
	if (cost->runs >= 8 && ticks > 4 * (cost->ticks / cost->runs))
		ticks = 4 * (cost->ticks / cost->runs);
	cost->runs++;
	cost->ticks += ticks;
	if (ticks > cost->longest)
		cost->longest = ticks;
	/* The mode that was faster in the trial may be slower later. */
	if (cost->stay && cost->mode == CHECKPOINT_COST_WITH && cost->runs >= RUNS_WATCH) {
		cost->stay = cost->stay > cost->runs ? cost->stay - cost->runs : 1;
		if (!checkpoint_cost_is_worth(cost, checkpoint_cost_mean(cost)))
			cost->stay = 1;
		cost->runs = cost->ticks = cost->longest = 0;
	}
	if (cost->runs >= enough || (cost->mode == CHECKPOINT_COST_WITHOUT && !cost->stay &&
					    checkpoint_cost_is_long(cost)))
		checkpoint_cost_judge(cost);
}

void checkpoint_cost_taken(struct checkpoint_cost *cost, bool is_timed, uint64_t ticks)
{
	/* The first checkpoints touch fresh memory: follows decreases at once, increases slowly. */
	if (ticks < cost->taking)
		cost->taking = ticks;
	else
		cost->taking += cost->taking / (ticks / 4 > cost->taking ? 4 : 16);
	if (!is_timed)
		return;
	cost->spent += ticks < 2 * cost->taking ? ticks : 2 * cost->taking;
	if (cost->spent < 64 * cost->taking)
		return;
	/* Timed checkpoints must save what they cost. */
	if (cost->saved < 2 * cost->spent && cost->factor < FACTOR_MOST)
		cost->factor *= 2;
	else if (cost->saved > 4 * cost->spent && cost->factor > 1)
		cost->factor /= 2;
	cost->spent = cost->saved = 0;
}

void checkpoint_cost_dropped(struct checkpoint_cost *cost, uint64_t ticks)
{
	cost->saved += ticks;
}

static void checkpoint_cost_new_divergence(struct checkpoint_cost *cost, uint32_t entry)
{
	struct checkpoint_cost_divergence *rarest = &cost->divergences[0];

	if (cost->divergence_count < CHECKPOINT_COST_DIVERGENCES) {
		rarest = &cost->divergences[cost->divergence_count++];
	} else {
		for (uint32_t i = 1; i < CHECKPOINT_COST_DIVERGENCES; i++)
			if (cost->divergences[i].diverged < rarest->diverged)
				rarest = &cost->divergences[i];
		cost->divergence_at[rarest->entry] = 0;
	}
	*rarest = (struct checkpoint_cost_divergence){.entry = entry};
	cost->divergence_at[entry] = (uint8_t)(rarest - cost->divergences + 1);
}

void checkpoint_cost_diverged(struct checkpoint_cost *cost, uint32_t entry)
{
	cost->runs_diverged++;
	for (uint32_t i = 0; i < cost->divergence_count; i++) {
		struct checkpoint_cost_divergence *divergence = &cost->divergences[i];

		divergence->before += entry < divergence->entry;
		if (++divergence->runs < RUNS_REMEMBERED)
			continue;
		divergence->runs /= 2;
		divergence->before /= 2;
		divergence->diverged /= 2;
	}
	if (entry >= CHECKPOINT_COST_ENTRIES)
		return;
	if (!cost->divergence_at[entry])
		checkpoint_cost_new_divergence(cost, entry);
	cost->divergences[cost->divergence_at[entry] - 1].diverged++;
}

bool checkpoint_cost_saves_at(const struct checkpoint_cost *cost, uint32_t entry, uint64_t ticks)
{
	const struct checkpoint_cost_divergence *divergence =
		&cost->divergences[cost->divergence_at[entry] - 1];
	/* Between two earlier divergences, the first run takes the checkpoint. */
	const uint64_t stretches = divergence->before + 1;

	return divergence->runs >= RUNS_KNOWN && divergence->runs > stretches &&
	       (divergence->runs - stretches) * ticks > stretches * TAKING_IN_ALL * cost->taking;
}

bool checkpoint_cost_may_save_at(const struct checkpoint_cost *cost, uint32_t entry)
{
	const uint64_t most = 2 * cost->mean[CHECKPOINT_COST_WITHOUT];

	return !most || checkpoint_cost_saves_at(cost, entry, most);
}

bool checkpoint_cost_saves(const struct checkpoint_cost *cost, uint64_t ticks)
{
	/* From RUNS_BLIND runs on, checkpoints at known divergences are the better ones: a timed checkpoint
	 * must then save TICKS_BLIND times its cost. */
	return ticks >
	       (cost->runs_diverged < RUNS_BLIND ? 1 : TICKS_BLIND) * cost->factor * cost->taking;
}
