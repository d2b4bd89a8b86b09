/* Waits for a client, which never comes, if the second thread has made one of its two writes. */
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/socket.h>

static atomic_int first, second;

static void *write_both(void *unused)
{
	first = 1;
	second = 1;
	return unused;
}

int main(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;

	if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 5))
		return 1;
	pthread_create(&thread, NULL, write_both, NULL);
	if (first && !second)
		(void)accept(fd, NULL, NULL);
	pthread_join(thread, NULL);
	return 0;
}
