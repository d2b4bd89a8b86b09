/* EXPECT: passed runs=500 needs=memory */
/* The twin of airline_seats: a seat is taken only if the tested number is unchanged. */
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
	int left = atomic_load(&seats_left);

	do {
		if (left <= 0) {
			agency->refused++;
			return false;
		}
	} while (!atomic_compare_exchange_weak(&seats_left, &left, left - 1));
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
