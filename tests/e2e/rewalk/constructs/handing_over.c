/*
 * Values written just before an operation of the engine and read after it; operations that the library requests;
 * callbacks, whose arguments come from the library; threads that hand over by spinning on a flag, again and again.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "show_bits.h"

SHOW_MAIN

#define ROUNDS 5
#define NUMBERS 9

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t written[2][4], both;
static atomic_uint turn;

static void open_barrier(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	pthread_mutex_lock(&mutex);
	both += *left;
	pthread_mutex_unlock(&mutex);
	return (*left > *right) - (*left < *right);
}

static uint64_t sections(uint64_t number)
{
	uint64_t *const own = written[number & 1];
	uint64_t sum = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		own[0] = number * i;
		pthread_mutex_lock(&mutex);
		own[1] += own[0] + i;
		both += number;
		pthread_mutex_unlock(&mutex);
		sum += own[1] * 3 + own[0];
		own[2] = sum;
		fputc(' ', stdout); /* locks the stream */
		sum += own[2];
	}
	return sum;
}

static uint64_t sorted(uint64_t number)
{
	uint64_t numbers[NUMBERS], sum = 0;

	for (uint64_t i = 0; i < NUMBERS; i++)
		numbers[i] = (i * 7 + number) % NUMBERS;
	qsort(numbers, NUMBERS, sizeof *numbers, compare);
	for (uint64_t i = 0; i < NUMBERS; i++)
		sum = sum * 11 + numbers[i];
	return sum;
}

static uint64_t spinning(uint64_t number)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		while (atomic_load(&turn) % 2 != (number & 1))
			;
		sum = sum * 5 + both++;
		atomic_fetch_add(&turn, 1);
	}
	return sum;
}

void construct(uint64_t number)
{
	show_bits(sections(number));
	show_bits(sorted(number));
	pthread_once(&once, open_barrier);
	for (int i = 0; i < ROUNDS; i++) {
		written[number & 1][3] += number;
		pthread_barrier_wait(&barrier);
		show_bits(written[0][3] + 2 * written[1][3]);
		pthread_barrier_wait(&barrier);
	}
	show_bits(spinning(number));
}
