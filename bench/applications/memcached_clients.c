/*
 * memcached_clients REQUESTS: memcached with two worker threads in this process, and two clients that store, read and
 * count through loopback connections. Linked with memcached, whose main function is renamed.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 11311
#define CLIENTS 2
#define LINE_BYTES 256

extern int memcached_main(int argc, char **argv);

static int requests;

static void *serve(void *unused)
{
	static char words[][16] = {"memcached", "-u", "root", "-U", "0", "-l", "127.0.0.1", "-p",
		"11311", "-t", "2", "-m", "2"};
	char *argv[sizeof words / sizeof *words + 1] = {NULL};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		argv[i] = words[i];
	if (memcached_main(sizeof words / sizeof *words, argv) != 0)
		exit(2);
	return unused;
}

static void fail(const char *what)
{
	(void)fprintf(stderr, "memcached_clients: %s\n", what);
	exit(2);
}

static int connect_client(void)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	for (;;) {
		const int client = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(client, (const struct sockaddr *)&address, sizeof address) == 0)
			return client;
		close(client);
		usleep(1000); /* the server does not listen yet */
	}
}

/* Sends a request, and reads the answer up to its last line, which begins with `end`. */
static void ask(FILE *in, int client, const char *request, const char *end)
{
	char line[LINE_BYTES];

	if (write(client, request, strlen(request)) != (ssize_t)strlen(request))
		fail("write");
	do {
		if (!fgets(line, sizeof line, in))
			fail("no answer");
		if (strstr(line, "ERROR"))
			fail(line);
	} while (strncmp(line, end, strlen(end)) != 0);
}

static void *use(void *number)
{
	const int client = connect_client();
	FILE *in = fdopen(client, "r");
	char request[LINE_BYTES];

	if (!in)
		fail("fdopen");
	for (int i = 0; i < requests; i++) {
		(void)snprintf(request, sizeof request, "set key%d 0 0 5\r\nvalue\r\n", i % 8);
		ask(in, client, request, "STORED");
		(void)snprintf(request, sizeof request, "get key%d key%d\r\n", i % 8, (i + 1) % 8);
		ask(in, client, request, "END");
		ask(in, client, "incr count 1\r\n", "");
	}
	(void)fclose(in);
	return number;
}

int main(int argc, char **argv)
{
	pthread_t server, clients[CLIENTS];
	FILE *in;
	int client;
	char line[LINE_BYTES], wanted[LINE_BYTES];

	requests = argc > 1 ? atoi(argv[1]) : 10;
	if (pthread_create(&server, NULL, serve, NULL) != 0)
		return 2;
	client = connect_client();
	if (!(in = fdopen(client, "r")))
		return 2;
	ask(in, client, "set count 0 0 1\r\n0\r\n", "STORED");
	for (int i = 0; i < CLIENTS; i++)
		if (pthread_create(&clients[i], NULL, use, NULL) != 0)
			return 2;
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(clients[i], NULL);
	(void)snprintf(wanted, sizeof wanted, "%d", CLIENTS * requests);
	if (write(client, "get count\r\n", 11) != 11 || !fgets(line, sizeof line, in) ||
		!fgets(line, sizeof line, in))
		fail("no count");
	if (strncmp(line, wanted, strlen(wanted)) != 0)
		fail("lost update");
	exit(0);
}
