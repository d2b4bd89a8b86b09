/* A connection that is closed while its sender may still write: descriptors closes. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static int connection;

static void *send_all(void *unused)
{
	(void)!write(connection, "hello", 5); /* SENT */
	return unused;
}

static void *reconnect(void *unused)
{
	int journal;

	close(connection); /* CLOSED */
	journal = open("journal", O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert(journal >= 0);
	assert(lseek(journal, 0, SEEK_END) == 0);
	return unused;
}

int main(void)
{
	int ends[2];
	pthread_t sender, other;

	if (pipe(ends))
		return 2;
	connection = ends[1];
	pthread_create(&sender, NULL, send_all, NULL);
	pthread_create(&other, NULL, reconnect, NULL);
	pthread_join(sender, NULL);
	pthread_join(other, NULL);
	return unlink("journal");
}
