/*
 * signalled WHAT: prints "ready" and the signals that it receives. WHAT: wait (for them, in a thread), handle (them,
 * in handlers), die (of them), stay (for any signal), alone (handle, without threads), busy (none: it ends).
 * signalled send PID: queues the first real-time signals with a value, in order.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(9);
}

static void say_signal(const siginfo_t *information)
{
	char text[64];

	if (information->si_code == SI_QUEUE)
		(void)snprintf(text, sizeof text, "got RTMIN+%d %d\n",
			information->si_signo - SIGRTMIN, information->si_value.sival_int);
	else
		(void)snprintf(text, sizeof text, "got %s\n", sigabbrev_np(information->si_signo));
	say(text);
}

static volatile sig_atomic_t is_ending;

static void handle(int number, siginfo_t *information, void *context)
{
	(void)context;
	say_signal(information);
	is_ending |= number == SIGTERM;
}

static sigset_t all_of_them(void)
{
	const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCONT,
		SIGWINCH, SIGRTMIN, SIGRTMIN + 1};
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		(void)sigaddset(&set, numbers[i]);
	return set;
}

static void *wait_for_signals(void *unused)
{
	const sigset_t set = all_of_them();
	siginfo_t information = {0};

	(void)unused;
	say("ready\n");
	while (information.si_signo != SIGTERM)
		if (sigwaitinfo(&set, &information) > 0)
			say_signal(&information);
	return NULL;
}

static void *do_nothing(void *unused)
{
	return unused;
}

static void install(void (*plain)(int))
{
	struct sigaction action = {.sa_flags = SA_SIGINFO};
	const sigset_t set = all_of_them();

	action.sa_sigaction = handle;
	if (plain) {
		action.sa_flags = 0;
		action.sa_handler = plain;
	}
	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigismember(&set, number) == 1)
			(void)sigaction(number, &action, NULL);
}

static int send_values(pid_t process)
{
	for (int i = 0; i < 6; i++) {
		const union sigval value = {.sival_int = 100 + i};

		if (sigqueue(process, SIGRTMIN + i % 2, value) != 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "wait";
	const sigset_t set = all_of_them();
	pthread_t thread;

	if (strcmp(what, "send") == 0)
		return send_values((pid_t)atoi(argv[2]));
	if (strcmp(what, "wait") == 0)
		(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (strcmp(what, "handle") == 0 || strcmp(what, "alone") == 0)
		install(NULL);
	if (strcmp(what, "stay") == 0)
		install(SIG_IGN);
	if (strcmp(what, "alone") != 0) {
		(void)pthread_create(
			&thread, NULL, strcmp(what, "wait") ? do_nothing : wait_for_signals, NULL);
		(void)pthread_join(thread, NULL);
	}
	if (strcmp(what, "wait") == 0) {
		say("end\n");
		return 0;
	}
	say("ready\n");
	is_ending |= strcmp(what, "busy") == 0;
	while (!is_ending)
		(void)pause();
	say("end\n");
	return 0;
}
