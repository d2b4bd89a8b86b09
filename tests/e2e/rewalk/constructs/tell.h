/*
 * The result of a construct, written so that the record shows it: each bit decides which of two
 * places is written, and checked records name the place.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

extern volatile unsigned told_ones, told_zeros;

static inline void tell(uint64_t value)
{
	for (int bit = 0; bit < 64; bit++)
		if (value >> bit & 1)
			told_ones++;
		else
			told_zeros++;
}

#ifdef __cplusplus
extern "C"
#endif
	/* The construct; runs twice at the same time, with different numbers. */
	void
	construct(uint64_t number);

#define TELL_MAIN                                                                                  \
	volatile unsigned told_ones, told_zeros;                                                   \
                                                                                                   \
	static void *run(void *number)                                                             \
	{                                                                                          \
		construct((uint64_t)(uintptr_t)number);                                            \
		return NULL;                                                                       \
	}                                                                                          \
                                                                                                   \
	int main(void)                                                                             \
	{                                                                                          \
		pthread_t threads[2];                                                              \
                                                                                                   \
		for (uintptr_t i = 0; i < 2; i++)                                                  \
			if (pthread_create(&threads[i], NULL, run, (void *)(i + 5)))               \
				return 1;                                                          \
		for (int i = 0; i < 2; i++)                                                        \
			(void)pthread_join(threads[i], NULL);                                      \
		return 0;                                                                          \
	}
