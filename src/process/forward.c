#include "process/forward.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Capacity of the queue. A power of two, because `next` may wrap around. */
#define RING_SIZE 64
#define SIGNALS_END 65

/* State for the signal handler, which has no argument. The handler writes `ring` and `next`; the
 * only thread writes the rest. */
static struct {
	siginfo_t ring[RING_SIZE];
	volatile unsigned next; /* index to fill */
	unsigned passed;	/* signals before this index have been sent */
	volatile unsigned stop_count;
	uint64_t sent; /* signals that were sent, as bits (number - 1) */
	struct sigaction old[SIGNALS_END];
	bool is_replaced[SIGNALS_END];
} forward;

static void forward_take(int number, siginfo_t *information, void *context)
{
	(void)context;
	forward.stop_count += number == SIGINT || number == SIGTERM;
	if (forward.next - forward.passed == RING_SIZE)
		return; /* lost, as in a full queue of the kernel */
	forward.ring[forward.next % RING_SIZE] = *information;
	forward.next++;
}

/* Returns whether the signal is forwarded. raddle's own signals are not, and neither are a
 * terminal's stops, which would look like a hang. */
static bool forward_is_forwarded(int number)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM,
		SIGCONT, SIGWINCH, SIGURG, SIGIO, SIGPWR};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i] == number)
			return true;
	return number >= SIGRTMIN && number <= SIGRTMAX;
}

void forward_begin(void)
{
	struct sigaction action = {
		.sa_sigaction = forward_take, .sa_flags = SA_SIGINFO | SA_RESTART};

	memset(&forward, 0, sizeof forward);
	(void)sigfillset(&action.sa_mask); /* cannot fail */
	for (int number = 1; number < SIGNALS_END; number++) {
		/* Fails for undefined numbers only. */
		if (!forward_is_forwarded(number) ||
			sigaction(number, NULL, &forward.old[number]) != 0 ||
			forward.old[number].sa_handler == SIG_IGN)
			continue;
		forward.is_replaced[number] = sigaction(number, &action, NULL) == 0;
	}
}

void forward_end(void)
{
	for (int number = 1; number < SIGNALS_END; number++) {
		if (forward.is_replaced[number])
			(void)sigaction(number, &forward.old[number],
				NULL); /* restores the previous handler */
		forward.is_replaced[number] = false;
	}
}

static void pass_on(pid_t target, siginfo_t *information)
{
	const int number = information->si_signo;

	forward.sent |= UINT64_C(1) << (number - 1);
	/* Sends the signal with the value of sigqueue(). The kernel does not permit to forge the
	 * sender. */
	if (information->si_code == SI_QUEUE &&
		syscall(SYS_rt_sigqueueinfo, target, number, information) == 0)
		return;
	(void)kill(target, number); /* the process may have ended */
}

void forward_pass_on(pid_t target)
{
	while (target > 1 && forward.passed != forward.next) {
		pass_on(target, &forward.ring[forward.passed % RING_SIZE]);
		forward.passed++;
	}
}

unsigned forward_stop_count(void)
{
	return forward.stop_count;
}

bool forward_has_ended(const struct outcome *outcome)
{
	return (outcome->kind == OUTCOME_CRASH || outcome->kind == OUTCOME_ABORT) &&
	       outcome->code > 0 && outcome->code < SIGNALS_END &&
	       forward.sent >> (outcome->code - 1) & 1;
}
