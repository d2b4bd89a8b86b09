/* EXPECT: abort strategy=surw runs<=200 */
/*
 * Pattern: check, then act.
 *
 * Three agents sell the last seats of a flight. Each asks first whether a seat is left and sells
 * afterwards; both steps take the lock, but not the same hold of it.
 *
 * Fails when: with one seat left, main.0 and main.1 both lock and unlock in seats_left before
 * either locks in sell_seat: both sell it.
 *
 * EXPECT-BRANCH: if (seats_left() > 0) [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define AGENTS 3
#define SEATS 4
#define CUSTOMERS 2 /* per agent: two of the six go home without a ticket */

static struct {
	pthread_mutex_t lock;
	int capacity;
	int sold; /* guarded by lock */
} flight = {.lock = PTHREAD_MUTEX_INITIALIZER, .capacity = SEATS};

static int seats_left(void)
{
	pthread_mutex_lock(&flight.lock);
	int left = flight.capacity - flight.sold;
	pthread_mutex_unlock(&flight.lock);
	return left;
}

static void sell_seat(void)
{
	pthread_mutex_lock(&flight.lock);
	flight.sold++;
	pthread_mutex_unlock(&flight.lock);
}

static void serve_customer(void)
{
	if (seats_left() > 0)
		sell_seat();
}

static void *agent(void *unused)
{
	(void)unused;
	for (int i = 0; i < CUSTOMERS; i++)
		serve_customer();
	return NULL;
}

int main(void)
{
	pthread_t agents[AGENTS];

	for (int i = 0; i < AGENTS; i++)
		pthread_create(&agents[i], NULL, agent, NULL);
	for (int i = 0; i < AGENTS; i++)
		pthread_join(agents[i], NULL);

	printf("%d of %d seats sold\n", flight.sold, flight.capacity);
	assert(flight.sold == flight.capacity);
	return 0;
}
