/*
 * Constant tables with an index from shared memory: the marked conditions depend on the schedule,
 * the others do not.
 */
#include <pthread.h>

struct rank {
	char name[4];
	int weight;
};

static const int weights[4] = {3, 9, 27, 81};
static const unsigned char bits[8] = {0, 1, 1, 2, 1, 2, 2, 3};
static const struct rank ranks[3] = {{"low", 1}, {"mid", 5}, {"top", 7}};
static const double parts[2] = {0.5, 0.25};
static int state, level = 1, other, turn, place, wide = 1;
static volatile int seen;

static int stay(int value)
{
	return value;
}

static int step(int value)
{
	return value + 1;
}

static int (*const moves[2])(int) = {stay, step};
static const short far[400] = {5, 6, [300] = 7};

static void *serve(void *unused)
{
	state = 3;
	level = 2;
	other = 1;
	turn = 1;
	place = 4;
	wide = 300;
	return unused;
}

int main(void)
{
	pthread_t thread;
	int weight;

	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	weight = weights[state];
	if (weight > 30) /* sensitive */
		seen++;
	if (weight == 9) /* no thread writes 1 */
		seen++;
	if (bits[state + 4] == 3) /* sensitive */
		seen++;
	if (bits[level + 4] != 2) /* 0 and 3 do not match either */
		seen++;
	if (ranks[level].weight > 6) /* sensitive */
		seen++;
	if (ranks[level].name[0] == 'm') /* sensitive */
		seen++;
	if (ranks[level].name[1] == 'a')
		seen++;
	if (parts[other] < 0.3) /* sensitive */
		seen++;
	if (weights[other] + weights[state] == 9 + 81) /* sensitive */
		seen++;
	if (moves[turn](1) == 2) /* sensitive */
		seen++;
	if (weights[place & 7] == 3) /* sensitive */
		seen++;
	if (far[wide] == 6) /* too long: the index is kept */
		seen++;
	return pthread_join(thread, NULL);
}
