/* See pay.h. Runs in the rewind server and in the moving thread. */
#include "runtime/pay.h"

/* Of one way before it is judged: enough runs that one interrupted by the system does not count, */
#define RUNS_WITHOUT 64
/* and with checkpoints, which the first runs have to make, more. */
#define RUNS_WITH 256
/* Some milliseconds: whoever takes so long for few runs need not be asked for more. */
#define TICKS_ENOUGH (UINT64_C(1) << 23)
/* Another look at the way that was slower costs a few percent of so many. */
#define RUNS_STAY 8192
#define FACTOR_MOST 1024
/* A first guess, of a small image. */
#define TAKING_GUESS 20000

void pay_begin(struct pay *pay)
{
	*pay = (struct pay){.way = PAY_WITHOUT, .factor = 1};
}

static void pay_go(struct pay *pay, enum pay_way way, uint64_t stay)
{
	pay->way = way;
	pay->stay = stay;
	pay->runs = pay->ticks = 0;
}

/* The stretch is long enough: what next? */
static void pay_judge(struct pay *pay)
{
	const enum pay_way other = pay->way == PAY_WITH ? PAY_WITHOUT : PAY_WITH;

	pay->mean[pay->way] = pay->ticks / pay->runs;
	if (!pay->mean[other] || (pay->stay && pay->runs >= pay->stay))
		pay_go(pay, other, 0);
	else if (!pay->stay)
		pay_go(pay, pay->mean[PAY_WITH] < pay->mean[PAY_WITHOUT] ? PAY_WITH : PAY_WITHOUT,
			RUNS_STAY);
}

void pay_run_ended(struct pay *pay, uint64_t ticks)
{
	const uint64_t enough = pay->stay	       ? pay->stay
				: pay->way == PAY_WITH ? RUNS_WITH
						       : RUNS_WITHOUT;

	/* The system took the processor away, most probably. */
	if (pay->runs >= 8 && ticks > 4 * (pay->ticks / pay->runs))
		ticks = 4 * (pay->ticks / pay->runs);
	pay->runs++;
	pay->ticks += ticks;
	if (pay->runs >= enough ||
		(pay->way == PAY_WITHOUT && !pay->stay && pay->ticks > TICKS_ENOUGH))
		pay_judge(pay);
}

void pay_taken(struct pay *pay, uint64_t ticks)
{
	pay->taking = pay->taking ? pay->taking - pay->taking / 8 + ticks / 8 : ticks;
	pay->spent += ticks;
	if (pay->spent < 64 * pay->taking)
		return;
	/* As many as pay for themselves. */
	if (pay->saved < 2 * pay->spent && pay->factor < FACTOR_MOST)
		pay->factor *= 2;
	else if (pay->saved > 4 * pay->spent && pay->factor > 1)
		pay->factor /= 2;
	pay->spent = pay->saved = 0;
}

void pay_resumed(struct pay *pay, uint64_t ticks)
{
	pay->saved += ticks;
}

bool pay_wants(const struct pay *pay, uint64_t ticks)
{
	return ticks > pay->factor * (pay->taking ? pay->taking : TAKING_GUESS);
}
