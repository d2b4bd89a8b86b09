/* Two threads of which each tests what the other one sets, and then sets what the other one has tested. If both test
 * first, neither sees the change of the other, and the last wait never ends. Argument: the way to wait. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t resumed_signal = PTHREAD_COND_INITIALIZER;
static pthread_cond_t scheduled_signal = PTHREAD_COND_INITIALIZER;

/* "waiter": main waits only if the result is not ready, but announces itself after the test. */
static bool is_ready, has_waiter, is_resumed;

static bool test_ready(void)
{
	bool result;

	pthread_mutex_lock(&lock);
	result = is_ready; /* TESTED */
	pthread_mutex_unlock(&lock);
	return result;
}

static void wait_for_result(void)
{
	pthread_mutex_lock(&lock);
	has_waiter = true; /* ANNOUNCED */
	while (!is_resumed)
		pthread_cond_wait(&resumed_signal, &lock); /* WAITED */
	pthread_mutex_unlock(&lock);
}

static void *produce(void *argument)
{
	pthread_mutex_lock(&lock);
	is_ready = true;  /* READY */
	if (has_waiter) { /* LOOKED */
		is_resumed = true;
		pthread_cond_signal(&resumed_signal);
	}
	pthread_mutex_unlock(&lock);
	return argument;
}

/* "actor": the consumer declares that it is not scheduled only after it found its mailbox empty. */
static atomic_bool is_scheduled;
static int letters, is_runnable;

static void send_letter(void)
{
	pthread_mutex_lock(&lock);
	letters++; /* SENT */
	pthread_mutex_unlock(&lock);
	if (atomic_exchange(&is_scheduled, true)) /* SCHEDULED */
		return;
	pthread_mutex_lock(&lock);
	is_runnable = 1;
	pthread_cond_signal(&scheduled_signal);
	pthread_mutex_unlock(&lock);
}

static bool take_letter(void)
{
	bool has_taken;

	pthread_mutex_lock(&lock);
	has_taken = letters > 0; /* EMPTY */
	if (has_taken)
		letters--;
	pthread_mutex_unlock(&lock);
	return has_taken;
}

static void *consume(void *argument)
{
	for (int handled = 0; handled < 2;) {
		pthread_mutex_lock(&lock);
		while (!is_runnable)
			pthread_cond_wait(&scheduled_signal, &lock);
		is_runnable = 0;
		pthread_mutex_unlock(&lock);
		while (take_letter())
			handled++;
		atomic_store(&is_scheduled, false); /* IDLE */
	}
	return argument;
}

int main(int argc, char **argv)
{
	const bool is_actor = argc > 1 && !strcmp(argv[1], "actor");
	pthread_t thread;

	pthread_create(&thread, NULL, is_actor ? consume : produce, NULL);
	if (is_actor) {
		send_letter();
		send_letter();
	} else if (!test_ready()) {
		wait_for_result();
	}
	pthread_join(thread, NULL);
	return 0;
}
