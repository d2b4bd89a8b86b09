/*
 * Load for memcached, run after run. Waits until a server listens at a Unix socket, sends commands
 * over several connections, makes the server end, and waits for the next server until killed.
 *
 * Arguments: path of the socket, rounds of commands per connection and run.
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECTIONS 4
#define REPLY_MOST 65536
#define SILENCE_MS 30000

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int connection;

	(void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	for (;;) {
		connection = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connection < 0)
			exit(2);
		if (connect(connection, (const struct sockaddr *)&address, sizeof address) == 0)
			return connection;
		close(connection);
		usleep(2000);
	}
}

/* Sends the commands of each connection in a round; the answer ends with "MN". */
static bool say(int connection, int round, int number)
{
	char text[512];
	const int key = (round * CONNECTIONS + number) % 16;
	int length = snprintf(text, sizeof text,
		"set k%d 0 0 5\r\nhello\r\nget k%d k%d\r\nappend k%d 0 0 1\r\nx\r\n"
		"set n%d 0 0 1\r\n1\r\nincr n%d 1\r\n%s%smn\r\n",
		key, key, (key + 1) % 16, key, key, key,
		round % 8 ? "" : "stats\r\nstats slabs\r\nstats items\r\n",
		round % 5 ? "" : "delete k1\r\n");

	return write(connection, text, (size_t)length) == length;
}

static bool hear(int connection)
{
	static char reply[REPLY_MOST];
	size_t length = 0;

	while (length < 4 || memcmp(reply + length - 4, "MN\r\n", 4) != 0) {
		struct pollfd wait = {.fd = connection, .events = POLLIN};
		ssize_t got = poll(&wait, 1, SILENCE_MS) == 1
				      ? read(connection, reply + length, sizeof reply - length)
				      : 0;

		if (got <= 0)
			return false;
		length += (size_t)got;
	}
	return true;
}

static void serve_one(const char *path, int rounds)
{
	int connections[CONNECTIONS];
	bool is_good = true;

	for (int i = 0; i < CONNECTIONS; i++)
		connections[i] = connect_to(path);
	for (int round = 0; round < rounds && is_good; round++) {
		for (int i = 0; i < CONNECTIONS; i++)
			is_good &= say(connections[i], round, i);
		for (int i = 0; i < CONNECTIONS && is_good; i++)
			is_good &= hear(connections[i]);
	}
	if (is_good && write(connections[0], "shutdown\r\n", 10) == 10)
		while (read(connections[0], &(char){0}, 1) > 0)
			;
	for (int i = 0; i < CONNECTIONS; i++)
		close(connections[i]);
	(void)printf("%s\n", is_good ? "served" : "lost");
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	(void)signal(SIGPIPE, SIG_IGN); /* a server may end at any time; cannot fail */
	for (;;)
		serve_one(argv[1], atoi(argv[2]));
}
