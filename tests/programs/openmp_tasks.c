/* EXPECT: passed runs=20 */
/*
 * OpenMP tasks: threads that wait for tasks of theirs take on others meanwhile. LLVM's runtime
 * searches them in a loop without any call: only the spinning shows that they wait for each other.
 */
#include <omp.h>

#include "check.h"

#define THREADS 3

static int fibonacci(int n)
{
	int left, right;

	if (n < 2)
		return n;
#pragma omp task shared(left)
	left = fibonacci(n - 1);
#pragma omp task shared(right)
	right = fibonacci(n - 2);
#pragma omp taskwait
	return left + right;
}

int main(void)
{
	int result = 0;

	omp_set_dynamic(0);
	omp_set_num_threads(THREADS);
#pragma omp parallel
#pragma omp single
	result = fibonacci(6);
	CHECK(result == 8);
	return check_status();
}
