/* EXPECT: passed runs=3000 */
/*
 * Pattern: a descriptor is taken out of its variable under a lock, and closed once.
 *
 * A connection is closed by its reader or by whoever stops the server. The reader then opens a journal.
 *
 * Never fails: the first thread that takes the descriptor leaves -1 behind, so only it closes.
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int connection; /* guarded by lock */

static void connection_close(void)
{
	pthread_mutex_lock(&lock);

	const int taken = connection;

	connection = -1;
	pthread_mutex_unlock(&lock);
	if (taken >= 0)
		close(taken);
}

static void *read_connection(void *unused)
{
	connection_close();

	const int journal = open("/dev/null", O_WRONLY);
	const ssize_t written = write(journal, "closed\n", 7);

	assert(written == 7);
	close(journal);
	return unused;
}

int main(void)
{
	pthread_t reader;

	connection = open("/dev/zero", O_RDONLY);
	assert(connection >= 0);
	pthread_create(&reader, NULL, read_connection, NULL);
	connection_close();
	pthread_join(reader, NULL);
	return 0;
}
