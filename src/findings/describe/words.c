#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/bug.h"
#include "base/hash_table.h"
#include "base/strbuf.h"
#include "findings/describe/builder.h"

/* Deeper stacks lose their outermost frames. */
#define STACK_ADDRESSES_MAX 64

/* Memory may serve as a mutex first and as a semaphore later, and may be freed and allocated again between two objects.
 * The class and the heap block therefore belong to the key. */
struct object_key {
	uint64_t address;
	uint64_t class;
	uint64_t block; /* symbols_block_number() */
};

struct first_use {
	struct object_key key;
	const struct trace_event *event;
	uint32_t number; /* number among the objects of its class, from 1 */
	char *object;	 /* builder_object(); NULL: not yet asked for */
	UT_hash_handle hh;
};

static struct object_key words_key(
	const struct builder *builder, enum object_class class, uint64_t address, uint64_t step)
{
	const struct symbols_memory memory = builder_symbols_memory(builder);

	return (struct object_key){.address = address,
		.class = class,
		.block = builder->symbols
				 ? symbols_block_number(builder->symbols, &memory, address, step)
				 : 0};
}

static struct first_use *words_find_first_use(
	const struct builder *builder, const struct object_key *key)
{
	struct first_use *use;

	HASH_FIND(hh, builder->first_uses, key, sizeof *key, use);
	return use;
}

void builder_note_first_uses(struct builder *builder)
{
	uint32_t counts[OBJECT_CLASS_COUNT] = {0};

	for (uint64_t i = 0; i < builder->source->event_count; i++) {
		const struct trace_event *event = &builder->source->events[i];
		const enum object_class class = op_descriptions[event->kind].object;
		const struct object_key key =
			words_key(builder, class, event->address, event->step);
		struct first_use *use;

		if (!event->address || words_find_first_use(builder, &key))
			continue;
		use = array_new(1, sizeof *use);
		use->key = key;
		use->event = event;
		use->number = ++counts[class];
		HASH_ADD(hh, builder->first_uses, key, sizeof use->key, use);
	}
}

void builder_forget_first_uses(struct builder *builder)
{
	HASH_FREE_EACH(builder->first_uses, use, free(use->object));
}

const char *builder_thread(const struct builder *builder, struct thread_id thread)
{
	if (thread.index < builder->source->thread_count)
		return builder->paths[thread.index];
	return thread.index ? "a thread" : "main";
}

/* Adds the source name of static data, without its declaration's location. Returns false if there is
 * no name. */
static bool words_add_static_name(
	const struct builder *builder, uint64_t address, struct strbuf *out)
{
	const char *module = NULL;
	STRBUF_SCOPED name = STRBUF_EMPTY;
	char *location;
	bool is_named;

	if (!builder->symbols)
		return false;
	/* the module suffices */
	(void)symbols_module_offset(builder->symbols, address, &module);
	if (!module || !strncmp(module, "libraddle", 9))
		return false; /* the runtime's own data is not shown */
	is_named = symbols_describe_static_data(builder->symbols, address, &name);
	location = strstr(name.text, " (");
	if (location)
		*location = '\0';
	if (is_named)
		strbuf_addf(out, " %s", name.text);
	return is_named;
}

/* Adds the thread whose record has this address: the thread that begins or exits with it. */
static void words_add_thread_name(
	const struct builder *builder, uint64_t address, struct strbuf *out)
{
	for (uint64_t i = 0; i < builder->source->event_count; i++) {
		const struct trace_event *event = &builder->source->events[i];

		if (event->address != address ||
			(event->kind != OP_THREAD_BEGIN && event->kind != OP_THREAD_EXIT))
			continue;
		strbuf_addf(out, "thread %s",
			builder_thread(builder, (struct thread_id){event->thread}));
		return;
	}
	strbuf_adds(out, "a thread");
}

void builder_add_first_use(const struct builder *builder, enum object_class class, uint64_t address,
	uint64_t step, struct strbuf *out)
{
	const struct object_key key = words_key(builder, class, address, step);
	const struct first_use *use = words_find_first_use(builder, &key);
	struct finding_frame frame;

	if (!use)
		return;
	strbuf_addf(out, " #%" PRIu32 " first used at ", use->number);
	frame = builder_event_frame(builder, use->event);
	frame_location(&frame, out);
	strbuf_addf(out, " by %s", builder_thread(builder, (struct thread_id){use->event->thread}));
	finding_frame_release(&frame);
}

/* Adds the noun of an object. A futex is named after the class whose method waits for it: "future",
 * "latch". */
static void words_add_noun(const struct builder *builder, enum object_class class, uint64_t address,
	struct strbuf *out)
{
	FREE_SCOPED char *owner = NULL;

	for (uint64_t i = 0; class == OBJECT_FUTEX && i < builder->source->event_count && !owner;
		i++) {
		const struct trace_event *event = &builder->source->events[i];

		if (event->address == address && event->kind == OP_FUTEX_WAIT)
			owner = builder_library_class(builder, event);
	}
	strbuf_adds(out, owner ? owner : object_class_text(class));
}

/* A variable whose type no futex can have, such as std::atomic<bool>, shares a word of libstdc++ with other variables. The
 * wait reads the variable before that word, and a counter of waiters lies this far before the word. */
#define WAITERS_BYTES 64

/* Returns the last atomic read before the wait, by its thread, that reads neither the shared word nor its counter. NULL:
 * none. */
static const struct trace_event *words_find_awaited(
	const struct builder *builder, const struct trace_event *wait)
{
	for (const struct trace_event *event = wait; event-- > builder->source->events;)
		if (event->thread == wait->thread && event->kind == OP_ATOMIC_LOAD &&
			event->address + WAITERS_BYTES - wait->address > WAITERS_BYTES)
			return event;
	return NULL;
}

const struct trace_event *builder_awaited_read(const struct builder *builder, uint64_t address)
{
	const struct finding_source *source = builder->source;
	const struct trace_event *awaited = NULL;
	STRBUF_SCOPED word = STRBUF_EMPTY;

	if (!words_add_static_name(builder, address, &word) || !strstr(word.text, "::__"))
		return NULL;
	for (uint64_t i = 0; i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i], *read;

		if (event->kind != OP_FUTEX_WAIT || event->address != address)
			continue;
		read = words_find_awaited(builder, event);
		if (!read || (awaited && read->address != awaited->address))
			return NULL;
		awaited = read;
	}
	return awaited;
}

/* Adds the name of the variable for which threads wait at a shared word. */
static void words_add_awaited(const struct builder *builder, uint64_t address, struct strbuf *out)
{
	const struct trace_event *awaited = builder_awaited_read(builder, address);
	FREE_SCOPED char *name = awaited ? builder_event_object(builder, awaited) : NULL;

	if (name && strncmp(name, "memory ", 7) != 0)
		strbuf_addf(out, " %.*s", finding_short_name(name), name);
}

/* Names a futex after the variable that contains it. In a library's own object that name tells
 * nothing: then where the object is first used, and where the program made it. */
static void words_add_futex_name(
	const struct builder *builder, uint64_t address, uint64_t step, struct strbuf *out)
{
	static const char block[] = "((std::", made[] = " *)", at[] = " at ";
	STRBUF_SCOPED name = STRBUF_EMPTY;
	char *location, *end;

	if (!words_add_static_name(builder, address, &name))
		/* The name may stay empty. */
		(void)builder_add_placed_name(builder, OBJECT_FUTEX, address, step, &name);
	location = strstr(name.text, block) ? strstr(name.text, made) : NULL;
	location = location ? strstr(location, at) : NULL;
	if (name.length && !location && strstr(name.text, "::__")) {
		strbuf_clear(&name);
		words_add_awaited(builder, address, &name);
	}
	if (name.length && !location) {
		strbuf_adds(out, name.text);
	} else {
		builder_add_first_use(builder, OBJECT_FUTEX, address, step, out);
		end = location ? strstr(location, ", #") : NULL;
		if (end)
			strbuf_addf(out, ", made%.*s", (int)(end - location), location);
	}
}

/* Replaces "once control guard variable for f()::c+4", a name of the C++ ABI, by "initialisation of f()::c". */
static void words_name_guard(struct strbuf *text)
{
	static const char prefix[] = "once control guard variable for ";
	char *variable, *offset;

	if (strncmp(text->text, prefix, sizeof prefix - 1) != 0)
		return;
	variable = string_copy(text->text + sizeof prefix - 1);
	offset = strrchr(variable, '+');
	if (offset)
		*offset = '\0';
	strbuf_clear(text);
	strbuf_addf(text, "initialisation of %s", variable);
	free(variable);
}

static char *words_object(
	const struct builder *builder, enum object_class class, uint64_t address, uint64_t step)
{
	struct strbuf text = STRBUF_EMPTY;

	if (class == OBJECT_MEMORY)
		return builder_memory(
			builder, &(struct symbols_access){.address = address, .step = step});
	if (class == OBJECT_THREAD) {
		words_add_thread_name(builder, address, &text);
		return strbuf_detach(&text);
	}
	words_add_noun(builder, class, address, &text);
	if (class == OBJECT_FUTEX)
		words_add_futex_name(builder, address, step, &text);
	else if (!words_add_static_name(builder, address, &text) &&
		 !builder_add_placed_name(builder, class, address, step, &text))
		builder_add_first_use(builder, class, address, step, &text);
	words_name_guard(&text);
	return strbuf_detach(&text);
}

/* A long run has millions of steps and few objects: each object is named once. */
char *builder_object(
	const struct builder *builder, enum op_kind kind, uint64_t address, uint64_t step)
{
	const enum object_class class = op_descriptions[kind].object;
	const struct object_key key = words_key(builder, class, address, step);
	struct first_use *use;

	/* The verb already names the object of a child or a signal. */
	if (class == OBJECT_NOTHING || class == OBJECT_CHILD || class == OBJECT_SIGNAL || !address)
		return NULL;
	use = words_find_first_use(builder, &key);
	if (!use)
		return words_object(builder, class, address, step);
	if (!use->object)
		use->object = words_object(builder, class, address, step);
	return string_copy(use->object);
}

struct finding_frame builder_frame_from(
	const struct builder *builder, const struct symbols_frame *frame)
{
	struct finding_frame result = {.function = string_copy(frame->function),
		.file = string_copy(frame->file),
		.line = frame->line,
		.module = string_copy(frame->module),
		.is_system = frame->is_system,
		.is_wrapper = builder_is_wrapper(builder, frame)};
	const char *module = NULL;

	/* Module and offset hold in every run; an address does not. */
	if (!result.function && builder->symbols) {
		const uint64_t offset =
			symbols_module_offset(builder->symbols, frame->address, &module);

		if (module)
			BUG_ON(asprintf(&result.function, "%s+0x%" PRIx64, module, offset) < 0);
	}
	return result;
}

/* A number may mean both a return address and the point of the access directly behind the call. */
unsigned builder_frames_at(const struct builder *builder, uint64_t site,
	enum code_location location, struct symbols_frame frames[SITE_FRAMES_MAX])
{
	bool is_point;

	if (!builder->symbols || !site)
		return 0;
	is_point = location == LOCATION_OF_ACCESS && symbols_is_point(builder->symbols, site);
	return symbols_lookup(builder->symbols, site, !is_point, frames, SITE_FRAMES_MAX);
}

struct finding_frame builder_frame_at(
	const struct builder *builder, uint64_t site, enum code_location location)
{
	struct symbols_frame frames[SITE_FRAMES_MAX];
	const unsigned count = builder_frames_at(builder, site, location, frames);

	for (unsigned i = 0; i < count; i++)
		if (!frames[i].is_system)
			return builder_frame_from(builder, &frames[i]);
	return count ? builder_frame_from(builder, &frames[0]) : (struct finding_frame){0};
}

struct finding_frame builder_held_since(const struct builder *builder, const struct wait_edge *edge)
{
	const struct finding_source *source = builder->source;

	for (uint64_t i = source->event_count; i--;) {
		const struct trace_event *event = &source->events[i];

		if (event->thread == edge->holder.index &&
			(event->site == edge->holder_site || event->kind == OP_ONCE_ENTER) &&
			event->address == edge->object_address)
			return builder_event_frame(builder, event);
	}
	return builder_frame_at(builder, edge->holder_site, LOCATION_OF_CALL);
}

static void words_add_frames(const struct builder *builder, uint64_t site,
	enum code_location location, struct finding_stack *stack)
{
	struct symbols_frame frames[SITE_FRAMES_MAX];
	const unsigned count = builder_frames_at(builder, site, location, frames);

	stack->frames = array_resize(
		stack->frames, stack->count + (size_t)count + 1, sizeof *stack->frames);
	for (unsigned i = 0; i < count; i++)
		stack->frames[stack->count++] = builder_frame_from(builder, &frames[i]);
}

bool builder_is_runtime(const struct builder *builder, uint64_t address)
{
	const char *module = NULL;

	(void)symbols_module_offset(builder->symbols, address, &module);
	return module && !strncmp(module, "libraddle", 9);
}

/* Returns the number of the runtime's inner frames to leave out. The function that the target
 * called stays. */
static unsigned words_skip_runtime(
	const struct builder *builder, const uint64_t *addresses, unsigned count)
{
	const enum outcome_kind kind = (enum outcome_kind)builder->source->outcome->kind;
	const bool is_handler =
		kind == OUTCOME_CRASH || kind == OUTCOME_ABORT || kind == OUTCOME_EXIT;
	unsigned skipped = 0;

	while (skipped < count && builder_is_runtime(builder, addresses[skipped]))
		skipped++;
	/* A signal handler of the runtime was not called by the target. A function that crashed was. */
	if (is_handler && !builder_is_runtime(builder, builder->source->outcome->site))
		return skipped;
	/* The stack cannot be unwound through an unloaded library: only frames of the runtime are known. */
	if (skipped == count && builder_find_unload(builder) != NO_EVENT)
		return count;
	return skipped == count || !skipped ? 0 : skipped - 1;
}

/* Number of addresses without the outermost frames, in which the runtime starts the thread. */
static unsigned words_count_without_start(
	const struct builder *builder, const uint64_t *addresses, unsigned count)
{
	while (builder->symbols && count > 1 && builder_is_runtime(builder, addresses[count - 1]))
		count--;
	return count;
}

void builder_access_stack(const struct builder *builder, uint64_t site, const uint64_t *addresses,
	unsigned count, struct finding_stack *stack)
{
	unsigned callers = 0;

	while (builder->symbols && callers < count &&
		builder_is_runtime(builder, addresses[callers]))
		callers++;
	words_add_frames(builder, site, LOCATION_OF_ACCESS, stack);
	/* The innermost frame of the target is replaced by that of `site`, which may be further out. */
	for (unsigned i = callers; i < count; i++)
		if (addresses[i] == site)
			callers = i;
	count = words_count_without_start(builder, addresses, count);
	for (unsigned i = callers + 1; i < count; i++)
		words_add_frames(builder, addresses[i], LOCATION_OF_CALL, stack);
}

void builder_stack(const struct builder *builder, struct thread_id thread, uint64_t site,
	struct finding_stack *stack)
{
	const struct finding_source *source = builder->source;
	uint64_t addresses[STACK_ADDRESSES_MAX];
	unsigned count = 0, skipped;

	if (source->pid && builder->symbols && thread.index < source->thread_count &&
		source->threads[thread.index].stack_pointer)
		count = symbols_unwind(builder->symbols, source->pid,
			source->threads[thread.index].stack_pointer,
			source->threads[thread.index].thread_base, addresses, STACK_ADDRESSES_MAX);
	if (!count || outcome_has_accesses(source->outcome)) {
		builder_access_stack(builder, site, addresses, count, stack);
		return;
	}
	count = words_count_without_start(builder, addresses, count);
	skipped = words_skip_runtime(builder, addresses, count);
	if (skipped == count) /* the failing code lies in no module, which ends the stack */
		words_add_frames(builder, site, LOCATION_OF_CALL, stack);
	for (unsigned i = skipped; i < count; i++)
		if (i == skipped || !builder_is_runtime(builder, addresses[i]))
			words_add_frames(builder, addresses[i], LOCATION_OF_CALL, stack);
}

void frame_location(const struct finding_frame *frame, struct strbuf *out)
{
	if (frame && frame->file)
		strbuf_addf(out, "%s:%u", base_name(frame->file), frame->line);
	else if (frame && frame->function && frame->module && !strchr(frame->function, '+'))
		strbuf_addf(out, "%s in %s", frame->function, frame->module);
	else if (frame && frame->function)
		strbuf_adds(out, frame->function);
	else
		strbuf_adds(out, "an unknown location");
}
