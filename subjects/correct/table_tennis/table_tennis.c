/* EXPECT: passed runs=200 needs=memory */
/* The twin of table_tennis: the referee, too, takes the lock. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef PLAYERS
#define PLAYERS 5
#endif

struct ball {
	atomic_int hits;
	int side; /* guarded by the table's lock */
};

struct table {
	pthread_mutex_t lock;
	_Atomic(struct ball *) ball;
	int misses; /* guarded by lock */
};

static struct ball ball;
static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER, .ball = &ball};

static void hit(struct ball *hit_ball, int side)
{
	assert(hit_ball);
	hit_ball->side = side;
	atomic_fetch_add(&hit_ball->hits, 1);
}

static void *play(void *argument)
{
	const int side = *(int *)argument % 2;

	pthread_mutex_lock(&table.lock);
	if (atomic_load(&table.ball))
		hit(atomic_load(&table.ball), side);
	else
		table.misses++;
	pthread_mutex_unlock(&table.lock);
	return NULL;
}

static void *end_game(void *unused)
{
	pthread_mutex_lock(&table.lock);
	atomic_store(&table.ball, NULL);
	pthread_mutex_unlock(&table.lock);
	return unused;
}

int main(void)
{
	pthread_t referee, players[PLAYERS];
	int numbers[PLAYERS];

	for (int i = 0; i < PLAYERS; i++) {
		numbers[i] = i;
		pthread_create(&players[i], NULL, play, &numbers[i]);
	}
	pthread_create(&referee, NULL, end_game, NULL);
	pthread_join(referee, NULL);
	for (int i = 0; i < PLAYERS; i++)
		pthread_join(players[i], NULL);
	assert(atomic_load(&ball.hits) + table.misses == PLAYERS);
	return 0;
}
