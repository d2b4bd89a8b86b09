#include "engine/futex.h"

#include <linux/futex.h>

#include "engine/sync.h"

/* A waiter's queue_object is its word, queue_ticket its bitset or PI_WAITER (with owner). */
#define PI_WAITER 0

static struct engine_futex_queue *futex_queue(const uint32_t *word)
{
	uintptr_t key = (uintptr_t)word;

	return &engine_futex_queues()[(key >> 2 ^ key >> 9) % ENGINE_FUTEX_QUEUES];
}

static struct engine_thread *futex_first(const struct engine_futex_queue *queue)
{
	return queue->first ? engine_thread(queue->first - 1u) : NULL;
}

static void futex_enqueue(struct engine_thread *thread, const uint32_t *word, uint32_t bitset)
{
	struct engine_futex_queue *queue = futex_queue(word);

	thread->queue_object = word;
	thread->queue_ticket = bitset;
	thread->queue_next = NULL;
	if (queue->first)
		engine_thread(queue->last - 1u)->queue_next = thread;
	else
		queue->first = sync_mark(thread);
	queue->last = sync_mark(thread);
}

static void futex_dequeue(struct engine_thread *thread)
{
	struct engine_futex_queue *queue = futex_queue(thread->queue_object);
	struct engine_thread *before = NULL;
	struct engine_thread *at = futex_first(queue);

	while (at != thread) {
		before = at;
		at = at->queue_next;
	}
	if (before)
		before->queue_next = thread->queue_next;
	else
		queue->first = thread->queue_next ? sync_mark(thread->queue_next) : 0;
	if (!thread->queue_next)
		queue->last = before ? sync_mark(before) : 0;
	thread->queue_object = NULL;
	thread->queue_next = NULL;
}

/* Returns whether the thread waits at the futex word for one of the bits. */
static bool futex_matches(const struct engine_thread *thread, const uint32_t *word, uint32_t bitset)
{
	if (thread->queue_object != word || thread->state != THREAD_ALIVE)
		return false;
	return bitset == PI_WAITER ? thread->queue_ticket == PI_WAITER
				   : (thread->queue_ticket & bitset) != 0;
}

static uint32_t futex_count(const uint32_t *word, uint32_t bitset)
{
	uint32_t count = 0;

	for (const struct engine_thread *at = futex_first(futex_queue(word)); at;
		at = at->queue_next)
		count += futex_matches(at, word, bitset);
	return count;
}

/* Finds matching waiter number `rank` (from 0), which must exist. */
static struct engine_thread *futex_select(const uint32_t *word, uint32_t bitset, uint32_t rank)
{
	struct engine_thread *at = futex_first(futex_queue(word));

	while (!futex_matches(at, word, bitset) || rank--)
		at = at->queue_next;
	return at;
}

/* Returns whether a wait has ended. Wake-ups by other processes are invisible, but the values that
 * they wrote before are visible. */
static bool futex_is_woken(const struct engine_op *op, const struct engine_thread *thread)
{
	return !thread->queue_object ||
	       (op->is_shared && *(const volatile uint32_t *)op->address != op->argument);
}

/* Each call on a futex makes its scheduling point here. The kernel reads the word `accessed`, or may change it if `writes`
 * is set, so the call depends on all other accesses to that variable. `accessed` is NULL if the kernel accesses no memory. */
static void futex_point(enum op_kind kind, const uint32_t *word, const uint32_t *accessed,
	bool writes, uint64_t site)
{
	struct engine_op op = {.kind = (uint8_t)kind,
		.address = word,
		.site = site,
		.deadline_ns = ENGINE_FOREVER};

	if (accessed)
		op.second = engine_note_kernel_access(accessed, writes);
	(void)engine_perform(&op);
}

/* Blocks until another thread removes the caller from the queue, a time-out or an interruption. */
static long futex_block(struct engine_op *op, uint32_t bitset)
{
	struct engine_thread *self = engine_current();
	enum engine_result result;

	/* The caller is a signal handler that interrupted a futex wait: the interrupted wait ends
	 * spuriously. */
	if (self->queue_object) {
		engine_unproductive();
		return 0;
	}
	futex_enqueue(self, op->address, bitset);
	result = engine_perform(op);
	if (!self->queue_object)
		return 0;
	futex_dequeue(self);
	return -sync_error(result); /* 0: woken by another process */
}

static struct engine_op futex_block_op(const uint32_t *word, uint64_t deadline_ns, uint64_t site)
{
	return (struct engine_op){.kind = OP_FUTEX_BLOCK,
		.interruptions = INTERRUPT_SIGNAL | INTERRUPT_NEVER,
		.address = word,
		.site = site,
		.ready = futex_is_woken,
		.deadline_ns = deadline_ns};
}

void futex_sleep(const uint32_t *word, enum op_kind kind, uint64_t site)
{
	struct engine_op op = futex_block_op(word, ENGINE_FOREVER, site);

	op.kind = (uint8_t)kind;
	(void)futex_block(&op, FUTEX_ANY);
}

long futex_wait(const struct futex_waiting *wait)
{
	struct engine_op op = futex_block_op(wait->word, wait->deadline_ns, wait->site);
	uint32_t found;

	op.is_shared = wait->is_shared;
	op.argument = wait->expected;
	futex_point(OP_FUTEX_WAIT, wait->word, wait->word, false, wait->site);
	found = *wait->word;
	engine_note_comparison((uint64_t)wait->expected << 32 | found);
	if (found != wait->expected) {
		engine_unproductive();
		return -EAGAIN;
	}
	return futex_block(&op, wait->bitset);
}

/* All waiters on several words share one queue, keyed by this word. The ticket of a waiter points
 * to its vector. */
static const uint32_t vector_queue;

static struct futex_vector *futex_vector_of(const struct engine_thread *thread)
{
	return thread->queue_object == &vector_queue && thread->state == THREAD_ALIVE
		       ? (struct futex_vector *)(uintptr_t)thread->queue_ticket
		       : NULL;
}

/* Returns the index of the word, or vector->count if the word is not found. */
static uint32_t futex_vector_find(const struct futex_vector *vector, const uint32_t *word)
{
	uint32_t at = 0;

	while (at < vector->count && vector->words[at].word != word)
		at++;
	return at;
}

/* Finds matching waiter number `rank` (from 0). Returns NULL if there are fewer. `count` receives
 * the number of waiters before it. */
static struct engine_thread *futex_vector_select(
	const uint32_t *word, uint32_t rank, uint32_t *count)
{
	*count = 0;
	for (struct engine_thread *at = futex_first(futex_queue(&vector_queue)); at;
		at = at->queue_next) {
		const struct futex_vector *vector = futex_vector_of(at);

		if (!vector || futex_vector_find(vector, word) == vector->count)
			continue;
		if (*count == rank)
			return at;
		++*count;
	}
	return NULL;
}

static uint32_t futex_vector_count(const uint32_t *word)
{
	uint32_t count;

	/* no waiter has this rank, so the call counts all of them */
	(void)futex_vector_select(word, UINT32_MAX, &count);
	return count;
}

static void futex_vector_release(struct engine_thread *thread, const uint32_t *word)
{
	struct futex_vector *vector = futex_vector_of(thread);

	vector->woken = futex_vector_find(vector, word);
	futex_dequeue(thread);
	engine_changed(vector->words[0].word);
}

/* The kernel reads all words, so the call depends on all accesses to memory. */
static void futex_vector_point(const struct futex_vector *vector)
{
	struct engine_op op = {.kind = OP_FUTEX_WAIT,
		.address = vector->words[0].word,
		.is_wide = vector->count > 1,
		.site = vector->site,
		.deadline_ns = ENGINE_FOREVER};

	for (uint32_t i = 0; i < vector->count; i++)
		op.second = engine_note_kernel_access(vector->words[i].word, false);
	(void)engine_perform(&op);
}

long futex_wait_vector(struct futex_vector *vector)
{
	struct engine_thread *self = engine_current();
	struct engine_op op =
		futex_block_op(vector->words[0].word, vector->deadline_ns, vector->site);
	enum engine_result result;

	futex_vector_point(vector);
	for (uint32_t i = 0; i < vector->count; i++) {
		if (i)
			engine_note(OP_FUTEX_WAIT, vector->words[i].word, vector->site);
		if (*vector->words[i].word != vector->words[i].expected) {
			engine_unproductive();
			return -EAGAIN;
		}
	}
	vector->woken = 0;
	/* The caller is a signal handler that interrupted this wait: see futex_block(). */
	if (self->queue_object) {
		engine_unproductive();
		return 0;
	}
	futex_enqueue(self, &vector_queue, FUTEX_ANY);
	self->queue_ticket = (uint64_t)(uintptr_t)vector;
	result = engine_perform(&op);
	if (!self->queue_object)
		return vector->woken;
	futex_dequeue(self);
	return -sync_error(result);
}

static void futex_release(struct engine_thread *thread)
{
	const void *word = thread->queue_object;

	futex_dequeue(thread);
	engine_changed(word);
}

uint32_t futex_wake_now(const uint32_t *word, uint32_t count, uint32_t bitset)
{
	uint32_t single = futex_count(word, bitset);
	uint32_t waiting = single + (bitset == PI_WAITER ? 0 : futex_vector_count(word));
	uint32_t woken = 0;

	while (woken < count && waiting) {
		uint32_t rank = count - woken < waiting ? engine_choose_value(waiting) : 0;
		uint32_t before;

		if (rank < single) {
			futex_release(futex_select(word, bitset, rank));
			single--;
		} else {
			futex_vector_release(
				futex_vector_select(word, rank - single, &before), word);
		}
		waiting--;
		woken++;
	}
	return woken;
}

long futex_wake(const uint32_t *word, uint32_t count, uint32_t bitset, uint64_t site)
{
	futex_point(OP_FUTEX_WAKE, word, NULL, false, site);
	return futex_wake_now(word, count, bitset);
}

void futex_clear_point(const uint32_t *word)
{
	futex_point(OP_FUTEX_WAKE, word, word, true, 0);
}

static void futex_move(struct engine_thread *thread, const uint32_t *word)
{
	uint32_t bitset = (uint32_t)thread->queue_ticket;

	futex_dequeue(thread);
	futex_enqueue(thread, word, bitset);
	/* A thread's wait is not announced while the thread runs a signal handler. */
	if (thread->op && thread->op->ready == futex_is_woken) {
		struct engine_op op = *thread->op;

		op.address = word;
		engine_redirect(thread, &op);
	}
}

long futex_requeue(const struct futex_pair *pair, const uint32_t *expected)
{
	uint32_t woken, moved = 0;

	futex_point(OP_FUTEX_WAKE, pair->word, expected ? pair->word : NULL, false, pair->site);
	if (expected && *pair->word != *expected)
		return -EAGAIN;
	woken = futex_wake_now(pair->word, pair->count, FUTEX_ANY);
	if (pair->second == pair->word)
		return woken;
	while (moved < pair->second_count && futex_count(pair->word, FUTEX_ANY)) {
		futex_move(futex_select(pair->word, FUTEX_ANY, 0), pair->second);
		moved++;
	}
	return (long)woken + moved;
}

/* Extracts a signed 12-bit field from FUTEX_WAKE_OP's operation, which has the fields op:4 cmp:4
 * oparg:12 cmparg:12. */
static int32_t futex_signed_field(uint32_t operation, unsigned shift)
{
	return (int32_t)(operation << (20 - shift)) >> 20;
}

static bool futex_apply(uint32_t *word, uint32_t operation, uint32_t *before)
{
	uint32_t argument = (uint32_t)futex_signed_field(operation, 12);
	uint32_t kind = operation >> 28;

	if (kind & FUTEX_OP_OPARG_SHIFT)
		argument = UINT32_C(1) << (argument & 31);
	*before = *word;
	switch (kind & ~(uint32_t)FUTEX_OP_OPARG_SHIFT) {
	case FUTEX_OP_SET:
		*word = argument;
		return true;
	case FUTEX_OP_ADD:
		*word += argument;
		return true;
	case FUTEX_OP_OR:
		*word |= argument;
		return true;
	case FUTEX_OP_ANDN:
		*word &= ~argument;
		return true;
	case FUTEX_OP_XOR:
		*word ^= argument;
		return true;
	default:
		return false;
	}
}

static bool futex_compare(int32_t value, uint32_t operation)
{
	int32_t argument = futex_signed_field(operation, 0);

	switch (operation >> 24 & 15) {
	case FUTEX_OP_CMP_EQ:
		return value == argument;
	case FUTEX_OP_CMP_NE:
		return value != argument;
	case FUTEX_OP_CMP_LT:
		return value < argument;
	case FUTEX_OP_CMP_LE:
		return value <= argument;
	case FUTEX_OP_CMP_GT:
		return value > argument;
	default:
		return value >= argument;
	}
}

long futex_wake_op(const struct futex_pair *pair)
{
	uint32_t before, woken;

	if ((pair->operation >> 24 & 15) > FUTEX_OP_CMP_GE)
		return -ENOSYS;
	futex_point(OP_FUTEX_WAKE, pair->word, pair->second, true, pair->site);
	if (!futex_apply(pair->second, pair->operation, &before))
		return -ENOSYS;
	woken = futex_wake_now(pair->word, pair->count, FUTEX_ANY);
	if (futex_compare((int32_t)before, pair->operation)) {
		engine_note(OP_FUTEX_WAKE, pair->second, pair->site);
		woken += futex_wake_now(pair->second, pair->second_count, FUTEX_ANY);
	}
	return woken;
}

static long futex_take_pi(uint32_t *word)
{
	uint32_t self = (uint32_t)engine_current()->kernel_id;
	uint32_t owner = *word & FUTEX_TID_MASK;

	if (owner == self)
		return -EDEADLK;
	if (owner)
		return -EAGAIN;
	*word |= self;
	return 0;
}

long futex_lock_pi(uint32_t *word, uint64_t deadline_ns, uint64_t site)
{
	struct engine_op op = futex_block_op(word, deadline_ns, site);
	long result;

	futex_point(OP_FUTEX_LOCK, word, word, true, site);
	result = futex_take_pi(word);
	if (result != -EAGAIN)
		return result;
	*word |= FUTEX_WAITERS;
	return futex_block(&op, PI_WAITER);
}

long futex_trylock_pi(uint32_t *word, uint64_t site)
{
	futex_point(OP_FUTEX_LOCK, word, word, true, site);
	return futex_take_pi(word);
}

/* The unlock chooses the next owner, so the woken thread already owns the futex. */
long futex_unlock_pi(uint32_t *word, uint64_t site)
{
	uint32_t waiting;
	struct engine_thread *next;

	futex_point(OP_FUTEX_WAKE, word, word, true, site);
	if ((*word & FUTEX_TID_MASK) != (uint32_t)engine_current()->kernel_id)
		return -EPERM;
	waiting = futex_count(word, PI_WAITER);
	if (!waiting) {
		*word = 0;
		return 0;
	}
	next = futex_select(word, PI_WAITER, engine_choose_value(waiting));
	*word = (uint32_t)next->kernel_id | (waiting > 1 ? FUTEX_WAITERS : 0);
	futex_release(next);
	return 0;
}
