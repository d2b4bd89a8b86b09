/* A request uses a session of its own, unless it finds the cached one in its fourth look. The owner frees the
 * cached session, so that the function touches shared memory in few runs only, and freed memory in fewer. */
#include <pthread.h>
#include <stdlib.h>

struct session {
	int uses;
	int kind;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *cached;

static __attribute__((noinline)) void use(struct session *session)
{
	session->uses++;
	session->kind = 2;
}

static void cache(struct session *session)
{
	pthread_mutex_lock(&lock);
	cached = session;
	pthread_mutex_unlock(&lock);
}

static void *own(void *argument)
{
	struct session *session = malloc(sizeof *session);

	cache(session);
	cache(NULL);
	free(session);
	return argument;
}

static void *request(void *argument)
{
	struct session *mine = malloc(sizeof *mine), *session = mine;

	for (int look = 0; look < 4; look++) {
		pthread_mutex_lock(&lock);
		if (look == 3 && cached)
			session = cached;
		pthread_mutex_unlock(&lock);
	}
	use(session);
	free(mine);
	return argument;
}

int main(void)
{
	pthread_t owner, user;

	pthread_create(&owner, NULL, own, NULL);
	pthread_create(&user, NULL, request, NULL);
	pthread_join(owner, NULL);
	pthread_join(user, NULL);
	return 0;
}
