/* See pay.h. Runs in the rewind server and in the moving thread. */
#include "runtime/restart/pay.h"

/* In one stretch; with checkpoints, which the first runs have to make, more. */
#define RUNS_WITHOUT 16
#define RUNS_WITH 64
/* Of each way, taken in turns: the fastest counts, as the system can only make one slower. */
#define STRETCHES 3
/* Some milliseconds: whoever takes so long for a few runs need not be asked for more, */
#define TICKS_ENOUGH (UINT64_C(1) << 23)
#define RUNS_FEW 4
/* nor who takes so long for one. */
#define TICKS_LONG (UINT64_C(1) << 26)
/* Another look at the way that was slower, after so many runs, and twice as many each time. */
#define RUNS_STAY 2048
#define RUNS_STAY_MOST (UINT64_C(1) << 20)
/* While they stay, runs with checkpoints are watched in portions of so many. */
#define RUNS_WATCH 256
#define FACTOR_MOST 1024
/* Partings that are not older than so many runs count; where one is not in the table, that which is rarest goes. */
#define RUNS_REMEMBERED 4096
/* So many runs know nothing of partings; later checkpoints for their time alone have to be worth much more. */
#define RUNS_BLIND 64
#define TICKS_BLIND 16
/* What one costs in all, in times of its taking: it has also to be put back, and to be dropped. */
#define TAKING_IN_ALL 2
/* Before that it is not known how a parting fares. */
#define RUNS_KNOWN 8
/* A first guess, of a small image. */
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

/* By a sixteenth at least: runs differ in what they have to do, so less may be chance. */
static bool pay_is_worth(const struct pay *pay, uint64_t mean)
{
	return mean + pay->mean[PAY_WITHOUT] / 16 < pay->mean[PAY_WITHOUT];
}

/* Both ways have been tried often enough. */
static void pay_decide(struct pay *pay)
{
	if (pay->stay_next < RUNS_STAY_MOST)
		pay->stay_next *= 2;
	pay->stretches = 0;
	pay_go(pay, pay_is_worth(pay, pay->mean[PAY_WITH]) ? PAY_WITH : PAY_WITHOUT,
		pay->stay_next);
}

/* Without the longest run: something may have come between. */
static uint64_t pay_mean(const struct pay *pay)
{
	return pay->runs > RUNS_FEW ? (pay->ticks - pay->longest) / (pay->runs - 1)
				    : pay->ticks / pay->runs;
}

/* A third faster with checkpoints needs no second look: should it turn out otherwise, that is noticed soon. */
static bool pay_is_clear(const struct pay *pay)
{
	return pay->mean[PAY_WITH] && pay->mean[PAY_WITH] < pay->mean[PAY_WITHOUT] / 4 * 3;
}

/* The stretch is long enough: what next? */
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

	/* The first run of all makes everything that the others find. */
	if (!pay->is_warm) {
		pay->is_warm = true;
		return;
	}
	/* The system took the processor away, most probably. */
	if (pay->runs >= 8 && ticks > 4 * (pay->ticks / pay->runs))
		ticks = 4 * (pay->ticks / pay->runs);
	pay->runs++;
	pay->ticks += ticks;
	if (ticks > pay->longest)
		pay->longest = ticks;
	/* What was better in the trial need not be for all the rest. */
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
	/* The first ones touch memory that no one has touched before: what counts is what it comes to. */
	if (ticks < pay->taking)
		pay->taking = ticks;
	else
		pay->taking += pay->taking / (ticks / 4 > pay->taking ? 4 : 16);
	if (!is_timed)
		return;
	pay->spent += ticks < 2 * pay->taking ? ticks : 2 * pay->taking;
	if (pay->spent < 64 * pay->taking)
		return;
	/* As many as pay for themselves. */
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
	/* From one that parts before it to the next, runs / stretches begin there; the first makes the checkpoint. */
	const uint64_t stretches = parting->before + 1;

	return parting->runs >= RUNS_KNOWN && parting->runs > stretches &&
	       (parting->runs - stretches) * ticks > stretches * TAKING_IN_ALL * pay->taking;
}

bool pay_wants(const struct pay *pay, uint64_t ticks)
{
	/* As soon as it is known where runs part, that is the better place. */
	return ticks >
	       (pay->runs_parted < RUNS_BLIND ? 1 : TICKS_BLIND) * pay->factor * pay->taking;
}
