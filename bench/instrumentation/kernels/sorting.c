/* Quicksort of pseudo-random numbers. */
#include <stdint.h>
#include <stdio.h>

#define COUNT 1500000

static uint32_t numbers[COUNT];
long swaps;

static void exchange(uint32_t *a, uint32_t *b)
{
	const uint32_t kept = *a;

	*a = *b;
	*b = kept;
	swaps++;
}

static void sort(long low, long high)
{
	while (low < high) {
		const uint32_t pivot = numbers[(low + high) / 2];
		long i = low;
		long j = high;

		while (i <= j) {
			while (numbers[i] < pivot)
				i++;
			while (numbers[j] > pivot)
				j--;
			if (i <= j)
				exchange(&numbers[i++], &numbers[j--]);
		}
		sort(low, j);
		low = i;
	}
}

int main(void)
{
	uint32_t state = 1;
	uint64_t check = 0;

	for (long i = 0; i < COUNT; i++) {
		state = state * 1664525 + 1013904223;
		numbers[i] = state >> 4;
	}
	sort(0, COUNT - 1);
	for (long i = 0; i < COUNT; i += 1000)
		check = check * 31 + numbers[i];
	printf("%llu %ld\n", (unsigned long long)check, swaps);
	return 0;
}
