/* EXPECT: crash(SIGSEGV) runs<=1 */
/* The main thread calls itself until its stack is used up, while another thread waits. */
#include <pthread.h>
#include <semaphore.h>

static sem_t never_posted;
static volatile int depth_limit = 1 << 30;

static int descend(int depth)
{
	volatile char frame[4000];

	frame[0] = (char)depth;
	return depth < depth_limit ? descend(depth + 1) + frame[0] : 0;
}

static void *work(void *unused)
{
	sem_wait(&never_posted);
	return unused;
}

int main(void)
{
	pthread_t thread;

	sem_init(&never_posted, 0, 0);
	pthread_create(&thread, NULL, work, NULL);
	return descend(0);
}
