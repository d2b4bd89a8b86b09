/* EXPECT: passed runs=500 needs=memory */
/* The twin of header_table: a thread that searches a header takes the lock, too. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

struct header {
	_Atomic(const char *) value;
	atomic_bool present;
};

static struct header length = {"100", true};
static struct header host = {"localhost", true};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* lock of threads that change headers */

static void header_set(struct header *header, const char *value)
{
	pthread_mutex_lock(&lock);
	atomic_store(&header->present, false);
	atomic_store(&header->value, value);
	atomic_store(&header->present, true);
	pthread_mutex_unlock(&lock);
}

static bool header_is_present(struct header *header)
{
	pthread_mutex_lock(&lock);
	const bool is_present = atomic_load(&header->present);
	pthread_mutex_unlock(&lock);
	return is_present;
}

static void *compress_body(void *unused)
{
	header_set(&length, "40");
	return unused;
}

static void *use_proxy(void *unused)
{
	header_set(&host, "proxy");
	return unused;
}

static void *send(void *argument)
{
	bool *const is_chunked = argument;

	*is_chunked = !header_is_present(&length);
	return NULL;
}

int main(void)
{
	pthread_t compressor, proxy, sender;
	bool is_chunked = false;

	pthread_create(&compressor, NULL, compress_body, NULL);
	pthread_create(&proxy, NULL, use_proxy, NULL);
	pthread_create(&sender, NULL, send, &is_chunked);
	pthread_join(compressor, NULL);
	pthread_join(proxy, NULL);
	pthread_join(sender, NULL);
	assert(!is_chunked);
	assert(strcmp(length.value, "40") == 0 && strcmp(host.value, "proxy") == 0);
	return 0;
}
