/* EXPECT: passed runs=2000 needs=memory */
/*
 * The twin of session_close: the session is used with the lock held. A thread that finds it owns it
 * until it releases the lock, and it is freed when no thread can find it any more.
 */
#include <pthread.h>
#include <stdlib.h>

#define COMMANDS 6

struct session {
	int mode;
	unsigned counters[14];
};

static struct {
	pthread_mutex_t lock;
	struct session *session;
	unsigned long commands;
} device = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void device_control(unsigned command)
{
	pthread_mutex_lock(&device.lock);
	device.commands++;
	if (device.session && device.session->mode)
		device.session->counters[command]++;
	pthread_mutex_unlock(&device.lock);
}

static void *control(void *unused)
{
	for (unsigned i = 0; i < COMMANDS; i++)
		device_control(i);
	return unused;
}

static void *shut(void *unused)
{
	struct session *session;

	pthread_mutex_lock(&device.lock);
	session = device.session;
	device.session = NULL;
	pthread_mutex_unlock(&device.lock);
	session->mode = 0;
	free(session);
	return unused;
}

int main(void)
{
	pthread_t user, closer;

	device.session = calloc(1, sizeof *device.session);
	if (!device.session)
		return 1;
	device.session->mode = 1;
	pthread_create(&user, NULL, control, NULL);
	pthread_create(&closer, NULL, shut, NULL);
	pthread_join(user, NULL);
	pthread_join(closer, NULL);
	return 0;
}
