/* Runs in the rewind server and in the moving thread. */
#include "runtime/restart/pay.h"

/* Runs in one stretch; more with checkpoints, because the first runs take them. */
#define RUNS_WITHOUT 16
#define RUNS_WITH 64
/* Per mode, alternating. The fastest counts: disturbances only slow a stretch down. */
#define STRETCHES 3
/* Some milliseconds: a stretch without checkpoints ends early when a few runs take this long, */
#define TICKS_ENOUGH (UINT64_C(1) << 23)
#define RUNS_FEW 4
/* A stretch also ends early when its runs take this long, however few. */
#define TICKS_LONG (UINT64_C(1) << 26)
/* Runs until the next trial, doubled each time. */
#define RUNS_STAY 2048
#define RUNS_STAY_MOST (UINT64_C(1) << 20)
/* Number of runs per check between trials. */
#define RUNS_WATCH 256
#define FACTOR_MOST 1024
/* Counts of a parting are halved after this many runs. A new parting replaces the rarest one. */
#define RUNS_REMEMBERED 4096
/* First runs, without known partings; then a timed checkpoint must save TICKS_BLIND times more. */
#define RUNS_BLIND 64
#define TICKS_BLIND 16
/* Cost of a checkpoint as a multiple of its taking: it is also restored and dropped. */
#define TAKING_IN_ALL 2
/* Runs until the counts of a parting are reliable. */
#define RUNS_KNOWN 8
/* A first guess, for a small image. */
#define TAKING_GUESS 20000

void pay_begin(struct pay *pay)
{
	*pay = (struct pay){.way = PAY_WITHOUT,
		.taking = TAKING_GUESS,
		.factor = 1,
		.stay_next = RUNS_STAY / 2};
}

static void pay_go(struct pay *pay, enum pay_way way, uint64_t stay)
{
	pay->way = way;
	pay->stay = stay;
	pay->runs = pay->ticks = pay->longest = 0;
}

/* Returns true if the mean is lower by at least a sixteenth: smaller differences may be random. */
static bool pay_is_worth(const struct pay *pay, uint64_t mean)
{
	return mean + pay->mean[PAY_WITHOUT] / 16 < pay->mean[PAY_WITHOUT];
}

static void pay_decide(struct pay *pay)
{
	if (pay->stay_next < RUNS_STAY_MOST)
		pay->stay_next *= 2;
	pay->stretches = 0;
	pay_go(pay, pay_is_worth(pay, pay->mean[PAY_WITH]) ? PAY_WITH : PAY_WITHOUT,
		pay->stay_next);
}

/* Returns the mean duration without the longest run, which may have been disturbed. */
static uint64_t pay_mean(const struct pay *pay)
{
	return pay->runs > RUNS_FEW ? (pay->ticks - pay->longest) / (pay->runs - 1)
				    : pay->ticks / pay->runs;
}

/* Returns true if checkpoints save more than a quarter: the trial ends early. */
static bool pay_is_clear(const struct pay *pay)
{
	return pay->mean[PAY_WITH] && pay->mean[PAY_WITH] < pay->mean[PAY_WITHOUT] / 4 * 3;
}

static void pay_judge(struct pay *pay)
{
	const enum pay_way other = pay->way == PAY_WITH ? PAY_WITHOUT : PAY_WITH;
	const uint64_t mean = pay_mean(pay);

	if (pay->stay) {
		pay->mean[PAY_WITH] = pay->mean[PAY_WITHOUT] = 0;
		pay_go(pay, PAY_WITHOUT, 0);
		return;
	}
	if (!pay->mean[pay->way] || mean < pay->mean[pay->way])
		pay->mean[pay->way] = mean;
	pay->stretches++;
	if (pay->stretches == 2 * STRETCHES || pay_is_clear(pay))
		pay_decide(pay);
	else
		pay_go(pay, other, 0);
}

static bool pay_is_long(const struct pay *pay)
{
	return pay->ticks > TICKS_LONG || (pay->ticks > TICKS_ENOUGH && pay->runs >= RUNS_FEW);
}

void pay_run_ended(struct pay *pay, uint64_t ticks)
{
	const uint64_t enough = pay->stay	       ? pay->stay
				: pay->way == PAY_WITH ? RUNS_WITH
						       : RUNS_WITHOUT;

	/* The very first run warms up the process. */
	if (!pay->is_warm) {
		pay->is_warm = true;
		return;
	}
	/* Probably the run lost the processor to another process. */
	if (pay->runs >= 8 && ticks > 4 * (pay->ticks / pay->runs))
		ticks = 4 * (pay->ticks / pay->runs);
	pay->runs++;
	pay->ticks += ticks;
	if (ticks > pay->longest)
		pay->longest = ticks;
	/* The mode that was faster in the trial may be slower later. */
	if (pay->stay && pay->way == PAY_WITH && pay->runs >= RUNS_WATCH) {
		pay->stay = pay->stay > pay->runs ? pay->stay - pay->runs : 1;
		if (!pay_is_worth(pay, pay_mean(pay)))
			pay->stay = 1;
		pay->runs = pay->ticks = pay->longest = 0;
	}
	if (pay->runs >= enough || (pay->way == PAY_WITHOUT && !pay->stay && pay_is_long(pay)))
		pay_judge(pay);
}

void pay_taken(struct pay *pay, bool is_timed, uint64_t ticks)
{
	/* The first checkpoints touch fresh memory: follows decreases at once, increases slowly. */
	if (ticks < pay->taking)
		pay->taking = ticks;
	else
		pay->taking += pay->taking / (ticks / 4 > pay->taking ? 4 : 16);
	if (!is_timed)
		return;
	pay->spent += ticks < 2 * pay->taking ? ticks : 2 * pay->taking;
	if (pay->spent < 64 * pay->taking)
		return;
	/* Timed checkpoints must save what they cost. */
	if (pay->saved < 2 * pay->spent && pay->factor < FACTOR_MOST)
		pay->factor *= 2;
	else if (pay->saved > 4 * pay->spent && pay->factor > 1)
		pay->factor /= 2;
	pay->spent = pay->saved = 0;
}

void pay_dropped(struct pay *pay, uint64_t ticks)
{
	pay->saved += ticks;
}

static void pay_new_parting(struct pay *pay, uint32_t entry)
{
	struct pay_parting *rarest = &pay->partings[0];

	if (pay->parting_count < PAY_PARTINGS) {
		rarest = &pay->partings[pay->parting_count++];
	} else {
		for (uint32_t i = 1; i < PAY_PARTINGS; i++)
			if (pay->partings[i].parted < rarest->parted)
				rarest = &pay->partings[i];
		pay->parting_at[rarest->entry] = 0;
	}
	*rarest = (struct pay_parting){.entry = entry};
	pay->parting_at[entry] = (uint8_t)(rarest - pay->partings + 1);
}

void pay_parted(struct pay *pay, uint32_t entry)
{
	pay->runs_parted++;
	for (uint32_t i = 0; i < pay->parting_count; i++) {
		struct pay_parting *parting = &pay->partings[i];

		parting->before += entry < parting->entry;
		if (++parting->runs < RUNS_REMEMBERED)
			continue;
		parting->runs /= 2;
		parting->before /= 2;
		parting->parted /= 2;
	}
	if (entry >= PAY_ENTRIES)
		return;
	if (!pay->parting_at[entry])
		pay_new_parting(pay, entry);
	pay->partings[pay->parting_at[entry] - 1].parted++;
}

bool pay_wants_at(const struct pay *pay, uint32_t entry, uint64_t ticks)
{
	const struct pay_parting *parting = &pay->partings[pay->parting_at[entry] - 1];
	/* Between two earlier partings, the first run takes the checkpoint. */
	const uint64_t stretches = parting->before + 1;

	return parting->runs >= RUNS_KNOWN && parting->runs > stretches &&
	       (parting->runs - stretches) * ticks > stretches * TAKING_IN_ALL * pay->taking;
}

bool pay_wants(const struct pay *pay, uint64_t ticks)
{
	/* Once partings are known, a checkpoint at a parting saves more than a timed one. */
	return ticks >
	       (pay->runs_parted < RUNS_BLIND ? 1 : TICKS_BLIND) * pay->factor * pay->taking;
}
