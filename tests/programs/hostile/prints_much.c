/* EXPECT: passed runs=1 */
/* Prints a gigabyte from two threads. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES (1 << 20)
#define BLOCKS 512 /* per thread */

static void *print(void *letter)
{
	static char block[BLOCK_BYTES];

	memset(block, *(char *)letter, sizeof(block));
	for (int i = 0; i < BLOCKS; i++)
		if (fwrite(block, 1, sizeof(block), stdout) != sizeof(block))
			return letter;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	char letters[2] = {'a', 'b'};
	int failures = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, print, &letters[i]);
	for (int i = 0; i < 2; i++) {
		void *failure;

		pthread_join(threads[i], &failure);
		failures += failure != NULL;
	}
	return failures ? 1 : 0;
}
