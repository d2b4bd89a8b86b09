/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: logging appender (an appender is tested and used without the lock under which it is
 * removed).
 *
 * Fails when: main.0 sees that the logger has an appender; main.1 closes the logger; main.0 takes the
 * appender to write to, and it is not there any more.
 *
 * EXPECT-PATTERN: R1-W2-R1 logger.appender @there @close @use
 * EXPECT-BRANCH: if ((int)level < atomic_load(&logger.level)) [bug]
 * EXPECT-BRANCH: if (!atomic_load(&logger.appender)) { [benign]
 * EXPECT-BRANCH: assert(to); [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define LINES 8

enum level { LEVEL_DEBUG, LEVEL_WARNING, LEVEL_ERROR };

struct appender {
	int written;
	enum level lines[LINES];
};

struct logger {
	pthread_mutex_t lock;
	_Atomic(struct appender *) appender;
	atomic_int level; /* enum level: what is below is not written */
	atomic_int dropped;
};

static struct appender appender;
static struct logger logger = {
	.lock = PTHREAD_MUTEX_INITIALIZER, .appender = &appender, .level = LEVEL_WARNING};

static void appender_write(struct appender *to, enum level level)
{
	assert(to);
	assert(to->written < LINES);
	to->lines[to->written] = level;
	to->written++;
}

static void logger_log(enum level level)
{
	if ((int)level < atomic_load(&logger.level))
		return;
	if (!atomic_load(&logger.appender)) { /* @there */
		atomic_fetch_add(&logger.dropped, 1);
		return;
	}
	pthread_mutex_lock(&logger.lock);
	appender_write(atomic_load(&logger.appender), level); /* @use */
	pthread_mutex_unlock(&logger.lock);
}

static void logger_close(void)
{
	pthread_mutex_lock(&logger.lock);
	atomic_store(&logger.appender, NULL); /* @close */
	pthread_mutex_unlock(&logger.lock);
}

static void *serve(void *unused)
{
	logger_log(LEVEL_DEBUG);
	logger_log(LEVEL_WARNING);
	logger_log(LEVEL_ERROR);
	return unused;
}

static void *shut_down(void *unused)
{
	atomic_store(&logger.level, LEVEL_ERROR);
	logger_log(LEVEL_ERROR);
	logger_close();
	return unused;
}

int main(void)
{
	pthread_t server, controller;

	pthread_create(&server, NULL, serve, NULL);
	pthread_create(&controller, NULL, shut_down, NULL);
	pthread_join(server, NULL);
	pthread_join(controller, NULL);
	assert(appender.written + atomic_load(&logger.dropped) <= 3);
	return 0;
}
