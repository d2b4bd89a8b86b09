/* EXPECT: passed runs=1000 */
/*
 * Pattern: a library's shutdown and its calls agree on one lock order.
 *
 * A network library: closing a socket finds it in the table, locks it, and returns to the table to
 * free its place. Shutdown takes the table and closes what is still open. Since two threads may
 * shut down at once, a lock is handed over first.
 *
 * Corrected: the socket is released before its place in the table is freed. Cannot fail: a thread
 * that holds a socket takes no other lock.
 */
#include <pthread.h>
#include <stdio.h>

#define SOCKETS 2

struct socket {
	pthread_mutex_t lock;
	int is_open; /* guarded by table */
	int sent;
};

static pthread_mutex_t driver = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static struct socket sockets[SOCKETS] = {
	{.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER}};
static int users, places_free = SOCKETS, driver_calls;

static void open_socket(struct socket *socket)
{
	pthread_mutex_lock(&table);
	socket->is_open = 1;
	places_free--;
	pthread_mutex_unlock(&table);
}

static void send_packet(struct socket *socket)
{
	pthread_mutex_lock(&socket->lock);
	socket->sent++;
	pthread_mutex_unlock(&socket->lock);
}

static void close_socket(struct socket *socket)
{
	int is_open;

	pthread_mutex_lock(&driver);
	driver_calls++;
	pthread_mutex_lock(&table);
	is_open = socket->is_open;
	pthread_mutex_unlock(&table);
	if (is_open) {
		pthread_mutex_lock(&socket->lock);
		socket->sent = 0;
		pthread_mutex_unlock(&socket->lock);
		pthread_mutex_lock(&table);
		places_free += socket->is_open;
		socket->is_open = 0;
		pthread_mutex_unlock(&table);
	}
	pthread_mutex_unlock(&driver);
}

static void shut_down(void)
{
	pthread_mutex_lock(&driver);
	users--;
	pthread_mutex_unlock(&driver);
	pthread_mutex_lock(&table);
	for (int i = 0; i < SOCKETS; i++) {
		pthread_mutex_lock(&sockets[i].lock);
		places_free += sockets[i].is_open;
		sockets[i].is_open = 0;
		pthread_mutex_unlock(&sockets[i].lock);
	}
	pthread_mutex_unlock(&table);
}

static void *serve(void *socket)
{
	send_packet(socket);
	close_socket(socket);
	return NULL;
}

static void *end(void *socket)
{
	send_packet(socket);
	shut_down();
	return NULL;
}

int main(void)
{
	pthread_t server, ending;

	users = 1;
	for (int i = 0; i < SOCKETS; i++)
		open_socket(&sockets[i]);
	pthread_create(&server, NULL, serve, &sockets[0]);
	pthread_create(&ending, NULL, end, &sockets[1]);
	pthread_join(server, NULL);
	pthread_join(ending, NULL);
	printf("users %d, places free %d, driver called %d times\n", users, places_free,
		driver_calls);
	return 0;
}
