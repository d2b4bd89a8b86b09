/*
 * Two threads that make random numbers of steps, from every source of random numbers; the program fails if
 * the second thread ends first. Prints the numbers. If BY_STREAM is set, stdio alone delivers the numbers.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include <random>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int first_done;

static uint8_t by_call(void)
{
	uint8_t number;

	return getrandom(&number, 1, 0) == 1 ? number : 0;
}

static uint8_t by_entropy(void)
{
	uint8_t number;

	return getentropy(&number, 1) == 0 ? number : 0;
}

static uint8_t by_device(void)
{
	uint8_t number[2] = {0, 0};
	struct iovec halves[2] = {{number, 1}, {number + 1, 1}};
	int fd = open("/dev/urandom", O_RDONLY);

	if (read(fd, number, 1) != 1 || readv(fd, halves, 2) != 2)
		return 0;
	close(fd);
	return number[0] ^ number[1];
}

static uint8_t by_stream(void)
{
	FILE *file = fopen("/dev/urandom", "r");
	int number = fgetc(file);

	fclose(file);
	return (uint8_t)number;
}

static uint8_t by_library(void)
{
	return (uint8_t)std::random_device()();
}

static uint8_t (*const sources[])(void) = {by_call, by_entropy, by_device, by_library};
static uint8_t (*const streams[])(void) = {by_stream, by_stream, by_stream, by_stream};

static void *work(void *which)
{
	for (uint8_t (*source)(void) : getenv("BY_STREAM") ? streams : sources) {
		uint8_t number = source();

		printf("%s %d\n", static_cast<const char *>(which), number);
		for (int i = 0; i < number % 8; i++) {
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
		}
	}
	pthread_mutex_lock(&mutex);
	if (!first_done)
		first_done = *static_cast<const char *>(which);
	pthread_mutex_unlock(&mutex);
	return nullptr;
}

int main(void)
{
	pthread_t one, two;

	pthread_create(&one, nullptr, work, const_cast<char *>("1"));
	pthread_create(&two, nullptr, work, const_cast<char *>("2"));
	pthread_join(one, nullptr);
	pthread_join(two, nullptr);
	fflush(stdout);
	if (first_done == '2')
		abort();
	return 0;
}
