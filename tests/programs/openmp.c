/* EXPECT: passed runs=20 */
/* OpenMP: parallel loops, reductions, critical sections, barriers, sections, locks. */
#include <omp.h>

#include "check.h"

#define THREADS 3

static int own;
#pragma omp threadprivate(own)

static void check_loops(void)
{
	int sum = 0, dynamic_sum = 0, ordered_ok = 1, next = 0;

#pragma omp parallel for reduction(+ : sum)
	for (int i = 1; i <= 100; i++)
		sum += i;
	CHECK(sum == 5050);
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : dynamic_sum)
	for (int i = 1; i <= 30; i++)
		dynamic_sum += i;
	CHECK(dynamic_sum == 465);
#pragma omp parallel for ordered
	for (int i = 0; i < 6; i++) {
#pragma omp ordered
		{
			ordered_ok &= next == i;
			next++;
		}
	}
	CHECK(ordered_ok);
}

static void check_regions(void)
{
	int threads = 0, singles = 0, masters = 0, early = 0, arrived = 0, owned = 0;

#pragma omp parallel shared(threads, singles, masters, early, arrived, owned)
	{
#pragma omp critical
		threads++;
#pragma omp single
		singles++;
#pragma omp master
		masters++;
#pragma omp atomic
		arrived++;
#pragma omp barrier
#pragma omp critical
		early += arrived != THREADS;
		own = omp_get_thread_num();
#pragma omp barrier
#pragma omp atomic
		owned += own == omp_get_thread_num();
	}
	CHECK(threads == THREADS);
	CHECK(singles == 1);
	CHECK(masters == 1);
	CHECK(early == 0);
	CHECK(owned == THREADS);
}

static void check_sections(void)
{
	int first = 0, second = 0;

#pragma omp parallel sections
	{
#pragma omp section
		first = 1;
#pragma omp section
		second = 2;
	}
	CHECK(first == 1 && second == 2);
}

static void check_locks(void)
{
	omp_lock_t lock;
	omp_nest_lock_t nested;
	int count = 0, nested_count = 0;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nested);
#pragma omp parallel
	{
		omp_set_lock(&lock);
		count++;
		omp_unset_lock(&lock);
		omp_set_nest_lock(&nested);
		omp_set_nest_lock(&nested);
		nested_count++;
		omp_unset_nest_lock(&nested);
		omp_unset_nest_lock(&nested);
	}
	CHECK(count == THREADS);
	CHECK(nested_count == THREADS);
	CHECK(omp_test_lock(&lock));
	CHECK(!omp_test_lock(&lock));
	omp_unset_lock(&lock);
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nested);
}

int main(void)
{
	omp_set_dynamic(0);
	omp_set_num_threads(THREADS);
	check_loops();
	check_regions();
	check_sections();
	check_locks();
	return check_status();
}
