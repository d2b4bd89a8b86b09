/* EXPECT: passed runs=300 needs=memory */
/* The twin of early_cleanup: the handler is cleared when no thread delivers any more. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#define MESSAGES 3

struct session {
	_Atomic(void (*)(int)) handler;
	atomic_int delivered;
	atomic_int answered;
};

static struct session session;

static void answer(int message)
{
	if (message > 0)
		atomic_fetch_add(&session.answered, 1);
}

static void deliver(int message)
{
	void (*const handler)(int) = atomic_load(&session.handler);

	assert(handler);
	handler(message);
	atomic_fetch_add(&session.delivered, 1);
}

static void *receive(void *unused)
{
	for (int message = 0; message < MESSAGES; message++)
		deliver(message);
	return unused;
}

int main(void)
{
	pthread_t receiver;

	atomic_store(&session.handler, answer);
	pthread_create(&receiver, NULL, receive, NULL);
	while (atomic_load(&session.delivered) < MESSAGES)
		sched_yield();
	atomic_store(&session.handler, NULL);
	pthread_join(receiver, NULL);
	assert(atomic_load(&session.delivered) == MESSAGES);
	return 0;
}
