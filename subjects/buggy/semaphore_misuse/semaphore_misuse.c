/* EXPECT: abort strategy=random runs<=500 */
/*
 * Pattern: semaphore misuse (a post without the wait that it belongs to).
 *
 * One printer, guarded by a semaphore. A thread that finds it busy continues without printing, but
 * leaves by the same code, which posts.
 *
 * Fails when: main.0 has the printer; main.1 tries, fails and posts nevertheless; main.2 tries,
 * succeeds thanks to that post, and prints onto main.0's page.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>

#define USERS 3

static sem_t printer;
static int users_printing; /* guarded by printer */
static pthread_mutex_t spool_lock = PTHREAD_MUTEX_INITIALIZER;
static int pages_spooled; /* guarded by spool_lock */

static void spool_page(void)
{
	pthread_mutex_lock(&spool_lock);
	pages_spooled++;
	pthread_mutex_unlock(&spool_lock);
}

static void *user(void *unused)
{
	bool has_printer = sem_trywait(&printer) == 0;

	(void)unused;
	if (has_printer) {
		users_printing++;
		assert(users_printing == 1);
		spool_page();
		users_printing--;
	}
	sem_post(&printer);
	return NULL;
}

int main(void)
{
	pthread_t users[USERS];

	sem_init(&printer, 0, 1);
	for (int i = 0; i < USERS; i++)
		pthread_create(&users[i], NULL, user, NULL);
	for (int i = 0; i < USERS; i++)
		pthread_join(users[i], NULL);
	sem_destroy(&printer);
	printf("printed\n");
	return 0;
}
