#include <inttypes.h>
#include <string.h>

#include "symbols/symbols_internal.h"

/* Default size of thread stacks, and of the main stack. */
#define STACK_BYTES UINT64_C(8 << 20)
/* glibc's thread control block lies above the thread's base. */
#define THREAD_BLOCK_BYTES 4096

static struct variable_location data_location_of(const struct symbols_access *access)
{
	return (struct variable_location){
		.location = access->address, .bytes = access->bytes, .is_brief = access->is_brief};
}

/* Returns the thread with the nearest stack pointer below the address; among ended threads, the
 * nearest base above. */
const struct symbols_thread *symbols_stack_owner(
	const struct symbols_memory *memory, uint64_t address)
{
	const struct symbols_thread *owner = NULL;
	uint64_t nearest = STACK_BYTES;

	for (uint32_t i = 0; i < memory->thread_count; i++) {
		const struct symbols_thread *thread = &memory->threads[i];
		const uint64_t low = thread->stack_pointer - 128;

		if (!thread->stack_pointer || address - low >= nearest ||
			(i && address >= thread->thread_base))
			continue;
		nearest = address - low;
		owner = thread;
	}
	for (uint32_t i = 1; !owner && i < memory->thread_count; i++)
		if (memory->threads[i].thread_base - address - 1 < STACK_BYTES)
			owner = &memory->threads[i];
	return owner;
}

static bool data_describe_thread_local(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct strbuf *out)
{
	const struct variable_location location = data_location_of(access);
	STRBUF_SCOPED name = STRBUF_EMPTY;
	bool is_found = false;

	if (!memory->pid)
		return false;
	for (uint32_t i = 0; i < memory->thread_count && !is_found; i++) {
		const struct symbols_thread *thread = &memory->threads[i];
		const char *file;

		if (!thread->thread_base || !thread_locals_describe(symbols, memory->pid,
						    thread->thread_base, &location, &name))
			continue;
		file = strstr(name.text, " (");
		strbuf_addf(out, "thread-local %.*s of %s%s",
			file ? (int)(file - name.text) : (int)name.length, name.text, thread->path,
			file ? file : "");
		is_found = true;
	}
	return is_found;
}

static bool data_describe_local(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_thread *owner, const struct symbols_access *access, struct strbuf *out)
{
	const struct local_location location = {.pid = memory->pid,
		.stack_pointer = owner ? owner->stack_pointer : 0,
		.address = access->address,
		.bytes = access->bytes,
		.is_brief = access->is_brief,
		.object_bytes = access->object_bytes,
		.is_standing = owner && access->step > owner->last_step};

	if (!location.stack_pointer || !location.pid || !locals_describe(symbols, &location, out))
		return false;
	if (owner != memory->threads)
		strbuf_addf(out, access->is_brief ? " of %s" : " in %s", owner->path);
	return true;
}

static bool data_describe_stack(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct strbuf *out)
{
	const struct symbols_thread *owner = symbols_stack_owner(memory, access->address);

	if (data_describe_local(symbols, memory, owner, access, out))
		return true;
	for (uint32_t i = 0; !owner && i < memory->thread_count; i++)
		if (memory->threads[i].thread_base &&
			access->address - memory->threads[i].thread_base + THREAD_BLOCK_BYTES <
				2 * THREAD_BLOCK_BYTES) {
			strbuf_addf(out, "thread-local memory of %s", memory->threads[i].path);
			return true;
		}
	return false;
}

bool symbols_describe_data(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct strbuf *out)
{
	const struct symbols_thread *owner;
	const struct memory_block *block;
	const struct variable_location location = data_location_of(access);

	if (static_data_describe(symbols, &location, out))
		return true;
	if (symbols_data_module(symbols, access->address)) {
		const char *module = "";
		const uint64_t offset = symbols_module_offset(symbols, access->address, &module);

		strbuf_addf(out, "%s+0x%" PRIx64, module, offset);
		return true;
	}
	block = blocks_at(symbols, memory, access);
	owner = block ? symbols_stack_owner(memory, access->address) : NULL;
	/* A heap block of the program may serve as a stack. */
	if (owner && owner->stack_pointer - block->start < block->bytes &&
		data_describe_local(symbols, memory, owner, access, out))
		return true;
	if (block && block->kind != BLOCK_MAPPING) {
		blocks_describe(symbols, memory, block, access, out);
		return true;
	}
	if (data_describe_thread_local(symbols, memory, access, out))
		return true;
	if (block) {
		blocks_describe(symbols, memory, block, access, out);
		return true;
	}
	return data_describe_stack(symbols, memory, access, out);
}
