/*
 * Flanagan, Godefroid, POPL 2005: threads take an inode each, and a block for it. One trace up to 13
 * threads, then four times as many for each second one: 2, 4, 8, ...
 */
#include "scaling.h"

#define BLOCKS 26
#define INODES 32

static pthread_mutex_t inode_lock[INODES], block_lock[BLOCKS];
static long inode[INODES], busy[BLOCKS];

static void *body(void *number)
{
	const long i = (long)number % INODES;

	pthread_mutex_lock(&inode_lock[i]);
	if (inode[i] == 0) {
		for (long b = i * 2 % BLOCKS;; b = (b + 1) % BLOCKS) {
			pthread_mutex_lock(&block_lock[b]);
			if (!busy[b]) {
				busy[b] = 1;
				inode[i] = b + 1;
				pthread_mutex_unlock(&block_lock[b]);
				break;
			}
			pthread_mutex_unlock(&block_lock[b]);
		}
	}
	pthread_mutex_unlock(&inode_lock[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < INODES; i++)
		pthread_mutex_init(&inode_lock[i], NULL);
	for (int i = 0; i < BLOCKS; i++)
		pthread_mutex_init(&block_lock[i], NULL);
	run_threads(thread_count(argc, argv), body);
	return 0;
}
