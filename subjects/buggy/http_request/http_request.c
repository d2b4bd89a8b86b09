/* EXPECT: abort runs<=300 needs=memory */
/*
 * An HTTP server stores the raw bytes of a request and their length, for the thread that logs it.
 * Each of the two is replaced in one locked step.
 *
 * Fails when: main.0, which serves, has stored the raw bytes of the next request; main.1, which logs, reads
 * the raw bytes and their length of different requests; main.0 stores the length.
 *
 * EXPECT-PATTERN: W1x-R2x-R2y-W1y request.raw @raw @log_raw @log_length @length
 * EXPECT-PATTERN: R1x-W2x-W2y-R1y request.raw @log_raw @raw @length @log_length
 * EXPECT-VIOLATION: W1x-R2x-R2y-W1y request_parse request_log @raw @log_raw @log_length @length
 * EXPECT-VIOLATION: R1x-W2x-W2y-R1y request_log request_parse @log_raw @raw @length @log_length
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct request {
	pthread_mutex_t lock;
	const char *raw;    /* guarded by lock */
	unsigned long rlen; /* strlen(raw); guarded by lock */
};

struct log {
	char line[64];
	unsigned long length;
};

static struct request request = {PTHREAD_MUTEX_INITIALIZER, "GET / HTTP/1.1", 14};

static void request_parse(struct request *into, const char *raw)
{
	pthread_mutex_lock(&into->lock);
	into->raw = raw; /* @raw */
	pthread_mutex_unlock(&into->lock);

	pthread_mutex_lock(&into->lock);
	into->rlen = strlen(raw); /* @length */
	pthread_mutex_unlock(&into->lock);
}

static void request_log(struct request *from, struct log *log)
{
	pthread_mutex_lock(&from->lock);
	const char *raw = from->raw; /* @log_raw */
	pthread_mutex_unlock(&from->lock);

	pthread_mutex_lock(&from->lock);
	const unsigned long rlen = from->rlen; /* @log_length */
	pthread_mutex_unlock(&from->lock);

	assert(rlen < sizeof log->line);
	strncpy(log->line, raw, rlen);
	log->length = rlen;
}

/* Steps of its own that the second thread makes first: the first argument. */
static long steps_apart;

static void stay_apart(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
}

static void *serve(void *unused)
{
	stay_apart();
	request_parse(&request, "GET /index.html HTTP/1.1");
	return unused;
}

static void *write_log(void *log)
{
	request_log(&request, log);
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t server, logger;
	struct log log = {0};

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	pthread_create(&server, NULL, serve, NULL);
	pthread_create(&logger, NULL, write_log, &log);
	pthread_join(server, NULL);
	pthread_join(logger, NULL);
	assert(log.length >= 8 && strcmp(log.line + log.length - 8, "HTTP/1.1") == 0);
	return 0;
}
