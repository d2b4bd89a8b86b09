/* EXPECT: passed runs=300 needs=memory */
/* The twin of http_request: bytes and length are exchanged, and read, in one locked step. */
#include <assert.h>
#include <pthread.h>
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
	into->raw = raw;
	into->rlen = strlen(raw);
	pthread_mutex_unlock(&into->lock);
}

static void request_log(struct request *from, struct log *log)
{
	pthread_mutex_lock(&from->lock);
	const char *raw = from->raw;
	const unsigned long rlen = from->rlen;
	pthread_mutex_unlock(&from->lock);

	assert(rlen < sizeof log->line);
	strncpy(log->line, raw, rlen);
	log->length = rlen;
}

static void *serve(void *unused)
{
	request_parse(&request, "GET /index.html HTTP/1.1");
	return unused;
}

static void *write_log(void *log)
{
	request_log(&request, log);
	return NULL;
}

int main(void)
{
	pthread_t server, logger;
	struct log log = {0};

	pthread_create(&server, NULL, serve, NULL);
	pthread_create(&logger, NULL, write_log, &log);
	pthread_join(server, NULL);
	pthread_join(logger, NULL);
	assert(log.length >= 8 && strcmp(log.line + log.length - 8, "HTTP/1.1") == 0);
	return 0;
}
