/* Older variants of sigaction() and sigprocmask(); libc's bypass the interposed functions. */
#include <signal.h>

#include "runtime/interpose.h"

/* Returns -1 for an invalid signal. */
static int signal_old_mask_set_one(int how, int signal)
{
	sigset_t set;

	(void)sigemptyset(&set);
	return sigaddset(&set, signal) ? -1 : sigprocmask(how, &set, NULL);
}

INTERPOSED(int, sighold, (int signal), signal_old_mask_set_one(SIG_BLOCK, signal));
INTERPOSED(int, sigrelse, (int signal), signal_old_mask_set_one(SIG_UNBLOCK, signal));

static int signal_old_set_handler(int signal, sighandler_t handler, struct sigaction *old)
{
	struct sigaction action = {.sa_handler = handler};

	return sigaction(signal, &action, old);
}

INTERPOSED(int, sigignore, (int signal), signal_old_set_handler(signal, SIG_IGN, NULL));

EXPORT sighandler_t sigset(int signal, sighandler_t handler)
{
	struct sigaction before;
	sigset_t mask;

	ENTER();
	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (sigprocmask(SIG_BLOCK, NULL, &mask) || sigaction(signal, NULL, &before))
		return SIG_ERR;
	if (handler == SIG_HOLD) {
		if (signal_old_mask_set_one(SIG_BLOCK, signal))
			return SIG_ERR;
	} else if (signal_old_set_handler(signal, handler, NULL) ||
		   signal_old_mask_set_one(SIG_UNBLOCK, signal)) {
		return SIG_ERR;
	}
	return sigismember(&mask, signal) ? SIG_HOLD : before.sa_handler;
}

/* BSD masks: one bit for each of the first 32 signals. */
static int signal_old_mask_replace(int how, int bits)
{
	sigset_t set = {0}, old;

	set.__val[0] = (unsigned int)bits;
	if (sigprocmask(how, &set, &old))
		return -1;
	return (int)(unsigned int)old.__val[0];
}

INTERPOSED(int, sigblock, (int bits), signal_old_mask_replace(SIG_BLOCK, bits));
INTERPOSED(int, sigsetmask, (int bits), signal_old_mask_replace(SIG_SETMASK, bits));
INTERPOSED(int, siggetmask, (void), signal_old_mask_replace(SIG_BLOCK, 0));

/* Implements sigpause() of <signal.h>: takes a signal (X/Open) or a mask (BSD). */
int __sigpause(int signal_or_mask, int is_signal);

EXPORT int __sigpause(int signal_or_mask, int is_signal)
{
	sigset_t set = {0};

	ENTER();
	if (!is_signal)
		set.__val[0] = (unsigned int)signal_or_mask;
	else if (sigprocmask(SIG_BLOCK, NULL, &set) || sigdelset(&set, signal_or_mask))
		return -1;
	return sigsuspend(&set);
}

int xpg_sigpause(int signal) __asm__("__xpg_sigpause");

INTERPOSED(int, xpg_sigpause, (int signal), __sigpause(signal, 1));
