/*
 * The cases of edges.c with reused memory, and with code that runs at the end of a thread or of the
 * program. `hard_memory CASE ordered|racy`.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

static bool is_racy;
static int value;
static _Thread_local volatile int seen; /* keeps reads of value from being optimised away */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static tss_t key;

static void with_thread(void *(*body)(void *), void (*meanwhile)(void))
{
	pthread_t thread;

	pthread_create(&thread, NULL, body, NULL);
	meanwhile();
	pthread_join(thread, NULL);
}

static void (*once_each)(int own);

static void *once_body(void *argument)
{
	once_each(1);
	once_each(1);
	return argument;
}

static void once_main(void)
{
	once_each(0);
	once_each(0);
}

static void both(void (*once)(int own))
{
	once_each = once;
	with_thread(once_body, once_main);
}

/* ---- ends ---- */

static void at_thread_end(void *argument)
{
	(void)argument;
	value++;
}

static int keyed_body(void *argument)
{
	tss_set(key, &value);
	return argument != NULL;
}

/* A destructor of thread-specific data runs in its thread, before that is joined. */
static void case_destructor(void)
{
	thrd_t thread;

	tss_create(&key, at_thread_end);
	thrd_create(&thread, keyed_body, NULL);
	if (is_racy)
		value++;
	thrd_join(thread, NULL);
	value++;
}

static void clean_up(void *argument)
{
	(void)argument;
	value++;
}

static void *cancelled_body(void *argument)
{
	pthread_cleanup_push(clean_up, NULL);
	for (;;)
		sem_wait(&semaphore);
	pthread_cleanup_pop(0);
	return argument;
}

/* Cleanup of a cancelled thread orders, too. */
static void case_cancelled(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, cancelled_body, NULL);
	value++;
	pthread_cancel(thread);
	if (is_racy)
		value++;
	pthread_join(thread, NULL);
	value++;
}

static void at_exit(void)
{
	seen = value;
}

static void *late_body(void *argument)
{
	value++;
	sem_post(&semaphore);
	if (is_racy)
		value++;
	return argument;
}

/* Exit handlers run while a thread is left that was not joined. */
static void case_exit(void)
{
	pthread_t thread;

	atexit(at_exit);
	pthread_create(&thread, NULL, late_body, NULL);
	pthread_detach(thread);
	sem_wait(&semaphore);
	exit(0);
}

static void on_signal(int number)
{
	(void)number;
	value++;
}

static void *raising_body(void *argument)
{
	pthread_mutex_lock(&mutex);
	raise(SIGUSR1);
	pthread_mutex_unlock(&mutex);
	return argument;
}

static void raising_main(void)
{
	if (!is_racy)
		pthread_mutex_lock(&mutex);
	raise(SIGUSR1);
	if (!is_racy)
		pthread_mutex_unlock(&mutex);
}

/* A handler runs with the locks of the thread that it interrupts. */
static void case_handler(void)
{
	signal(SIGUSR1, on_signal);
	with_thread(raising_body, raising_main);
}

/* ---- memory that is used again ---- */

static _Atomic(int *) handed;

static void *pages_body(void *argument)
{
	int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*page = 1;
	if (is_racy)
		atomic_store_explicit(&handed, page, memory_order_relaxed);
	else
		munmap(page, 4096);
	return argument;
}

/* The kernel gives the same address again: its memory is new. */
static void pages_main(void)
{
	int *page = atomic_load_explicit(&handed, memory_order_relaxed);

	if (!is_racy) {
		(void)pages_body(NULL);
		return;
	}
	while (!page) {
		sched_yield();
		page = atomic_load_explicit(&handed, memory_order_relaxed);
	}
	seen = *page;
}

static void *grown_body(void *argument)
{
	int *numbers = malloc(4 * sizeof *numbers);

	numbers[0] = 1;
	if (is_racy)
		atomic_store_explicit(&handed, numbers, memory_order_relaxed);
	numbers = realloc(numbers, 4096 * sizeof *numbers);
	numbers[4095] = 2;
	free(numbers);
	return argument;
}

static void grown_main(void)
{
	int *numbers = NULL;

	if (!is_racy) {
		(void)grown_body(NULL);
		return;
	}
	while (!numbers) {
		numbers = atomic_load_explicit(&handed, memory_order_relaxed);
		sched_yield();
	}
	numbers[0]++;
}

/* Every allocation gives new memory. */
static char *allocate(int how)
{
	void *memory = NULL;

	switch (how) {
	case 0:
		return calloc(5, 20);
	case 1:
		return posix_memalign(&memory, 64, 100) ? NULL : memory;
	case 2:
		return aligned_alloc(64, 128);
	case 3:
		return reallocarray(NULL, 5, 20);
	case 4:
		return strdup("a text that is long enough to be told from the others");
	case 5:
		return malloc(1 << 20);
	default:
		return getcwd(NULL, 0);
	}
}

static void allocators_once(int own)
{
	for (int how = 0; how < 7; how++) {
		char *memory = allocate(how);

		memory[1] = (char)own;
		if (is_racy && how == 6)
			value++;
		free(memory);
	}
}

/* The last thread that releases the object frees it, and must see the accesses of the others. */
struct counted {
	atomic_int references;
	int number;
};

static void *reference_body(void *argument)
{
	struct counted *object = argument;

	seen = object->number;
	if (atomic_fetch_sub_explicit(&object->references, 1,
		    is_racy ? memory_order_relaxed : memory_order_release) != 1)
		return NULL;
	if (!is_racy)
		atomic_thread_fence(memory_order_acquire);
	free(object);
	return NULL;
}

static void case_references(void)
{
	struct counted *counted = malloc(sizeof *counted);
	pthread_t thread;

	atomic_init(&counted->references, 2);
	counted->number = 1;
	pthread_create(&thread, NULL, reference_body, counted);
	(void)reference_body(counted);
	pthread_join(thread, NULL);
}

/* Blocks that go from thread to thread in a list of the program's own. */
struct block {
	struct block *next;
	int number;
};

static struct block *free_blocks;

static struct block *block_take(void)
{
	struct block *block;

	pthread_mutex_lock(&mutex);
	block = free_blocks;
	if (block)
		free_blocks = block->next;
	pthread_mutex_unlock(&mutex);
	return block ? block : malloc(sizeof *block);
}

static void pool_once(int own)
{
	struct block *block = block_take();

	block->number = own;
	pthread_mutex_lock(&mutex);
	block->next = free_blocks;
	free_blocks = block;
	pthread_mutex_unlock(&mutex);
	if (is_racy)
		block->number++;
}

static char stack[65536] __attribute__((aligned(4096)));

static void *own_stack_body(void *argument)
{
	volatile int local = 0;

	for (int i = 0; i < 3; i++)
		local++;
	if (is_racy)
		value++;
	return argument;
}

static void start_on_stack(pthread_t *thread)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, sizeof stack);
	pthread_create(thread, &attributes, own_stack_body, NULL);
	pthread_attr_destroy(&attributes);
}

/* One stack for two threads, one after the other; and main writes to it between. */
static void case_own_stack(void)
{
	pthread_t thread;

	start_on_stack(&thread);
	if (is_racy)
		value++;
	pthread_join(thread, NULL);
	memset(stack, 0, sizeof stack);
	start_on_stack(&thread);
	pthread_join(thread, NULL);
}

static ucontext_t outside, inside;

static void coroutine(void)
{
	value++;
	swapcontext(&inside, &outside);
	if (!is_racy)
		pthread_mutex_lock(&mutex);
	value++;
	if (!is_racy)
		pthread_mutex_unlock(&mutex);
}

static void *coroutine_body(void *argument)
{
	pthread_mutex_lock(&mutex);
	value++;
	pthread_mutex_unlock(&mutex);
	return argument;
}

/* Contexts that a thread switches between are the thread. */
static void coroutine_main(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof stack;
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	pthread_mutex_lock(&mutex);
	swapcontext(&outside, &inside);
	pthread_mutex_unlock(&mutex);
	swapcontext(&outside, &inside);
}

/* Fields of bits beside each other are one memory location, those behind a field of no bits another. */
static struct {
	unsigned first : 4;
	unsigned second : 4;
	unsigned : 0;
	unsigned third : 4;
} bits;

static void *bits_body(void *argument)
{
	bits.first = 3;
	return argument;
}

static void bits_main(void)
{
	if (is_racy)
		bits.second = 3;
	else
		bits.third = 3;
}

static void case_bits(void)
{
	with_thread(bits_body, bits_main);
}

static void case_pages(void)
{
	with_thread(pages_body, pages_main);
}

static void case_grown(void)
{
	with_thread(grown_body, grown_main);
}

static void case_pool(void)
{
	both(pool_once);
}

static void case_allocators(void)
{
	both(allocators_once);
}

static void case_coroutine(void)
{
	with_thread(coroutine_body, coroutine_main);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"destructor", case_destructor},
	{"cancelled", case_cancelled},
	{"exit", case_exit},
	{"handler", case_handler},
	{"pages", case_pages},
	{"grown", case_grown},
	{"pool", case_pool},
	{"allocators", case_allocators},
	{"references", case_references},
	{"own_stack", case_own_stack},
	{"coroutine", case_coroutine},
	{"bits", case_bits},
};

int main(int argument_count, char **arguments)
{
	sem_init(&semaphore, 0, 0);
	is_racy = argument_count > 2 && strcmp(arguments[2], "racy") == 0;
	for (size_t i = 0; argument_count > 1 && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].name, arguments[1]) == 0) {
			cases[i].run();
			return 0;
		}
	return 2;
}
