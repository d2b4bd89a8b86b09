/* EXPECT: abort runs<=2000 */
/*
 * Pattern: a descriptor is closed twice, and its number belongs to another file by then.
 *
 * A connection is closed by its reader or by whoever stops the server. The reader then opens a journal.
 *
 * Fails when: main tests the descriptor; main.0 closes it and opens the journal, which gets the same
 * number; main closes that number; main.0 cannot write to its journal.
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int connection;

static void connection_close(void)
{
	if (connection < 0)
		return;
	close(connection);
	connection = -1;
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
