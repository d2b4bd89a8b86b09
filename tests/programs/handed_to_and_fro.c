/* EXPECT: passed runs=10 */
/*
 * Two threads hand a ball to each other, so that one of them can always move. A third thread sleeps
 * meanwhile, and then ends the game: time must pass although a thread is always enabled.
 */
#include <pthread.h>
#include <time.h>

#include "check.h"

enum turn { FIRST, SECOND, OVER };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum turn turn;

static void *play(void *own)
{
	const enum turn mine = own ? SECOND : FIRST;

	MUST(pthread_mutex_lock(&mutex) == 0);
	while (turn != OVER) {
		if (turn == mine) {
			turn = mine == FIRST ? SECOND : FIRST;
			MUST(pthread_cond_signal(&changed) == 0);
		} else {
			MUST(pthread_cond_wait(&changed, &mutex) == 0);
		}
	}
	MUST(pthread_cond_broadcast(&changed) == 0);
	MUST(pthread_mutex_unlock(&mutex) == 0);
	return NULL;
}

int main(void)
{
	const struct timespec while_they_play = {.tv_nsec = 100000000};
	static int second;
	pthread_t players[2];

	MUST(pthread_create(&players[0], NULL, play, NULL) == 0);
	MUST(pthread_create(&players[1], NULL, play, &second) == 0);
	MUST(nanosleep(&while_they_play, NULL) == 0);
	MUST(pthread_mutex_lock(&mutex) == 0);
	turn = OVER;
	MUST(pthread_mutex_unlock(&mutex) == 0);
	MUST(pthread_join(players[0], NULL) == 0);
	MUST(pthread_join(players[1], NULL) == 0);
	return 0;
}
