/* Calls every function of ThreadSanitizer's interface once, from two threads that share nothing. */
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* C11's memory orders, as compilers pass them. */
enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQUIRE_RELEASE, SEQUENTIAL };
typedef unsigned __int128 uint128_t;

/* Calls of compilers, which no header declares. Not every runtime has every function. */
#define WEAK __attribute__((weak))
#define IF_THERE(function, ...) (function ? function(__VA_ARGS__) : (void)0)
#define ACCESSES(bytes)                                                                            \
	WEAK void __tsan_read##bytes(void *);                                                      \
	WEAK void __tsan_write##bytes(void *);                                                     \
	WEAK void __tsan_read_write##bytes(void *);                                                \
	WEAK void __tsan_volatile_read##bytes(void *);                                             \
	WEAK void __tsan_volatile_write##bytes(void *);                                            \
	WEAK void __tsan_unaligned_read##bytes(void *);                                            \
	WEAK void __tsan_unaligned_write##bytes(void *)

ACCESSES(1);
ACCESSES(2);
ACCESSES(4);
ACCESSES(8);
ACCESSES(16);
/* Hooks around a program's own system calls. */
WEAK void __sanitizer_syscall_pre_impl_read(long, long, long);
WEAK void __sanitizer_syscall_post_impl_read(long, long, long, long);
WEAK void __sanitizer_syscall_pre_impl_close(long);
void __tsan_read_range(void *, unsigned long);
void __tsan_write_range(void *, unsigned long);
void __tsan_vptr_update(void **, void *);
void __tsan_vptr_read(void **);
void __tsan_atomic_thread_fence(int);
void __tsan_atomic_signal_fence(int);
void __tsan_func_entry(void *);
void __tsan_func_exit(void);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void AnnotateHappensBefore(const char *, int, const volatile void *);
void AnnotateHappensAfter(const char *, int, const volatile void *);
void AnnotateRWLockCreate(const char *, int, const volatile void *);
void AnnotateRWLockDestroy(const char *, int, const volatile void *);
void AnnotateRWLockAcquired(const char *, int, const volatile void *, long);
void AnnotateRWLockReleased(const char *, int, const volatile void *, long);
void AnnotateBenignRaceSized(const char *, int, const volatile void *, size_t, const char *);
void AnnotateIgnoreReadsBegin(const char *, int);
void AnnotateIgnoreReadsEnd(const char *, int);
void AnnotateIgnoreWritesBegin(const char *, int);
void AnnotateIgnoreWritesEnd(const char *, int);
void AnnotateIgnoreSyncBegin(const char *, int);
void AnnotateIgnoreSyncEnd(const char *, int);
void AnnotateThreadName(const char *, int, const char *);
void AnnotateNewMemory(const char *, int, const volatile void *, size_t);
WEAK int RunningOnValgrind(void);
void AnnotatePCQCreate(const char *, int, const volatile void *);

static void need(int is_true)
{
	if (!is_true)
		abort();
}

#define ACCESS(bytes)                                                                              \
	do {                                                                                       \
		IF_THERE(__tsan_read##bytes, own);                                                 \
		IF_THERE(__tsan_write##bytes, own);                                                \
		IF_THERE(__tsan_read_write##bytes, own);                                           \
		IF_THERE(__tsan_volatile_read##bytes, own);                                        \
		IF_THERE(__tsan_volatile_write##bytes, own);                                       \
		IF_THERE(__tsan_unaligned_read##bytes, own + 1);                                   \
		IF_THERE(__tsan_unaligned_write##bytes, own + 1);                                  \
	} while (0)

static void access_memory(char *own)
{
	ACCESS(1);
	ACCESS(2);
	ACCESS(4);
	ACCESS(8);
	ACCESS(16);
	__tsan_read_range(own, 40);
	__tsan_write_range(own, 40);
	__tsan_vptr_update((void **)own, own + 8);
	__tsan_vptr_read((void **)own);
	__tsan_func_entry(own);
	__tsan_func_exit();
	__tsan_external_read(own, own, __tsan_external_register_tag("list"));
	__tsan_external_write(own, own, NULL);
	__tsan_external_register_header(NULL, "Races in lists");
	__tsan_external_assign_tag(own, NULL);
	__tsan_flush_memory();
}

#define ATOMIC(width)                                                                              \
	typedef volatile uint##width##_t place##width;                                             \
	uint##width##_t __tsan_atomic##width##_load(place##width *, int);                          \
	void __tsan_atomic##width##_store(place##width *, uint##width##_t, int);                   \
	uint##width##_t __tsan_atomic##width##_exchange(place##width *, uint##width##_t, int);     \
	uint##width##_t __tsan_atomic##width##_fetch_add(place##width *, uint##width##_t, int);    \
	uint##width##_t __tsan_atomic##width##_fetch_sub(place##width *, uint##width##_t, int);    \
	uint##width##_t __tsan_atomic##width##_fetch_and(place##width *, uint##width##_t, int);    \
	uint##width##_t __tsan_atomic##width##_fetch_or(place##width *, uint##width##_t, int);     \
	uint##width##_t __tsan_atomic##width##_fetch_xor(place##width *, uint##width##_t, int);    \
	uint##width##_t __tsan_atomic##width##_fetch_nand(place##width *, uint##width##_t, int);   \
	int __tsan_atomic##width##_compare_exchange_strong(                                        \
		place##width *, uint##width##_t *, uint##width##_t, int, int);                     \
	int __tsan_atomic##width##_compare_exchange_weak(                                          \
		place##width *, uint##width##_t *, uint##width##_t, int, int);                     \
	uint##width##_t __tsan_atomic##width##_compare_exchange_val(                               \
		place##width *, uint##width##_t, uint##width##_t, int, int);                       \
	static void atomics_##width(place##width *a)                                               \
	{                                                                                          \
		uint##width##_t expected = 3;                                                      \
                                                                                                   \
		__tsan_atomic##width##_store(a, 6, RELEASE);                                       \
		need(__tsan_atomic##width##_load(a, ACQUIRE) == 6);                                \
		need(__tsan_atomic##width##_exchange(a, 1, CONSUME) == 6);                         \
		need(__tsan_atomic##width##_fetch_add(a, 4, ACQUIRE_RELEASE) == 1);                \
		need(__tsan_atomic##width##_fetch_sub(a, 2, SEQUENTIAL) == 5);                     \
		need(__tsan_atomic##width##_fetch_and(a, 2, ACQUIRE) == 3);                        \
		need(__tsan_atomic##width##_fetch_or(a, 1, RELEASE) == 2);                         \
		need(__tsan_atomic##width##_fetch_xor(a, 2, RELAXED) == 3);                        \
		need(__tsan_atomic##width##_fetch_nand(a, 1, SEQUENTIAL) == 1);                    \
		__tsan_atomic##width##_store(a, 3, RELAXED);                                       \
		need(__tsan_atomic##width##_compare_exchange_strong(                               \
			a, &expected, 4, SEQUENTIAL, RELAXED));                                    \
		need(!__tsan_atomic##width##_compare_exchange_weak(                                \
			a, &expected, 5, SEQUENTIAL, ACQUIRE));                                    \
		need(expected == 4);                                                               \
		need(__tsan_atomic##width##_compare_exchange_val(                                  \
			     a, 4, 5, ACQUIRE_RELEASE, RELAXED) == 4);                             \
	}

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)
ATOMIC(128)

static void annotate(char *own)
{
	void *fiber = __tsan_create_fiber(0);
	void *before = __tsan_get_current_fiber();

	__tsan_acquire(own);
	__tsan_release(own);
	__tsan_mutex_create(own, 0);
	__tsan_mutex_pre_lock(own, 0);
	__tsan_mutex_pre_divert(own, 0);
	__tsan_mutex_post_divert(own, 0);
	__tsan_mutex_post_lock(own, 0, 0);
	__tsan_mutex_pre_signal(own, 0);
	__tsan_mutex_post_signal(own, 0);
	need(__tsan_mutex_pre_unlock(own, 0) == 1);
	__tsan_mutex_post_unlock(own, 0);
	__tsan_mutex_destroy(own, 0);
	need(fiber && fiber != before);
	__tsan_set_fiber_name(fiber, "fiber");
	__tsan_switch_to_fiber(fiber, 0);
	need(__tsan_get_current_fiber() == fiber);
	__tsan_switch_to_fiber(before, 0);
	need(__tsan_get_current_fiber() == before);
	__tsan_destroy_fiber(fiber);
	IF_THERE(__sanitizer_syscall_pre_impl_read, 0, (long)own, 1);
	IF_THERE(__sanitizer_syscall_post_impl_read, 1, 0, (long)own, 1);
	IF_THERE(__sanitizer_syscall_pre_impl_close, 1000);
	__tsan_ignore_thread_begin();
	__tsan_ignore_thread_end();
}

static void annotate_as_of_old(char *own)
{
	AnnotateHappensBefore(__FILE__, __LINE__, own);
	AnnotateHappensAfter(__FILE__, __LINE__, own);
	AnnotateRWLockCreate(__FILE__, __LINE__, own);
	AnnotateRWLockAcquired(__FILE__, __LINE__, own, 1);
	AnnotateRWLockReleased(__FILE__, __LINE__, own, 1);
	AnnotateRWLockDestroy(__FILE__, __LINE__, own);
	AnnotateBenignRaceSized(__FILE__, __LINE__, own, 4, "of no importance");
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
	AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
	AnnotateThreadName(__FILE__, __LINE__, "worker");
	AnnotateNewMemory(__FILE__, __LINE__, own, 8);
	AnnotatePCQCreate(__FILE__, __LINE__, own);
	need(!RunningOnValgrind || !RunningOnValgrind());
}

static void *work(void *unused)
{
	_Alignas(16) char own[64] = {0};

	access_memory(own);
	atomics_8((void *)own);
	atomics_16((void *)own);
	atomics_32((void *)own);
	atomics_64((void *)own);
	atomics_128((void *)own);
	__tsan_atomic_thread_fence(SEQUENTIAL);
	__tsan_atomic_signal_fence(SEQUENTIAL);
	annotate(own);
	annotate_as_of_old(own);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
