/* The program of counts.c with OpenMP's critical sections: GNU's runtime makes no system call if no thread waits. */
#include <assert.h>

static int count, is_split;

int main(int argument_count, char **arguments)
{
	(void)arguments;
	is_split = argument_count > 1;
#pragma omp parallel num_threads(3)
	{
		int before = 0;

#pragma omp critical
		{
			if (is_split)
				before = count;
			else
				count++;
		}
		if (is_split) {
#pragma omp critical
			count = before + 1;
		}
	}
	assert(count == 3);
	return 0;
}
