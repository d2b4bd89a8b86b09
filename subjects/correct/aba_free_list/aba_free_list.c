/* EXPECT: passed runs=2000 needs=memory */
/* The twin of aba_free_list: each exchange changes the version, and none recurs during a thread's operation. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define BLOCKS 4
#define THREADS 3
#define ROUNDS 2
#define NONE 0xffu

static atomic_uint first; /* block in the low byte, version above */
static atomic_uint next[BLOCKS];
static atomic_int users[BLOCKS];

static unsigned version_after(unsigned head)
{
	return (head & ~0xffu) + 0x100;
}

static unsigned take_block(void)
{
	unsigned head = atomic_load(&first);

	while ((head & 0xff) != NONE &&
		!atomic_compare_exchange_strong(
			&first, &head, atomic_load(&next[head & 0xff]) | version_after(head)))
		;
	return head & 0xff;
}

static void return_block(unsigned block)
{
	unsigned head = atomic_load(&first);

	do
		atomic_store(&next[block], head & 0xff);
	while (!atomic_compare_exchange_strong(&first, &head, block | version_after(head)));
}

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		const unsigned block = take_block();

		if (block == NONE)
			continue;
		assert(atomic_fetch_add(&users[block], 1) == 0);
		atomic_fetch_sub(&users[block], 1);
		return_block(block);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < BLOCKS; i++)
		atomic_init(&next[i], i + 1 < BLOCKS ? i + 1 : NONE);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
