/*
 * Counts of bits, and sums that report an overflow: the marked conditions depend on the schedule, and the others do not.
 */
#include <pthread.h>

static volatile unsigned long word = 3;
static volatile unsigned color = 0x11223344;
static volatile int left = 5;
static volatile unsigned long items = 2;
static volatile int seen;

static void *serve(void *unused)
{
	word = 1ul << 40;
	color = 0xa0;
	left = -2147483647;
	items = 1ul << 62;
	return unused;
}

int main(void)
{
	pthread_t thread;
	unsigned long bytes;
	int sum;

	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	if (__builtin_popcountl(word) == 1) /* sensitive */
		seen++;
	if (__builtin_popcountl(word) == 3)
		seen++;
	if (__builtin_clzl(word) < 30) /* sensitive */
		seen++;
	if (__builtin_ctzl(word) == 40) /* sensitive */
		seen++;
	if (__builtin_ctzl(word) == 41)
		seen++;
	if (__builtin_bswap32(color) == 0xa0000000) /* sensitive */
		seen++;
	if (__builtin_rotateleft32(color, 28) == 10) /* sensitive */
		seen++;
	if (__builtin_sub_overflow(left, 100, &sum)) /* sensitive */
		seen++;
	if (__builtin_add_overflow(left, 100, &sum))
		seen++;
	if (__builtin_sub_overflow(left, 3, &sum) || sum == 2) /* sensitive */
		seen++;
	if (__builtin_mul_overflow(left, 1000, &sum)) /* sensitive */
		seen++;
	if (__builtin_mul_overflow(items, 8ul, &bytes)) /* sensitive */
		seen++;
	return pthread_join(thread, NULL);
}
