/*
 * unnoticed WHAT: a thread waits until a signal has set a flag. WHAT: poll or pause, which miss a signal between the
 * test and the call; or ppoll, which does not.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t is_ending;
static const char *what;
static int channel[2];

static void handle(int signal)
{
	(void)signal;
	is_ending = 1;
}

static void *loop(void *unused)
{
	struct pollfd request = {channel[0], POLLIN, 0};
	sigset_t none;

	sigemptyset(&none);
	while (!is_ending)
		if (strcmp(what, "pause") == 0)
			pause(); /* PAUSE */
		else if (strcmp(what, "poll") == 0)
			poll(&request, 1, -1); /* POLL */
		else
			ppoll(&request, 1, NULL, &none);
	return unused;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = handle};
	sigset_t signals;
	pthread_t thread;

	what = argc > 1 ? argv[1] : "poll";
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	if (pipe(channel) || sigaction(SIGUSR1, &action, NULL))
		return 2;
	if (strcmp(what, "ppoll") == 0)
		pthread_sigmask(SIG_BLOCK, &signals, NULL);
	pthread_create(&thread, NULL, loop, NULL);
	pthread_kill(thread, SIGUSR1); /* SENT */
	pthread_join(thread, NULL);
	return 0;
}
