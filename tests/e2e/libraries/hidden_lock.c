/*
 * A lock of a library's own, made of a futex. With LIBRARY defined this is the library, which raddle-cc does not
 * compile; without it, a program that counts under the lock.
 */
#include <stdint.h>

void hidden_lock(void);
void hidden_unlock(void);

#ifdef LIBRARY
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint32_t word;

void hidden_lock(void)
{
	while (atomic_exchange(&word, 1))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

void hidden_unlock(void)
{
	atomic_store(&word, 0);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
#else
#include <pthread.h>

static int count;

static void *work(void *unused)
{
	hidden_lock();
	count++;
	hidden_unlock();
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return count != 2;
}
#endif
