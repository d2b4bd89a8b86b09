/* EXPECT: exit(4)|crash(SIGSEGV) runs<=1 */
/* Has a handler for its own crashes, on a stack of its own, that reports and ends the process. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile int *volatile nowhere;

static void report(int number)
{
	(void)number;
	if (write(2, "caught\n", 7) < 0)
		_exit(5);
	_exit(4);
}

static void *work(void *unused)
{
	static char stack[65536];
	stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};

	sigaltstack(&alternative, NULL);
	*nowhere = 1;
	return unused;
}

int main(void)
{
	struct sigaction action = {.sa_handler = report, .sa_flags = SA_ONSTACK};
	pthread_t thread;

	sigemptyset(&action.sa_mask);
	sigaction(SIGSEGV, &action, NULL);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
