/*
 * Failures whose cause the trace of one run shows, one for each argument: mailbox, rounds, stop, house, idle, tally,
 * orders, spin_destroy, spin_unlock, relaxed, last_signal. The check reads line numbers from the markers behind the code.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static int letters, jobs, finished;
static volatile bool is_stopped;

/* ---- mailbox: writers and readers wait on one condition variable, and a signal wakes one of them ---- */

static void *write_letters(void *unused)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		while (letters == 1)
			pthread_cond_wait(&changed, &lock); /* FULL */
		letters++;
		pthread_cond_signal(&changed); /* WRITTEN */
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *read_letters(void *unused)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		while (letters == 0)
			pthread_cond_wait(&changed, &lock); /* EMPTY */
		letters--;
		pthread_cond_signal(&changed); /* READ */
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void run_mailbox(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, i % 2 ? read_letters : write_letters, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* ---- rounds: the last thread leaves before the last round ---- */

static pthread_barrier_t rounds;

static void *make_rounds(void *number)
{
	pthread_barrier_wait(&rounds);
	pthread_mutex_lock(&lock);
	if (finished++ || number == &rounds) {
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&rounds); /* SECOND_ROUND */
	} else {
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void run_rounds(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&rounds, NULL, 2);
	pthread_create(&threads[0], NULL, make_rounds, NULL);
	pthread_create(&threads[1], NULL, make_rounds, &rounds);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* ---- stop: set without the lock under which it is tested ---- */

static void *wait_for_stop(void *unused)
{
	pthread_mutex_lock(&lock); /* TESTED */
	while (!is_stopped)
		pthread_cond_wait(&changed, &lock); /* WAITS */
	pthread_mutex_unlock(&lock);
	return unused;
}

static void run_stop(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, wait_for_stop, NULL);
	is_stopped = true;		  /* STOPS */
	pthread_cond_broadcast(&changed); /* TELLS */
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* ---- house: two conditions share one condition variable, and both change without the lock ---- */

static volatile bool is_open, is_lit;

static void *wait_until_open(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!is_open)
		pthread_cond_wait(&changed, &lock); /* CLOSED */
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *wait_until_lit(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!is_lit)
		pthread_cond_wait(&changed, &lock); /* DARK */
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *open_house(void *unused)
{
	is_open = true;			  /* OPENS */
	pthread_cond_broadcast(&changed); /* IS_OPEN */
	return unused;
}

static void *light_house(void *unused)
{
	is_lit = true;			  /* LIGHTS */
	pthread_cond_broadcast(&changed); /* IS_LIT */
	return unused;
}

static void run_house(void)
{
	void *(*const starts[])(void *) = {
		wait_until_open, wait_until_lit, open_house, light_house};
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, starts[i], NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* ---- idle: workers wait for more work, rightly; main has missed that they are done ---- */

static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!jobs)
			pthread_cond_wait(&changed, &lock); /* IDLE */
		jobs--;
		finished++;
		pthread_cond_signal(&done); /* FINISHED */
	}
	return unused;
}

static void run_idle(void)
{
	pthread_t worker;

	pthread_create(&worker, NULL, work, NULL);
	pthread_mutex_lock(&lock);
	jobs++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	pthread_cond_wait(&done, &lock); /* MISSES */
	pthread_mutex_unlock(&lock);
}

/* ---- tally: workers count in two critical sections; if they lose a count, no thread signals main ---- */

static void *count_jobs(void *unused)
{
	for (;;) {
		int count;

		pthread_mutex_lock(&lock);
		while (!jobs)
			pthread_cond_wait(&changed, &lock);
		jobs--;
		count = finished;
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
		finished = count + 1;
		if (finished == 2)
			pthread_cond_signal(&done);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void run_tally(void)
{
	pthread_t workers[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&workers[i], NULL, count_jobs, NULL);
	pthread_mutex_lock(&lock);
	jobs = 2;
	pthread_cond_broadcast(&changed);
	while (finished < 2)
		pthread_cond_wait(&done, &lock); /* UNSENT */
	pthread_mutex_unlock(&lock);
}

/* ---- orders: two of three threads take the locks in one order ---- */

static void *forwards(void *unused)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *backwards(void *unused)
{
	pthread_mutex_lock(&other); /* ODD_FIRST */
	pthread_mutex_lock(&lock);  /* ODD_SECOND */
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&other);
	return unused;
}

static void run_orders(void)
{
	pthread_t threads[2];

	forwards(NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, i ? backwards : forwards, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* ---- spin locks ---- */

static void *hold_spin(void *unused)
{
	pthread_spin_trylock(&spin); /* TAKEN */
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void run_spin(bool is_destroyed)
{
	pthread_t thread;

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_create(&thread, NULL, hold_spin, NULL);
	pthread_join(thread, NULL);
	pthread_spin_trylock(&spin); /* it fails */
	if (is_destroyed)
		pthread_spin_destroy(&spin);
	else
		pthread_spin_unlock(&spin);
}

/* ---- relaxed: a store that publishes data without release ---- */

static int page;
static atomic_bool is_written;

static void *write_page(void *unused)
{
	page = 42;
	atomic_store_explicit(&is_written, true, memory_order_relaxed); /* STORED */
	return unused;
}

static void run_relaxed(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, write_page, NULL);
	if (atomic_load_explicit(&is_written, memory_order_acquire)) /* LOADED */
		letters += page;
	pthread_join(thread, NULL);
}

/* ---- last_signal: the awaited thread signals a condition variable that is freed by then ---- */

struct task {
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done;
};

static void *do_task(void *argument)
{
	struct task *task = argument;

	pthread_mutex_lock(&task->lock);
	task->is_done = true;
	pthread_mutex_unlock(&task->lock); /* LETS_GO */
	pthread_cond_signal(&task->done);  /* TOO_LATE */
	return NULL;
}

/* The task lies on the stack. */
static void run_last_signal_on_stack(void)
{
	struct task task = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
	pthread_t thread;

	pthread_create(&thread, NULL, do_task, &task);
	pthread_mutex_lock(&task.lock);
	while (!task.is_done)
		pthread_cond_wait(&task.done, &task.lock);
	pthread_mutex_unlock(&task.lock);
	pthread_cond_destroy(&task.done); /* DESTROYED */
	pthread_join(thread, NULL);
}

static void run_last_signal(void)
{
	struct task *task = calloc(1, sizeof *task);
	pthread_t thread;

	pthread_mutex_init(&task->lock, NULL);
	pthread_cond_init(&task->done, NULL);
	pthread_create(&thread, NULL, do_task, task);
	pthread_mutex_lock(&task->lock);
	while (!task->is_done)
		pthread_cond_wait(&task->done, &task->lock);
	pthread_mutex_unlock(&task->lock);
	free(task); /* FREED */
	pthread_join(thread, NULL);
}

/* ---- again: a function locks what its caller holds ---- */

static int read_letters_count(void)
{
	int count;

	pthread_mutex_lock(&lock); /* AGAIN */
	count = letters;
	pthread_mutex_unlock(&lock);
	return count;
}

static void *count_under_lock(void *unused)
{
	pthread_mutex_lock(&lock); /* HELD */
	letters = read_letters_count();
	pthread_mutex_unlock(&lock);
	return unused;
}

static void run_again(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, count_under_lock, NULL);
	pthread_join(thread, NULL);
}

/* ---- gone: a thread ends and keeps the lock ---- */

static void *count_until_full(void *unused)
{
	pthread_mutex_lock(&lock); /* KEPT */
	if (letters)
		return unused;
	letters++;
	pthread_mutex_unlock(&lock);
	return unused;
}

static void run_gone(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, count_until_full, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* ---- log_in: a test and a change in two critical sections ---- */

static void *log_in(void *unused)
{
	bool is_known;

	pthread_mutex_lock(&lock); /* ASKED */
	is_known = jobs;
	pthread_mutex_unlock(&lock);
	if (is_known)
		return unused;
	pthread_mutex_lock(&lock); /* ENTERED */
	jobs++;
	pthread_mutex_unlock(&lock);
	return unused;
}

static void run_log_in(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, log_in, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (jobs != 1)
		abort();
}

/* A lock-free stack that frees what another thread may still read. */
struct link {
	struct link *next;
};

static _Atomic(struct link *) top_link;

static void *replace_top(void *unused)
{
	for (int i = 0; i < 2; i++) {
		struct link *link = malloc(sizeof *link);

		link->next = atomic_load(&top_link);
		while (!atomic_compare_exchange_weak(&top_link, &link->next, link))
			;
		link = atomic_load(&top_link);
		while (link &&
			!atomic_compare_exchange_weak(&top_link, &link, link->next)) /* NEXT */
			;
		free(link); /* LINK_FREED */
	}
	return unused;
}

static void run_lock_free(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, replace_top, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "mailbox"))
		run_mailbox();
	else if (!strcmp(name, "rounds"))
		run_rounds();
	else if (!strcmp(name, "stop"))
		run_stop();
	else if (!strcmp(name, "house"))
		run_house();
	else if (!strcmp(name, "idle"))
		run_idle();
	else if (!strcmp(name, "tally"))
		run_tally();
	else if (!strcmp(name, "orders"))
		run_orders();
	else if (!strncmp(name, "spin", 4))
		run_spin(!strcmp(name, "spin_destroy"));
	else if (!strcmp(name, "relaxed"))
		run_relaxed();
	else if (!strcmp(name, "again"))
		run_again();
	else if (!strcmp(name, "gone"))
		run_gone();
	else if (!strcmp(name, "log_in"))
		run_log_in();
	else if (!strcmp(name, "lock_free"))
		run_lock_free();
	else if (!strcmp(name, "last_signal_on_stack"))
		run_last_signal_on_stack();
	else
		run_last_signal();
	return 0;
}
