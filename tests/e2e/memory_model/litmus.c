/* litmus NAME [no] OUTCOME...: aborts if the outcome of the run is among the outcomes; with "no": if it is not.
 * Outcomes are the registers r[0], r[1], ..., then the last values of x and y. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define R memory_order_relaxed
static atomic_int x, y;
static int r[4];
static void fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}
static void put(atomic_int *at, int v)
{
	atomic_store_explicit(at, v, memory_order_release);
}
static int get(atomic_int *at)
{
	return atomic_load_explicit(at, memory_order_acquire);
}

static void *x1_ry(void *u)
{
	put(&x, 1);
	r[0] = get(&y);
	return u;
}
static void *y1_rx(void *u)
{
	put(&y, 1);
	r[1] = get(&x);
	return u;
}
static void *x1_f_ry(void *u)
{
	put(&x, 1);
	fence();
	r[0] = get(&y);
	return u;
}
static void *y1_f_rx(void *u)
{
	put(&y, 1);
	fence();
	r[1] = get(&x);
	return u;
}
static void *ex_ry(void *u)
{
	atomic_exchange_explicit(&x, 1, R);
	r[0] = get(&y);
	return u;
}
static void *ey_rx(void *u)
{
	atomic_exchange_explicit(&y, 1, R);
	r[1] = get(&x);
	return u;
}
static void *sx_ry(void *u)
{
	atomic_store(&x, 1);
	r[0] = get(&y);
	return u;
}
static void *sy_rx(void *u)
{
	atomic_store(&y, 1);
	r[1] = get(&x);
	return u;
}
static void *x1_m_ry(void *u)
{
	put(&x, 1);
	__asm__ volatile("mfence" ::: "memory");
	r[0] = get(&y);
	return u;
}
static void *y1_l_rx(void *u)
{
	put(&y, 1);
	__asm__ volatile("lock; addl $0, -128(%%rsp)" ::: "memory", "cc");
	r[1] = get(&x);
	return u;
}
static void *x1_y1(void *u)
{
	put(&x, 1);
	put(&y, 1);
	return u;
}
static void *ry_rx(void *u)
{
	r[0] = get(&y);
	r[1] = get(&x);
	return u;
}
static void *rx_y1(void *u)
{
	r[0] = get(&x);
	put(&y, 1);
	return u;
}
static void *ry_x1(void *u)
{
	r[1] = get(&y);
	put(&x, 1);
	return u;
}
static void *x1(void *u)
{
	put(&x, 1);
	return u;
}
static void *y1(void *u)
{
	put(&y, 1);
	return u;
}
static void *rx_ry(void *u)
{
	r[0] = get(&x);
	r[1] = get(&y);
	return u;
}
static void *ry_rx2(void *u)
{
	r[2] = get(&y);
	r[3] = get(&x);
	return u;
}
static void *x1_y2(void *u)
{
	put(&x, 1);
	put(&y, 2);
	return u;
}
static void *y1_x2(void *u)
{
	put(&y, 1);
	put(&x, 2);
	return u;
}
static void *x1_x2(void *u)
{
	put(&x, 1);
	put(&x, 2);
	return u;
}
static void *rx_rx(void *u)
{
	r[0] = get(&x);
	r[1] = get(&x);
	return u;
}
static void *y2_rx(void *u)
{
	put(&y, 2);
	r[0] = get(&x);
	return u;
}
static void *y2_f_rx(void *u)
{
	put(&y, 2);
	fence();
	r[0] = get(&x);
	return u;
}
static void *x2_y1(void *u)
{
	put(&x, 2);
	put(&y, 1);
	return u;
}
static void *ry_x1b(void *u)
{
	r[0] = get(&y);
	put(&x, 1);
	return u;
}
static void *wrc1(void *u)
{
	r[0] = get(&x);
	put(&y, 1);
	return u;
}
static void *wrc2(void *u)
{
	r[1] = get(&y);
	r[2] = get(&x);
	return u;
}
static void *rwc1(void *u)
{
	r[0] = get(&x);
	r[1] = get(&y);
	return u;
}
static void *rwc2(void *u)
{
	put(&y, 1);
	r[2] = get(&x);
	return u;
}
static void *fw1(void *u)
{
	put(&x, 1);
	r[0] = get(&x);
	r[1] = get(&y);
	return u;
}
static void *fw2(void *u)
{
	put(&y, 1);
	r[2] = get(&y);
	r[3] = get(&x);
	return u;
}

static const struct litmus {
	const char *name;
	void *(*threads[4])(void *);
	int registers, variables;
} tests[] = {
	{"SB", {x1_ry, y1_rx}, 2, 0},
	{"SB+fences", {x1_f_ry, y1_f_rx}, 2, 0},
	{"SB+fence", {x1_f_ry, y1_rx}, 2, 0},
	{"SB+assembly", {x1_m_ry, y1_l_rx}, 2, 0},
	{"SB+xchg", {ex_ry, ey_rx}, 2, 0},
	{"SB+sc", {sx_ry, sy_rx}, 2, 0},
	{"MP", {x1_y1, ry_rx}, 2, 0},
	{"LB", {rx_y1, ry_x1}, 2, 0},
	{"IRIW", {x1, y1, rx_ry, ry_rx2}, 4, 0},
	{"2+2W", {x1_y2, y1_x2}, 0, 2},
	{"CoRR", {x1_x2, rx_rx}, 2, 0},
	{"R", {x1_y1, y2_rx}, 1, 2},
	{"R+fence", {x1_y1, y2_f_rx}, 1, 2},
	{"S", {x2_y1, ry_x1b}, 1, 1},
	{"WRC", {x1, wrc1, wrc2}, 3, 0},
	{"RWC", {x1, rwc1, rwc2}, 3, 0},
	{"forwarding", {fw1, fw2}, 4, 0},
};

int main(int argc, char **argv)
{
	char seen[8] = "";
	pthread_t t[4];
	int n = 0, at = 0;
	const struct litmus *test = tests;
	while (strcmp(test->name, argv[1]) != 0)
		test++;
	for (; n < 4 && test->threads[n]; n++)
		pthread_create(&t[n], NULL, test->threads[n], NULL);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < test->registers; i++)
		seen[at++] = (char)('0' + r[i]);
	int final[2] = {x, y};
	for (int i = 0; i < test->variables; i++)
		seen[at++] = (char)('0' + final[i]);
	const int is_negated = argc > 2 && strcmp(argv[2], "no") == 0;
	int is_listed = 0;
	for (int i = 2 + is_negated; i < argc; i++)
		is_listed |= strcmp(seen, argv[i]) == 0;
	if (argc > 2 && is_listed != is_negated)
		abort();
	return 0;
}
