/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: buffer writer (several writers fill one buffer under a lock; a later addition does not
 * take the lock).
 *
 * Fails when: main.2, which writes the trailer, reads buffer.used; a writer that holds the lock appends
 * its record and moves buffer.used; main.2 writes its line over that record and sets buffer.used back.
 * The opposite fails, too: the writer with the lock has read buffer.used when main.2 appends.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-TABLE: BufWriter threads=5 schedules=12 -DWRITERS=3
 * EXPECT-PATTERN: R1-W2-W1 buffer.used @where @move @end
 * EXPECT-PATTERN: R1-W2-W1 buffer.used @place @end @move
 */
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
	const unsigned start = buffer.used; /* @place */
	const unsigned length = strlen(record);

	assert(start + length < CAPACITY);
	memcpy(buffer.text + start, record, length);
	buffer.used = start + length; /* @move */
	pthread_mutex_unlock(&buffer.lock);
}

static void buffer_write_trailer(void)
{
	const unsigned end = buffer.used; /* @where */

	assert(end + 2 < CAPACITY);
	memcpy(buffer.text + end, "--", 2);
	buffer.used = end + 2; /* @end */
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
