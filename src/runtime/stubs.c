/* Weak answers for families that are not there yet; goes away with them. */
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include <time.h>
__attribute__((weak)) bool runtime_deliver_signals(struct engine_thread *t)
{
	(void)t;
	return false;
}
__attribute__((weak)) void runtime_route_signals(void)
{
}
__attribute__((weak)) bool runtime_wait_outside(uint64_t d)
{
	(void)d;
	return false;
}
__attribute__((weak)) uint64_t runtime_deadline(int c, const struct timespec *t)
{
	(void)c;
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}
__attribute__((weak)) uint64_t runtime_deadline_after(const struct timespec *t)
{
	return engine_clock_ns() + (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}
__attribute__((weak)) bool runtime_emulate_time(long n, const long a[6], long *r)
{
	(void)n;
	(void)a;
	(void)r;
	return false;
}
__attribute__((weak)) bool runtime_emulate_signal(long n, const long a[6], long *r)
{
	(void)n;
	(void)a;
	(void)r;
	return false;
}
__attribute__((weak)) bool runtime_patch_vdso(void)
{
	return false;
}
