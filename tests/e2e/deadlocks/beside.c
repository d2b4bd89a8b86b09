/* Two threads deadlock while a third waits for a signal, a connection or time, for ever. */
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t config = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stats = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_over;
static int listener;
static sigset_t handled;

static void *wait_for_signal(void *unused)
{
	int signal;

	sigwait(&handled, &signal);
	return unused;
}

static void *wait_for_client(void *unused)
{
	while (accept(listener, NULL, NULL) >= 0)
		;
	return unused;
}

static void *beat(void *unused)
{
	while (!is_over)
		sleep(1);
	return unused;
}

static void *lock_both(void *is_reverse)
{
	pthread_mutex_t *first = is_reverse ? &stats : &config;
	pthread_mutex_t *second = is_reverse ? &config : &stats;

	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
	return NULL;
}

static int listen_on_any_port(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 5))
		return -1;
	return fd;
}

int main(int count, char **arguments)
{
	const char *const name = count > 1 ? arguments[1] : "";
	void *(*const body)(void *) = !strcmp(name, "signal")	? wait_for_signal
				      : !strcmp(name, "client") ? wait_for_client
								: beat;
	const int is_right = count > 2;
	pthread_t bystander, threads[2];

	sigemptyset(&handled);
	sigaddset(&handled, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &handled, NULL);
	listener = listen_on_any_port();
	pthread_create(&bystander, NULL, body, NULL);
	pthread_create(&threads[0], NULL, lock_both, NULL);
	pthread_create(&threads[1], NULL, lock_both, is_right ? NULL : &is_over);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	is_over = 1;
	shutdown(listener, SHUT_RDWR);
	pthread_kill(bystander, SIGTERM);
	pthread_join(bystander, NULL);
	return 0;
}
