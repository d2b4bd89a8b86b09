/* EXPECT: abort|crash(SIGSEGV) runs<=1 */
/* Writes far beyond a block of the heap; the allocator notices, or the next user of that memory does. */
#include <pthread.h>
#include <stdlib.h>

static void *work(void *unused)
{
	volatile size_t size = 64 * 1024;
	volatile char *block = malloc(16);
	void *volatile next;

	for (size_t i = 0; i < size; i++)
		block[i] = 0x5a;
	next = malloc(3000);
	free(next);
	free((void *)block);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
