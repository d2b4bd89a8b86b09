/* EXPECT: abort strategy=random runs<=200 */
/*
 * Pattern: the transfer is announced before it is complete.
 *
 * Two players pass a ball over a table. Each signals the other, and only then puts the ball
 * down.
 *
 * Fails when: main.0 posts `pong`; main.1 waits for `pong`, locks the table and finds the ball of
 * the round before; main.0 locks the table to put its ball down.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#define ROUNDS 2

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static int ball; /* guarded by table: how often it has been hit */
static sem_t ping, pong;

static void hit_ball(int hits)
{
	pthread_mutex_lock(&table);
	ball = hits;
	pthread_mutex_unlock(&table);
}

static int look_at_ball(void)
{
	pthread_mutex_lock(&table);
	int hits = ball;
	pthread_mutex_unlock(&table);
	return hits;
}

static void *ping_player(void *unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		sem_wait(&ping);
		assert(look_at_ball() == 2 * round);
		sem_post(&pong);
		hit_ball(2 * round + 1);
	}
	return NULL;
}

static void *pong_player(void *unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		sem_wait(&pong);
		assert(look_at_ball() == 2 * round + 1);
		hit_ball(2 * round + 2);
		sem_post(&ping);
	}
	return NULL;
}

int main(void)
{
	pthread_t players[2];

	sem_init(&ping, 0, 1);
	sem_init(&pong, 0, 0);
	pthread_create(&players[0], NULL, ping_player, NULL);
	pthread_create(&players[1], NULL, pong_player, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(players[i], NULL);
	printf("%d hits\n", ball);
	sem_destroy(&ping);
	sem_destroy(&pong);
	return 0;
}
