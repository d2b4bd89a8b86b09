/* EXPECT: abort runs<=200 needs=memory */
/*
 * A session is cleaned up while a callback may still arrive: an order violation.
 *
 * Fails when: main clears the handler of the session; main.0 has a message left, and reads the handler.
 *
 * EXPECT-PATTERN: W1-R2 session.handler @clear @deliver
 * EXPECT-BRANCH: assert(handler); [bug]
 * EXPECT-BRANCH: while (atomic_load(&session.answered) == 0) [ad hoc synchronisation|bug]
 */
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
	void (*const handler)(int) = atomic_load(&session.handler); /* @deliver */

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
	while (atomic_load(&session.answered) == 0)
		sched_yield();
	atomic_store(&session.handler, NULL); /* @clear */
	pthread_join(receiver, NULL);
	assert(atomic_load(&session.delivered) == MESSAGES);
	return 0;
}
