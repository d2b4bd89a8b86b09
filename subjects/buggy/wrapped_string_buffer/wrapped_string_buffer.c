/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: wrapped string buffer (every method locks its own buffer; a method with another buffer
 * holds its own lock throughout, and the other's for each step only), as in older class libraries.
 *
 * Fails when: main.0, which appends second to first, or main.1 or main.2, has asked second for its
 * length; main.4 makes second empty; the first one asks it for removed characters.
 *
 * EXPECT-VIOLATION: R1-W2-R1 buffer_append buffer_set_length @length @set_length @get_chars
 * EXPECT-VIOLATION: R1-W2-R1 buffer_insert buffer_set_length @length @set_length @get_chars
 * EXPECT-VIOLATION: R1-W2-R1 buffer_content_equals buffer_set_length @length @set_length @char_at
 * EXPECT-BRANCH: assert(end <= buffer->length); [bug]
 * EXPECT-BRANCH: assert(index < buffer->length); [bug]
 * EXPECT-BRANCH: for (int i = begin; i < end; i++) [benign|bug]
 * EXPECT-BRANCH: for (int i = buffer->length - 1; i >= at; i--) [benign|bug]
 * EXPECT-BRANCH: for (int i = 0; is_equal && i < length; i++) [benign|bug]
 * EXPECT-BRANCH: for (const int last = buffer->length - buffer_length(other); found < 0 && at <= last; [benign|bug]
 * EXPECT-BRANCH: while (same < buffer_length(other) && [benign|bug]
 * EXPECT-BRANCH: for (int i = index + 1; i < buffer->length; i++) [benign|bug]
 * EXPECT-BRANCH: if (same == buffer_length(other)) [benign|bug]
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY 64

struct buffer {
	pthread_mutex_t lock;
	int length;	     /* guarded by lock */
	char text[CAPACITY]; /* guarded by lock */
};

static struct buffer first = {PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, 3, "abc"};
static struct buffer second = {PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, 3, "abd"};

/* Locks are always taken in this order: first, second. */
static void enter(struct buffer *own, struct buffer *other)
{
	pthread_mutex_lock(&own->lock);
#ifdef LOCKS_BOTH
	pthread_mutex_lock(&other->lock);
#else
	(void)other;
#endif
}

static void leave(struct buffer *own, struct buffer *other)
{
#ifdef LOCKS_BOTH
	pthread_mutex_unlock(&other->lock);
#else
	(void)other;
#endif
	pthread_mutex_unlock(&own->lock);
}

/* ---- methods of one buffer ---- */

static int buffer_length(struct buffer *buffer)
{
	pthread_mutex_lock(&buffer->lock);
	const int length = buffer->length; /* @length */

	pthread_mutex_unlock(&buffer->lock);
	return length;
}

static char buffer_char_at(struct buffer *buffer, int index)
{
	pthread_mutex_lock(&buffer->lock);
	assert(index < buffer->length); /* @char_at */
	const char character = buffer->text[index];

	pthread_mutex_unlock(&buffer->lock);
	return character;
}

static void buffer_get_chars(struct buffer *buffer, int begin, int end, char *destination)
{
	pthread_mutex_lock(&buffer->lock);
	assert(end <= buffer->length); /* @get_chars */
	for (int i = begin; i < end; i++)
		destination[i - begin] = buffer->text[i];
	pthread_mutex_unlock(&buffer->lock);
}

static void buffer_set_length(struct buffer *buffer, int length)
{
	pthread_mutex_lock(&buffer->lock);
	for (int i = buffer->length; i < length; i++)
		buffer->text[i] = '\0';
	buffer->length = length; /* @set_length */
	pthread_mutex_unlock(&buffer->lock);
}

static void buffer_append_char(struct buffer *buffer, char character)
{
	pthread_mutex_lock(&buffer->lock);
	assert(buffer->length < CAPACITY);
	buffer->text[buffer->length] = character;
	buffer->length++;
	pthread_mutex_unlock(&buffer->lock);
}

static void buffer_delete_char_at(struct buffer *buffer, int index)
{
	pthread_mutex_lock(&buffer->lock);
	for (int i = index + 1; i < buffer->length; i++)
		buffer->text[i - 1] = buffer->text[i];
	if (index < buffer->length)
		buffer->length--;
	pthread_mutex_unlock(&buffer->lock);
}

/* ---- methods that take another buffer ---- */

static void buffer_append(struct buffer *buffer, struct buffer *other)
{
	enter(buffer, other);
	const int length = buffer_length(other);

	assert(buffer->length + length <= CAPACITY);
	buffer_get_chars(other, 0, length, buffer->text + buffer->length);
	buffer->length += length;
	leave(buffer, other);
}

static void buffer_insert(struct buffer *buffer, int at, struct buffer *other)
{
	enter(buffer, other);
	const int length = buffer_length(other);

	assert(buffer->length + length <= CAPACITY);
	for (int i = buffer->length - 1; i >= at; i--)
		buffer->text[i + length] = buffer->text[i];
	buffer_get_chars(other, 0, length, buffer->text + at);
	buffer->length += length;
	leave(buffer, other);
}

static bool buffer_content_equals(struct buffer *buffer, struct buffer *other)
{
	enter(buffer, other);
	const int length = buffer_length(other);
	bool is_equal = buffer->length == length;

	for (int i = 0; is_equal && i < length; i++)
		is_equal = buffer->text[i] == buffer_char_at(other, i);
	leave(buffer, other);
	return is_equal;
}

static int buffer_index_of(struct buffer *buffer, struct buffer *other)
{
	int at = 0, found = -1;

	enter(buffer, other);
	for (const int last = buffer->length - buffer_length(other); found < 0 && at <= last;
		at++) {
		int same = 0;

		while (same < buffer_length(other) &&
			buffer->text[at + same] == buffer_char_at(other, same))
			same++;
		if (same == buffer_length(other))
			found = at;
	}
	leave(buffer, other);
	return found;
}

/* ---- threads ---- */

/* Steps of their own that the threads which change second make first: the first argument. */
static long steps_apart;

static void stay_apart(pthread_mutex_t *own)
{
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--) {
		pthread_mutex_lock(own);
		pthread_mutex_unlock(own);
	}
}

static void *compare(void *unused)
{
	buffer_content_equals(&first, &second);
	buffer_index_of(&first, &second);
	return unused;
}

static void *append(void *unused)
{
	buffer_append(&first, &second);
	return unused;
}

static void *insert(void *unused)
{
	buffer_insert(&first, 1, &second);
	return unused;
}

static void *change(void *unused)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	stay_apart(&own);
	buffer_append_char(&second, 'e');
	buffer_delete_char_at(&second, 0);
	return unused;
}

static void *reset(void *unused)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	stay_apart(&own);
	buffer_set_length(&second, 0);
	return unused;
}

int main(int count, char **arguments)
{
	static void *(*const works[])(void *) = {append, insert, compare, change, reset};
	const int thread_count = sizeof works / sizeof *works;
	pthread_t threads[sizeof works / sizeof *works];

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	for (int i = 0; i < thread_count; i++)
		pthread_create(&threads[i], NULL, works[i], NULL);
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	assert(buffer_length(&first) >= 3 && buffer_length(&second) <= 1);
	return 0;
}
