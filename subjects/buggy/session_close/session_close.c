/* EXPECT: use-after-free runs<=300 needs=memory */
/*
 * A device finds its session with the lock and uses it without; closing it frees it. Nothing crashes: the
 * memory is still there, and is counted in as before. Fails: main.0 takes the address of the session and
 * is stopped; main.1 takes the session from the device and frees it; main.0 counts in it.
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

static struct session *device_session(void)
{
	struct session *session;

	pthread_mutex_lock(&device.lock);
	session = device.session;
	device.commands++;
	pthread_mutex_unlock(&device.lock);
	return session;
}

static void *control(void *unused)
{
	for (unsigned i = 0; i < COMMANDS; i++) {
		struct session *session = device_session();

		if (session && session->mode)
			session->counters[i]++;
	}
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
