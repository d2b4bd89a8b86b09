/*
 * Delays. A thread draws the number of accesses and lock operations until its next delay, and the
 * kind and length of the delay. The mean number differs from run to run: short programs need
 * frequent delays, long ones only rare ones. The sum of a thread's delays is bounded by
 * DELAY_FIRST_NS plus 1/DELAY_PART of the elapsed time, which bounds the slowdown of a long run.
 */
#include <sys/syscall.h>
#include <time.h>

#include "base/hash.h"
#include "noise/noise.h"
#include "platform/platform.h"

#define DELAY_FIRST_NS UINT64_C(3000000)
#define DELAY_PART 16
/* Mean number of accesses between delays: 4, 16, 64 or 256. */
#define DISTANCE_LEAST 4u
#define DISTANCES 4u
/* Number of accesses between two checks while the bound is reached. */
#define DISTANCE_IDLE 4096u
#define SLEEP_MOST_NS 100000u
#define SPIN_MOST 4000u

static uint64_t began_ns; /* set by the first call */

static uint64_t elapsed_ns(void)
{
	const uint64_t now = platform_monotonic_ns();
	uint64_t none = 0;

	(void)__atomic_compare_exchange_n(
		&began_ns, &none, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return now - __atomic_load_n(&began_ns, __ATOMIC_RELAXED);
}

void noise_draw_delay(void)
{
	const uint32_t mean = DISTANCE_LEAST << 2 * (hash_pair(noise_seed(), 1) % DISTANCES);

	noise_thread.until_delay = 1 + rng_below(&noise_thread.rng, 2 * mean);
}

static void delay_sleep_for(uint64_t ns)
{
	const struct timespec time = {.tv_nsec = (long)ns};

	(void)platform_call(SYS_nanosleep, &time, NULL); /* a signal may end it */
}

void noise_delay(void)
{
	const uint64_t before_ns = elapsed_ns();

	if (noise_thread.delayed_ns > DELAY_FIRST_NS + before_ns / DELAY_PART) {
		noise_thread.until_delay = DISTANCE_IDLE;
		return;
	}
	switch (rng_below(&noise_thread.rng, 3)) {
	case 0:
		(void)platform_call(SYS_sched_yield);
		break;
	case 1:
		for (uint32_t spins = rng_below(&noise_thread.rng, SPIN_MOST); spins; spins--)
			__builtin_ia32_pause();
		break;
	default:
		delay_sleep_for(rng_below(&noise_thread.rng, SLEEP_MOST_NS));
		break;
	}
	noise_thread.delayed_ns += elapsed_ns() - before_ns;
	noise_draw_delay();
}

void noise_maybe_delay(void)
{
	if (noise_thread.until_delay > 1)
		noise_thread.until_delay--;
	else
		noise_delay();
}
