/*
 * Waiting loops that the compiler's pass has recognised (compiler/pass/waits/waits.c). The read of such a
 * loop is an op that blocks until the memory has a value that ends the loop. The iterations that
 * only repeat the read are therefore no steps, and a thread that waits for ever is blocked for ever.
 * A loop may read two locations, and end with a suitable value of either (compiler/pass/waits/waits_pair.c).
 *
 * Memory that other processes share may change at any time, so its reads do not block. Nor do reads
 * under c11, which need not return the newest value, nor those of `raddle branches`, for which the
 * condition of the loop is a branch with two outcomes.
 */
#include "engine/engine.h"
#include "runtime/guarded_read.h"
#include "runtime/heap.h"
#include "runtime/memory/memory_internal.h"
#include "runtime/runtime.h"
#include "runtime/undo.h"

static int64_t awaited_signed(uint64_t value, uint32_t bytes)
{
	const unsigned unused = 64 - 8 * bytes;

	return (int64_t)(value << unused) >> unused;
}

static bool awaited_ends_loop(uint64_t test, uint64_t operand, uint64_t value, uint32_t bytes)
{
	const int64_t a = awaited_signed(value, bytes), b = awaited_signed(operand, bytes);

	switch ((enum site_wait_test)test) {
	case SITE_WAIT_EQUAL:
		return value == operand;
	case SITE_WAIT_DIFFERENT:
		return value != operand;
	case SITE_WAIT_CLEAR:
		return !(value & operand);
	case SITE_WAIT_SET:
		return value & operand;
	case SITE_WAIT_ABOVE:
		return value > operand;
	case SITE_WAIT_AT_MOST:
		return value <= operand;
	case SITE_WAIT_BELOW:
		return value < operand;
	case SITE_WAIT_AT_LEAST:
		return value >= operand;
	case SITE_WAIT_SIGNED_ABOVE:
		return a > b;
	case SITE_WAIT_SIGNED_AT_MOST:
		return a <= b;
	case SITE_WAIT_SIGNED_BELOW:
		return a < b;
	case SITE_WAIT_SIGNED_AT_LEAST:
		return a >= b;
	}
	return true;
}

/* Returns whether the value of the other location ends the loop. */
static bool awaited_is_over_elsewhere(const uint64_t *wait)
{
	const void *address = (const void *)(uintptr_t)wait[SITE_WAIT_OTHER_ADDRESS];
	const uint32_t bytes = (uint32_t)wait[SITE_WAIT_OTHER_BYTES];
	struct heap_free freed;
	uint64_t value;

	return heap_was_freed(address, &freed) || !guarded_read(address, bytes, &value) ||
	       awaited_ends_loop(
		       wait[SITE_WAIT_OTHER_TEST], wait[SITE_WAIT_OTHER_OPERAND], value, bytes);
}

/* Returns whether the read ends its loop, or would do anything else than go round again. */
static bool awaited_is_over(const struct engine_op *op, const struct engine_thread *thread)
{
	const uint64_t *wait = (const uint64_t *)(uintptr_t)op->argument;
	struct heap_free freed;
	uint64_t value;

	(void)thread;
	if (heap_was_freed(op->address, &freed) || !guarded_read(op->address, op->bytes, &value))
		return true;
	if (op->exchange == EXCHANGE_OF_EXPECTED)
		return value == op->argument;
	return (value & wait[SITE_WAIT_MASK]) != (wait[SITE_WAIT_KEPT] & wait[SITE_WAIT_MASK] &
							 (UINT64_MAX >> (64 - 8 * op->bytes))) ||
	       awaited_ends_loop(wait[SITE_WAIT_TEST] & ~(uint64_t)SITE_WAIT_EITHER,
		       wait[SITE_WAIT_OPERAND], value, op->bytes) ||
	       (op->awaits_either && awaited_is_over_elsewhere(wait));
}

void memory_wait_for_value(const struct memory_access *access, struct engine_op *op)
{
	if (!access->waits || runtime.contract->plan.repeats_waits ||
		engine_memory_model() == MEMORY_MODEL_C11 || undo_has_shared() || !op->bytes ||
		op->bytes > sizeof(uint64_t))
		return;
	op->ready = awaited_is_over;
	op->awaits_value = true;
	op->awaits_either =
		op->exchange != EXCHANGE_OF_EXPECTED &&
		((const uint64_t *)(uintptr_t)op->argument)[SITE_WAIT_TEST] & SITE_WAIT_EITHER;
}

bool memory_would_wait(const struct memory_access *access)
{
	struct engine_op op = memory_engine_op(access, 0);

	memory_wait_for_value(access, &op);
	return op.ready && !op.ready(&op, engine_current());
}
