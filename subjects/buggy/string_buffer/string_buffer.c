/* EXPECT: abort strategy=random runs<=500 */
/*
 * Pattern: string buffer (every method locks, their composition does not).
 *
 * Appending one buffer to another asks for its length first and copies that many characters
 * second.
 *
 * Fails when: main.0 locks and unlocks the source in buffer_length; main.1 clears the source;
 * main.0 locks in buffer_copy and asks for removed characters.
 *
 * EXPECT-BRANCH: assert(length <= buffer->length); [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CAPACITY 64

struct buffer {
	pthread_mutex_t lock;
	size_t length;	     /* guarded by lock */
	char text[CAPACITY]; /* guarded by lock */
};

static struct buffer greeting = {.lock = PTHREAD_MUTEX_INITIALIZER, .length = 6, .text = "hello "};
static struct buffer name = {.lock = PTHREAD_MUTEX_INITIALIZER, .length = 5, .text = "world"};

static size_t buffer_length(struct buffer *buffer)
{
	pthread_mutex_lock(&buffer->lock);
	size_t length = buffer->length;
	pthread_mutex_unlock(&buffer->lock);
	return length;
}

static void buffer_copy(struct buffer *buffer, size_t length, char *destination)
{
	pthread_mutex_lock(&buffer->lock);
	assert(length <= buffer->length);
	memcpy(destination, buffer->text, length);
	pthread_mutex_unlock(&buffer->lock);
}

static void buffer_clear(struct buffer *buffer)
{
	pthread_mutex_lock(&buffer->lock);
	buffer->length = 0;
	pthread_mutex_unlock(&buffer->lock);
}

static void buffer_append(struct buffer *buffer, struct buffer *source)
{
	char copy[CAPACITY];
	size_t length = buffer_length(source);

	buffer_copy(source, length, copy);
	pthread_mutex_lock(&buffer->lock);
	assert(buffer->length + length <= CAPACITY);
	memcpy(buffer->text + buffer->length, copy, length);
	buffer->length += length;
	pthread_mutex_unlock(&buffer->lock);
}

static void *greet(void *unused)
{
	(void)unused;
	buffer_append(&greeting, &name);
	return NULL;
}

static void *forget(void *unused)
{
	(void)unused;
	buffer_clear(&name);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, greet, NULL);
	pthread_create(&threads[1], NULL, forget, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(buffer_length(&greeting) == 6 || buffer_length(&greeting) == 11);
	printf("done\n");
	return 0;
}
