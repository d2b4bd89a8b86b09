/* EXPECT: abort runs<=500 needs=memory */
/*
 * Three threads change x and y. The running example of Park, Vuduc and Harrold, "Falcon: Fault
 * Localization in Concurrent Programs", ICSE 2010, section 2.
 *
 * Fails when: main sets x; main.0 changes it before main.1; and the same happens to y; main then finds 2
 * in both. Either alone does no harm, so two patterns are the cause together.
 *
 * EXPECT-PATTERN: W1-W2-R1 x @x1 @x2 @check
 * EXPECT-PATTERN: W1-W2-R1 y @y1 @y2 @check
 */
#include <assert.h>
#include <pthread.h>

static volatile int x, y;

static void *change_to_two(void *unused)
{
	if (x == 1)
		x = 2; /* @x2 */
	if (y == 1)
		y = 2; /* @y2 */
	return unused;
}

static void *change_to_three(void *unused)
{
	if (x == 1)
		x = 3; /* @x3 */
	if (y == 1)
		y = 3; /* @y3 */
	return unused;
}

int main(void)
{
	pthread_t two, three;

	pthread_create(&two, NULL, change_to_two, NULL);
	pthread_create(&three, NULL, change_to_three, NULL);
	if (x == 0)
		x = 1; /* @x1 */
	if (y == 0)
		y = 1;				 /* @y1 */
	const int is_failure = x == 2 && y == 2; /* @check */

	pthread_join(two, NULL);
	pthread_join(three, NULL);
	assert(!is_failure);
	return 0;
}
