/* Waits for a message that nobody sends. */
#include <assert.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void *do_nothing(void *unused)
{
	return unused;
}

int main(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
	struct timespec until;
	char name[40], message[8];
	pthread_t thread;
	mqd_t queue;

	(void)snprintf(name, sizeof name, "/letters-%d", (int)getpid());
	queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
	mq_unlink(name);
	if (queue == (mqd_t)-1 || pthread_create(&thread, NULL, do_nothing, NULL))
		return 0;
	pthread_join(thread, NULL);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec = (until.tv_nsec + 100000000) % 1000000000;
	until.tv_sec += until.tv_nsec < 100000000;
	assert(mq_timedreceive(queue, message, sizeof message, NULL, &until) == 0);
}
