/* EXPECT: deadlock runs<=2000 */
/*
 * Pattern: lock-order deadlock with three locks.
 *
 * A shop: no two modules take the same two locks in opposite orders, but the three orders close a
 * cycle.
 *
 * Fails when: main.0 holds orders, main.1 holds stock and main.2 holds invoices before any of them
 * takes its second lock: each waits for the next one's.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t orders = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t invoices = PTHREAD_MUTEX_INITIALIZER;
static int orders_open, pieces_in_stock = 5, invoices_sent;

static void *place_order(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&orders);
	pthread_mutex_lock(&stock);
	pieces_in_stock--;
	orders_open++;
	pthread_mutex_unlock(&stock);
	pthread_mutex_unlock(&orders);
	return NULL;
}

static void *restock(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&stock);
	pthread_mutex_lock(&invoices);
	pieces_in_stock += 10;
	invoices_sent++;
	pthread_mutex_unlock(&invoices);
	pthread_mutex_unlock(&stock);
	return NULL;
}

static void *send_invoice(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&invoices);
	pthread_mutex_lock(&orders);
	invoices_sent++;
	orders_open--;
	pthread_mutex_unlock(&orders);
	pthread_mutex_unlock(&invoices);
	return NULL;
}

int main(void)
{
	static void *(*const modules[3])(void *) = {place_order, restock, send_invoice};
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, modules[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("stock %d, open %d, invoices %d\n", pieces_in_stock, orders_open, invoices_sent);
	return 0;
}
