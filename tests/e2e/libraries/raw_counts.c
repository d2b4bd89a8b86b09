/* A thread made by clone(), and one by pthread_create, lose a count between them; main is stopped by neither. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/futex.h>

#define STACK_BYTES 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t thread_id;
static int count;

static int add(void *unused)
{
	int before;

	(void)unused;
	pthread_mutex_lock(&lock);
	before = count;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	count = before + 1;
	pthread_mutex_unlock(&lock);
	return 0;
}

static void *add_in_thread(void *unused)
{
	add(NULL);
	return unused;
}

int main(void)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			  CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	char *stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	uint32_t id;

	if (clone(add, stack + STACK_BYTES, flags, NULL, &thread_id, NULL, &thread_id) < 0)
		return 2;
	pthread_create(&thread, NULL, add_in_thread, NULL);
	pthread_join(thread, NULL);
	while ((id = atomic_load(&thread_id)) != 0)
		syscall(SYS_futex, &thread_id, FUTEX_WAIT, id, NULL, NULL, 0);
	assert(count == 2);
	return 0;
}
