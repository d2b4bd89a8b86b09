/* EXPECT: abort runs<=1 */
/* Prints a quarter of a gigabyte and fails: only the end of it can be evidence. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (1 << 20)
#define BLOCKS 256

static void *print(void *unused)
{
	static char block[BLOCK_BYTES];

	(void)unused;
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < BLOCKS; i++)
		if (fwrite(block, 1, sizeof(block), stdout) != sizeof(block))
			exit(2);
	fprintf(stderr, "the last words\n");
	abort();
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, print, NULL);
	pthread_join(thread, NULL);
	return 0;
}
