/* EXPECT: passed runs=500 needs=memory */
/* The twin of buffer_writers: the trailer is written with the lock held, too. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#define CAPACITY 64
#ifndef WRITERS
#define WRITERS 2
#endif
#define RECORDS 1

struct buffer {
	pthread_mutex_t lock;
	unsigned used;	     /* guarded by lock */
	char text[CAPACITY]; /* guarded by lock */
};

static char records[WRITERS][4];
static struct buffer buffer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void buffer_write(const char *record)
{
	pthread_mutex_lock(&buffer.lock);
	const unsigned start = buffer.used;
	const unsigned length = strlen(record);

	assert(start + length < CAPACITY);
	memcpy(buffer.text + start, record, length);
	buffer.used = start + length;
	pthread_mutex_unlock(&buffer.lock);
}

static void buffer_write_trailer(void)
{
	pthread_mutex_lock(&buffer.lock);
	const unsigned end = buffer.used;

	assert(end + 2 < CAPACITY);
	memcpy(buffer.text + end, "--", 2);
	buffer.used = end + 2;
	pthread_mutex_unlock(&buffer.lock);
}

static void *write_records(void *argument)
{
	for (int i = 0; i < RECORDS; i++)
		buffer_write(argument);
	return NULL;
}

static void *write_trailer(void *unused)
{
	buffer_write_trailer();
	return unused;
}

static int count(char wanted)
{
	int found = 0;

	for (unsigned i = 0; i < buffer.used; i++)
		found += buffer.text[i] == wanted;
	return found;
}

int main(void)
{
	pthread_t writers[WRITERS], trailer;

	for (int i = 0; i < WRITERS; i++) {
		memset(records[i], 'a' + i, 3);
		pthread_create(&writers[i], NULL, write_records, records[i]);
	}
	pthread_create(&trailer, NULL, write_trailer, NULL);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	pthread_join(trailer, NULL);
	for (int i = 0; i < WRITERS; i++)
		assert(count((char)('a' + i)) == 3);
	assert(count('-') == 2);
	return 0;
}
