/*
 * The result of a construct, written so that the record shows it: each bit decides which of two
 * variables is written, and checked records name the variable.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

extern volatile unsigned bits_of_one, bits_of_zero;

static inline void show_bits(uint64_t value)
{
	for (int bit = 0; bit < 64; bit++)
		if (value >> bit & 1)
			bits_of_one++;
		else
			bits_of_zero++;
}

#ifdef __cplusplus
extern "C"
#endif
	/* The construct; runs twice at the same time, with different numbers. */
	void
	construct(uint64_t number);

#define SHOW_MAIN                                                                                  \
	volatile unsigned bits_of_one, bits_of_zero;                                               \
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
