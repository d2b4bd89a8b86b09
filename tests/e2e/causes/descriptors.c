/* A connection, or a file, that is closed while its sender may still write: descriptors closes|file. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
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

/* The other thread's new file may get the number of the connection. */
static void *replace(void *unused)
{
	char byte;
	int journal;

	close(connection); /* REPLACED */
	journal = open("journal", O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert(journal >= 0);
	assert(write(journal, "", 0) == 0);
	assert(pread(journal, &byte, 1, 0) == 0);
	return unused;
}

static int use_file(void)
{
	pthread_t sender, other;

	connection = open("connection", O_RDWR | O_CREAT | O_TRUNC, 0600);
	pthread_create(&sender, NULL, send_all, NULL);
	pthread_create(&other, NULL, replace, NULL);
	pthread_join(sender, NULL);
	pthread_join(other, NULL);
	return unlink("journal") | unlink("connection");
}

int main(int count, char **arguments)
{
	int ends[2];
	pthread_t sender, other;

	if (count > 1 && !strcmp(arguments[1], "file"))
		return use_file();
	if (pipe(ends))
		return 2;
	connection = ends[1];
	pthread_create(&sender, NULL, send_all, NULL);
	pthread_create(&other, NULL, reconnect, NULL);
	pthread_join(sender, NULL);
	pthread_join(other, NULL);
	return unlink("journal");
}
