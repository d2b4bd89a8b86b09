/* A lock of the program's own, made of a futex. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint32_t lock_word;
static int count;

static void *work(void *unused)
{
	for (int i = 0; i < 3; i++) {
		while (atomic_exchange(&lock_word, 1))
			syscall(SYS_futex, &lock_word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
		count++;
		atomic_store(&lock_word, 0);
		syscall(SYS_futex, &lock_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return count != 6;
}
