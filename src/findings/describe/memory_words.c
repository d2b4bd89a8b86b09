/* Names accessed memory: the variable, its block, or the stack that contains it. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "findings/describe/builder.h"

/* Limit on the modules without debug information that a finding lists. */
#define NOTICES_MAX 4

struct symbols_memory builder_symbols_memory(const struct builder *builder)
{
	return (struct symbols_memory){.pid = builder->source->pid,
		.threads = builder->threads,
		.thread_count = builder->source->thread_count,
		.blocks = builder->source->blocks,
		.block_count = builder->source->block_count};
}

static struct symbols_access memory_words_access_of(const struct trace_event *event)
{
	return (struct symbols_access){.address = event->address,
		.bytes = event->bytes,
		.site = event->site,
		.step = event->step,
		.is_brief = true};
}

/* Is the text a name in the source? Descriptions are none: "(malloc at bank.c:41, #3)+16", "libfoo.so+0x40". */
static bool memory_words_is_name(const char *text)
{
	return strncmp(text, "((", 2) == 0 || (*text != '(' && !strstr(text, "+0x"));
}

static bool memory_words_is_access(const struct trace_event *event)
{
	return op_descriptions[event->kind].object == OBJECT_MEMORY && event->address;
}

void builder_note_accesses(struct builder *builder)
{
	const struct symbols_memory memory = builder_symbols_memory(builder);

	for (uint64_t i = 0; builder->symbols && i < builder->source->event_count; i++) {
		const struct symbols_access access =
			memory_words_access_of(&builder->source->events[i]);

		if (memory_words_is_access(&builder->source->events[i]))
			symbols_note_access(builder->symbols, &memory, &access);
	}
}

/* Bytes of each synchronisation object of glibc on x86-64; 0: its size does not distinguish it from
 * an integer. */
static const uint64_t object_bytes[OBJECT_CLASS_COUNT] = {
	[OBJECT_MUTEX] = sizeof(pthread_mutex_t),
	[OBJECT_COND] = sizeof(pthread_cond_t),
	[OBJECT_RWLOCK] = sizeof(pthread_rwlock_t),
	[OBJECT_BARRIER] = sizeof(pthread_barrier_t),
	[OBJECT_SEM] = sizeof(sem_t),
};

/* A futex lies in an object of the program's or a library's class: the variable at its location names it. */
static bool memory_words_can_be_placed(enum object_class class)
{
	return object_bytes[class] || class == OBJECT_FUTEX;
}

/* Adds the local variable at the address in the frame of the event's thread that contains it. */
static bool memory_words_add_local_of(const struct builder *builder,
	const struct trace_event *event, uint64_t address, uint64_t bytes, struct strbuf *out)
{
	const unsigned frame = trace_event_frame_at(event, address);

	return frame &&
	       symbols_describe_local(builder->symbols,
		       &(struct symbols_frame_location){
			       .code = frame == 1 ? event->site : event->callers[frame - 2],
			       .offset =
				       (int64_t)(address - event->stack - event->frames[frame - 1]),
			       .object_bytes = bytes},
		       out);
}

/* Returns the first event from the step on; event_count if there is none. */
static uint64_t memory_words_event_from(const struct finding_source *source, uint64_t step)
{
	uint64_t low = 0, high = source->event_count;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (source->events[middle].step < step)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Names an object in the frame of a call that has returned, from the first step at that address
 * whose thread had the frame; plain memory from the access itself. `class` and size exclude most
 * objects of other calls.
 */
static bool memory_words_add_own_local(const struct builder *builder, enum object_class class,
	const struct symbols_access *access, struct strbuf *out)
{
	const struct finding_source *source = builder->source;
	const bool is_access = class == OBJECT_MEMORY;

	for (uint64_t i = is_access ? memory_words_event_from(source, access->step) : 0;
		i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i];

		if (is_access && event->step != access->step)
			break;
		if (event->address == access->address &&
			op_descriptions[event->kind].object == class &&
			trace_event_frame_at(event, access->address))
			return memory_words_add_local_of(
				builder, event, access->address, object_bytes[class], out);
	}
	return false;
}

/*
 * Names a local variable in a function call of another thread, where the call has returned after the access. The other
 * thread executed no code between its last step before the access and its next step. The trace has the frames of that
 * next step, and the call is still among them.
 */
static bool memory_words_add_shared_local(const struct builder *builder, uint64_t step,
	uint64_t address, uint64_t bytes, struct strbuf *out)
{
	const struct finding_source *source = builder->source;
	const struct symbols_memory memory = builder_symbols_memory(builder);
	const struct symbols_thread *owner = symbols_stack_owner(&memory, address);

	for (uint64_t i = memory_words_event_from(source, step); owner && i < source->event_count;
		i++)
		if (&builder->threads[source->events[i].thread] == owner)
			return memory_words_add_local_of(
				builder, &source->events[i], address, bytes, out);
	return false;
}

/* Names an object in a frame of a call that has returned. */
static bool memory_words_add_object_local(const struct builder *builder, enum object_class class,
	const struct symbols_access *access, struct strbuf *out)
{
	const struct finding_source *source = builder->source;

	if (memory_words_add_own_local(builder, class, access, out))
		return true;
	for (uint64_t i = 0; i < source->event_count; i++)
		if (source->events[i].address == access->address &&
			op_descriptions[source->events[i].kind].object == class)
			return memory_words_add_shared_local(builder, source->events[i].step,
				access->address, object_bytes[class], out);
	return false;
}

char *builder_memory(const struct builder *builder, const struct symbols_access *access)
{
	const struct symbols_memory memory = builder_symbols_memory(builder);
	const struct symbols_thread *owner;
	struct strbuf text = STRBUF_EMPTY;

	if (builder->symbols &&
		(symbols_describe_data(builder->symbols, &memory, access, &text) ||
			memory_words_add_own_local(builder, OBJECT_MEMORY, access, &text) ||
			memory_words_add_shared_local(
				builder, access->step, access->address, 0, &text)))
		return strbuf_detach(&text);
	owner = symbols_stack_owner(&memory, access->address);
	strbuf_adds(&text, object_class_text(OBJECT_MEMORY));
	if (owner)
		strbuf_addf(&text, " on the stack of %s", owner->path);
	builder_add_first_use(builder, OBJECT_MEMORY, access->address, access->step, &text);
	return strbuf_detach(&text);
}

bool builder_add_placed_name(const struct builder *builder, enum object_class class,
	uint64_t address, uint64_t step, struct strbuf *out)
{
	const struct symbols_memory memory = builder_symbols_memory(builder);
	const struct symbols_access access = {.address = address,
		.step = step,
		.is_brief = true,
		.bytes = class == OBJECT_FUTEX ? sizeof(uint32_t) : 0,
		.object_bytes = object_bytes[class]};
	STRBUF_SCOPED name = STRBUF_EMPTY;
	bool is_named;

	if (!builder->symbols || !memory_words_can_be_placed(class))
		return false;
	is_named = symbols_describe_data(builder->symbols, &memory, &access, &name) &&
		   memory_words_is_name(name.text);
	if (!is_named) {
		strbuf_clear(&name);
		is_named = memory_words_add_object_local(builder, class, &access, &name);
	}
	if (is_named)
		strbuf_addf(out, " %s", name.text);
	return is_named;
}

char *builder_event_object(const struct builder *builder, const struct trace_event *event)
{
	const struct symbols_access access = memory_words_access_of(event);

	return memory_words_is_access(event) ? builder_memory(builder, &access)
					     : builder_operand(builder, event);
}

void builder_add_notices(const struct builder *builder, struct strbuf *out)
{
	const struct finding_source *source = builder->source;
	const char *reported[NOTICES_MAX];
	unsigned count = 0;

	for (uint64_t i = 0; builder->symbols && i < source->event_count && count < NOTICES_MAX;
		i++) {
		const struct trace_event *event = &source->events[i];
		bool has_symbols;
		const char *module;
		bool is_reported = false;

		if (!memory_words_is_access(event))
			continue;
		module = symbols_lacks_debug_information(
			builder->symbols, event->address, &has_symbols);
		for (unsigned t = 0; module && t < count; t++)
			is_reported |= !strcmp(reported[t], module);
		if (!module || is_reported)
			continue;
		reported[count++] = module;
		strbuf_addf(out,
			"%s has no %s, so its variables are named as %s; compile it with -g%s\n",
			module, has_symbols ? "debug information" : "symbols",
			has_symbols ? "symbol+distance" : "module+distance",
			has_symbols ? "" : " and do not strip it");
	}
}
