/*
 * ended_thread CALL [x]: a thread uses another one that may have ended, and that main joins. It asks for its cancellation (1),
 * sends it a signal (2) or signal 0 (3), or detaches it (4). With x the program fails if the call comes first and has an effect:
 * the thread is cancelled (1), its handler runs (2), or the call succeeds (3, 4).
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static pthread_t used;
static int call, has_handled, error = -1;

static void handle(int signal)
{
	(void)signal;
	has_handled = 1;
}

static void *end(void *unused)
{
	if (call == 1)
		pthread_testcancel();
	return unused;
}

static void *use(void *unused)
{
	if (call == 1)
		error = pthread_cancel(used);
	else if (call == 4)
		error = pthread_detach(used);
	else
		error = pthread_kill(used, call == 2 ? SIGUSR1 : 0);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t user;
	void *result = NULL;

	call = atoi(argv[1]);
	signal(SIGUSR1, handle);
	pthread_create(&used, NULL, end, NULL);
	pthread_create(&user, NULL, use, NULL);
	if (call != 4)
		pthread_join(used, &result);
	pthread_join(user, NULL);
	if (argc < 3)
		return 0;
	return call == 1 ? result == PTHREAD_CANCELED : call == 2 ? has_handled : error == 0;
}
