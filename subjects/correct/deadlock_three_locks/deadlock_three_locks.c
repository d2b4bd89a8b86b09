/* EXPECT: passed runs=20000 */
/*
 * Pattern: three locks, one order.
 *
 * A shop whose three modules each take two of three locks.
 *
 * Corrected: invoices are sent with the orders locked first. Cannot fail: all three modules lock
 * in the order orders, stock, invoices.
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
	pthread_mutex_lock(&orders);
	pthread_mutex_lock(&invoices);
	invoices_sent++;
	orders_open--;
	pthread_mutex_unlock(&invoices);
	pthread_mutex_unlock(&orders);
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
