/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: airline (a sale tests for a free seat and takes one; each step alone is atomic).
 *
 * Fails when: main.0 sees that one seat is left; main.1 sells it; main.0 sells it again, and more
 * tickets than seats are out.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-TABLE: AirLineTickets threads=11 schedules=2 -DAGENCIES=10 -DSEATS=8
 * EXPECT-PATTERN: R1-W2-W1 seats_left @look @sell @sell
 * EXPECT-BRANCH: if (atomic_load(&seats_left) <= 0) { [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef SEATS
#define SEATS 3
#endif
#ifndef AGENCIES
#define AGENCIES 3
#endif
#define CUSTOMERS 2

struct agency {
	pthread_t thread;
	int refused;
	int sold;
};

static atomic_int seats_left = SEATS;
static atomic_int tickets_issued;
static atomic_int waiting_list;

static bool sell(struct agency *agency)
{
	if (atomic_load(&seats_left) <= 0) { /* @look */
		agency->refused++;
		return false;
	}
	atomic_fetch_sub(&seats_left, 1); /* @sell */
	agency->sold++;
	return true;
}

static void *serve_customers(void *argument)
{
	struct agency *agency = argument;

	for (int i = 0; i < CUSTOMERS; i++) {
		if (sell(agency))
			atomic_fetch_add(&tickets_issued, 1);
		else
			atomic_fetch_add(&waiting_list, 1);
	}
	return NULL;
}

int main(void)
{
	struct agency agencies[AGENCIES] = {0};
	int refused = 0, sold = 0;

	for (int i = 0; i < AGENCIES; i++)
		pthread_create(&agencies[i].thread, NULL, serve_customers, &agencies[i]);
	for (int i = 0; i < AGENCIES; i++) {
		pthread_join(agencies[i].thread, NULL);
		refused += agencies[i].refused;
		sold += agencies[i].sold;
	}
	assert(refused == atomic_load(&waiting_list));
	assert(sold == atomic_load(&tickets_issued));
	assert(sold <= SEATS);
	return 0;
}
