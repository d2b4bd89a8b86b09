/* Allocation streams (heap_internal.h). A rewind restores the memory. */
#include "base/hash.h"
#include "base/hot_state.h"
#include "engine/engine.h"
#include "runtime/heap/heap_internal.h"

/* The latest streams by site, without a hash look-up. */
#define LATEST 32

static HOT_STATE struct {
	struct heap_stream *all; /* [0] serves all streams that do not fit */
	uint16_t *heads;
	uint32_t count;
	uint16_t latest[LATEST]; /* newest stream by site; 0: none */
} streams;

void heap_streams_set_up(struct heap_stream *all, uint16_t *heads)
{
	streams.all = all;
	streams.heads = heads;
	streams.count = 1;
}

const struct heap_stream *heap_stream(uint16_t index)
{
	return &streams.all[index];
}

static struct heap_stream *heap_streams_find(uint64_t site, thread_name thread, uint8_t kind)
{
	uint16_t *head = &streams.heads[hash_pair(site, thread) % HEAP_STREAM_HEADS];
	struct heap_stream *stream;

	for (uint16_t at = *head; at; at = streams.all[at].next)
		if (streams.all[at].site == site && streams.all[at].thread == thread)
			return &streams.all[at];
	if (streams.count == HEAP_STREAMS_MAX)
		return &streams.all[0];
	stream = &streams.all[streams.count];
	*stream = (struct heap_stream){.site = site,
		.hash = hash_pair(memory_code_name(site), thread),
		.thread = thread,
		.next = *head,
		.kind = kind};
	*head = (uint16_t)streams.count++;
	return stream;
}

static struct heap_stream *heap_streams_of(uint64_t site, uint8_t kind)
{
	const thread_name thread = engine_current()->name;
	uint16_t *index = &streams.latest[(site ^ site >> 6) % LATEST];
	struct heap_stream *stream = &streams.all[*index];

	if (*index && stream->site == site && stream->thread == thread)
		return stream;
	stream = heap_streams_find(site, thread, kind);
	*index = (uint16_t)(stream - streams.all);
	return stream;
}

struct heap_record heap_new_record(uint64_t site, uint8_t kind, uint32_t run)
{
	struct heap_stream *stream = heap_streams_of(site, kind);
	uint32_t ordinal;

	if (stream->run != run)
		stream->count = 0;
	stream->run = run;
	ordinal = ++stream->count;
	return (struct heap_record){
		.name = (object_name)hash_pair(stream->hash ^ (run != 0), ordinal) | 1,
		.stream = (uint16_t)(stream - streams.all),
		.ordinal = ordinal,
		.loop = heap_loop_number(stream->hash, site)};
}
