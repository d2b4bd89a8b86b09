/* Recognises endless loops by the state of the program: its memory, and the registers of the only
 * thread that can run. Memory of the runtime does not belong to the state. */
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/hash.h"
#include "model/memory/fixed_addresses.h"
#include "runtime/runtime.h"
#include "runtime/spinning.h"
#include "runtime/libc/world.h"

#define PAGE_BYTES ((size_t)4096)
#define PAGES_AT_ONCE 256
/* More memory takes more time than a loop may cost; sanitizers reserve far more. */
#define MEMORY_MAX ((size_t)1 << 30)
#define RED_ZONE_BYTES 128
/* Registers of floating point and SSE, in the format of the instruction fxsave */
#define FXSAVE_BYTES 416

/* A sample is taken after this number of ticks without a step, and compared at the later ones. */
#define TICKS_BEFORE_SAMPLE 16
#define TICKS_PER_SAMPLE 64

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

struct repetition_digest {
	const char *stack_pointer;
	size_t bytes;
	uint64_t digest;
};

static uint64_t repetition_hash(uint64_t hash, const char *start, const char *end)
{
	uint64_t lanes[4] = {hash, 1, 2, 3};

	for (; end - start >= 32; start += 32)
		for (int i = 0; i < 4; i++)
			lanes[i] = (lanes[i] ^ ((const uint64_t *)(const void *)start)[i]) *
				   UINT64_C(0x9e3779b97f4a7c15);
	for (; start < end; start += 8)
		lanes[0] = hash_pair(lanes[0], *(const uint64_t *)(const void *)start);
	return hash_pair(hash_pair(lanes[0], lanes[1]), hash_pair(lanes[2], lanes[3]));
}

static void repetition_add(struct repetition_digest *digest, const char *start, const char *end)
{
	unsigned char is_resident[PAGES_AT_ONCE];

	while (start < end) {
		const char *page = (const char *)((uintptr_t)start & ~(PAGE_BYTES - 1));
		const char *part = page + PAGES_AT_ONCE * PAGE_BYTES;

		if (part > end)
			part = end;
		if (platform_failed(platform_call(SYS_mincore, page, part - page, is_resident)))
			return;
		for (size_t i = 0; start < part; i++) {
			const char *next = page + (i + 1) * PAGE_BYTES;

			if (is_resident[i] & 1)
				digest->digest =
					repetition_hash(hash_pair(digest->digest, (uintptr_t)start),
						start, next < part ? next : part);
			start = next;
		}
	}
}

/* The runtime's own data lies inside of one mapping, or in several. */
static void repetition_add_mapping(
	struct repetition_digest *digest, const char *start, const char *end)
{
	if (digest->stack_pointer >= start && digest->stack_pointer < end)
		start = digest->stack_pointer;
	if (start >= _end || end <= __ehdr_start) {
		repetition_add(digest, start, end);
		return;
	}
	repetition_add(digest, start, __ehdr_start);
	repetition_add(digest,
		(const char *)(((uintptr_t)_end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1)), end);
}

static bool repetition_visit(void *argument, const struct platform_mapping *mapping)
{
	struct repetition_digest *digest = argument;

	if (!mapping->is_writable || platform_owns(mapping->start) ||
		(uintptr_t)mapping->start - FIXED_TABLES < FIXED_TABLES_END - FIXED_TABLES ||
		engine_owns_mapping(mapping->start, mapping->end))
		return true;
	digest->bytes += (size_t)(mapping->end - mapping->start);
	if (!mapping->is_private || digest->bytes > MEMORY_MAX)
		return false;
	repetition_add_mapping(digest, mapping->start, mapping->end);
	return true;
}

bool repetition_digest(const void *stack_pointer, uint64_t *digest)
{
	struct repetition_digest found = {
		.stack_pointer = (const char *)((uintptr_t)stack_pointer & ~(uintptr_t)7)};
	int pids[CHILDREN_MAX];

	/* Without dispatch, system calls of libraries are not seen. */
	if (!runtime.has_dispatch || children_alive(pids) ||
		!platform_each_mapping(repetition_visit, &found))
		return false;
	*digest = found.digest;
	return true;
}

/* Restored with the run. */
static struct {
	uint64_t step;
	uint64_t outside_count;
	uint32_t ticks;
	bool is_known;
	uint64_t registers;
	uint64_t memory;
} sample;

static uint64_t repetition_registers(const ucontext_t *context)
{
	const char *general = (const char *)context->uc_mcontext.gregs;
	const char *vectors = (const char *)context->uc_mcontext.fpregs;
	const uint64_t hash = repetition_hash(0, general, general + REG_EFL * 8 + 8);

	return vectors ? repetition_hash(hash, vectors, vectors + FXSAVE_BYTES) : hash;
}

bool runtime_is_endless(const void *context)
{
	const ucontext_t *interrupted = context;
	const char *stack = (const char *)interrupted->uc_mcontext.gregs[REG_RSP] - RED_ZONE_BYTES;
	uint64_t memory;

	if (!runtime.contract || runtime.is_forked_child || !engine_is_closed() ||
		timer_next_ns() != ENGINE_FOREVER)
		return false;
	if (sample.step != engine_step() || sample.outside_count != engine_outside_count()) {
		sample.step = engine_step();
		sample.outside_count = engine_outside_count();
		sample.ticks = 0;
		sample.is_known = false;
	}
	if (sample.ticks++ % TICKS_PER_SAMPLE == TICKS_BEFORE_SAMPLE) {
		sample.registers = repetition_registers(interrupted);
		sample.is_known = repetition_digest(stack, &sample.memory);
		return false;
	}
	return sample.is_known && sample.registers == repetition_registers(interrupted) &&
	       repetition_digest(stack, &memory) && memory == sample.memory;
}
