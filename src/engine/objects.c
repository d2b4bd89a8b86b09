/* Stable names of objects: docs/decisions/0002. */
#include "base/hash.h"
#include "engine/engine.h"
#include "engine/engine_internal.h"

void engine_add_module(uintptr_t start, uintptr_t end, uint64_t module_hash)
{
	if (engine.module_count < ENGINE_MODULES_MAX)
		engine.modules[engine.module_count++] =
			(struct engine_module){.start = start, .end = end, .hash = module_hash};
}

static struct engine_name_entry *objects_engine_name_entry(const void *address)
{
	uintptr_t key = (uintptr_t)address;

	return &engine.name_cache[(key >> 3 ^ key >> 13) % ENGINE_NAME_CACHE];
}

bool engine_static_location(const void *object, uint32_t *module, uint64_t *offset)
{
	const uintptr_t address = (uintptr_t)object;

	for (uint32_t i = 0; i < engine.module_count; i++) {
		if (address < engine.modules[i].start || address >= engine.modules[i].end)
			continue;
		*module = i;
		*offset = address - engine.modules[i].start;
		return true;
	}
	return false;
}

const void *engine_static_address(uint32_t module, uint64_t offset)
{
	return module < engine.module_count ? (const void *)(engine.modules[module].start + offset)
					    : NULL;
}

variable_name engine_static_name(const void *object)
{
	uint32_t module;
	uint64_t offset;

	return engine_static_location(object, &module, &offset)
		       ? hash_pair(engine.modules[module].hash, offset) | 1
		       : 0;
}

/* Returns the name of a thread, or 0 if the address is no thread. The name is not cached, because
 * entries of the thread table are reused for other threads. */
static object_name objects_engine_name_of_thread(const void *address)
{
	const struct engine_thread *thread = address;

	if (thread < engine.threads || thread >= engine.threads + THREAD_CAPACITY)
		return 0;
	return (object_name)hash_pair(thread->name, 0) | 1;
}

/* The cache also stores names derived from first uses. An evicted object gets a new ordinal at
 * its next use: deterministic, and rare below ENGINE_NAME_CACHE objects in use at once. */
object_name engine_object_name(const void *address)
{
	struct engine_name_entry *entry = objects_engine_name_entry(address);
	const object_name of_thread = objects_engine_name_of_thread(address);

	if (of_thread)
		return of_thread;
	if (entry->address == address)
		return entry->name;
	entry->address = address;
	entry->name = (object_name)engine_static_name(address);
	if (!entry->name && engine.host.name)
		entry->name = engine.host.name(address);
	if (!entry->name) {
		struct engine_thread *self = engine.current;

		bitset_add(engine.named, (uint32_t)(entry - engine.name_cache));
		entry->name = (object_name)hash_pair(self->name, self->objects_named++) | 1;
	}
	return entry->name;
}

void engine_object_renew(const void *address)
{
	struct engine_name_entry *entry = objects_engine_name_entry(address);

	if (entry->address == address)
		entry->address = NULL;
}

void engine_object_destroyed(const struct engine_op *op, size_t bytes)
{
	engine_object_renew(op->address);
	if (engine.host.destroyed && !op->is_shared)
		engine.host.destroyed(op, bytes);
}

uint16_t engine_note_kernel_access(const void *address, bool writes)
{
	return engine.is_live && engine.host.kernel_accesses
		       ? engine.host.kernel_accesses(address, writes)
		       : 0;
}

void engine_set_second(enum op_kind kind, const void *address, uint16_t second)
{
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (engine.threads[i].op && engine.pending[i].kind == kind &&
			engine.threads[i].op->address == address)
			engine.pending[i].second = second;
}
