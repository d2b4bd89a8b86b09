/*
 * Two threads that are ordered by an annotation alone: the flag between them is relaxed. With a second
 * argument the annotation is left out.
 */
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void AnnotateHappensBefore(const char *file, int line, const volatile void *address);
void AnnotateHappensAfter(const char *file, int line, const volatile void *address);
void AnnotateRWLockAcquired(
	const char *file, int line, const volatile void *address, long is_write);
void AnnotateRWLockReleased(
	const char *file, int line, const volatile void *address, long is_write);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateBenignRaceSized(
	const char *file, int line, const volatile void *address, size_t bytes, const char *why);

static atomic_int flag;
long value, seen;
static char lock;
static void *fiber;
static const char *way;
static bool is_annotated;

static bool annotates(const char *name)
{
	return is_annotated && strcmp(way, name) == 0;
}

static void *writer(void *unused)
{
	if (annotates("mutex")) {
		__tsan_mutex_pre_lock(&lock, 0);
		__tsan_mutex_post_lock(&lock, 0, 0);
	}
	if (annotates("fiber"))
		__tsan_switch_to_fiber(fiber, 0);
	if (annotates("writes"))
		AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	value = 1;
	if (annotates("writes"))
		AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	if (annotates("acquire"))
		__tsan_release(&lock);
	if (annotates("happens"))
		AnnotateHappensBefore(__FILE__, __LINE__, &lock);
	if (annotates("rwlock"))
		AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 1);
	if (annotates("mutex")) {
		__tsan_mutex_pre_unlock(&lock, 0);
		__tsan_mutex_post_unlock(&lock, 0);
	}
	if (annotates("fiber"))
		__tsan_switch_to_fiber(__tsan_create_fiber(0), 0);
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	return unused;
}

static void read_value(void)
{
	if (annotates("acquire"))
		__tsan_acquire(&lock);
	if (annotates("happens"))
		AnnotateHappensAfter(__FILE__, __LINE__, &lock);
	if (annotates("rwlock"))
		AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 0);
	if (annotates("mutex")) {
		__tsan_mutex_pre_lock(&lock, 0);
		__tsan_mutex_post_lock(&lock, 0, 0);
	}
	if (annotates("fiber"))
		__tsan_switch_to_fiber(fiber, 0);
	if (annotates("ignore"))
		__tsan_ignore_thread_begin();
	if (annotates("reads"))
		AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	seen = value;
	if (annotates("reads"))
		AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	if (annotates("ignore"))
		__tsan_ignore_thread_end();
}

int main(int count, char **arguments)
{
	pthread_t thread;

	if (count < 2)
		return 2;
	way = arguments[1];
	is_annotated = count == 2;
	fiber = __tsan_create_fiber(0);
	if (annotates("benign"))
		AnnotateBenignRaceSized(__FILE__, __LINE__, &value, sizeof value, "on purpose");
	pthread_create(&thread, NULL, writer, NULL);
	if (atomic_load_explicit(&flag, memory_order_relaxed) == 1)
		read_value();
	pthread_join(thread, NULL);
	return 0;
}
