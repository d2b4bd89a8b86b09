#include "branches/values/segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/op.h"

/* Per thread; walk_sharing.c stores segment numbers in 15 bits. */
#define SEGMENTS_MOST 32000u
/* Limit of the array `before`: 32 MB. */
#define BEFORE_MOST (UINT64_C(1) << 24)

static bool segments_creates(const struct run_record *record, const struct record_op *op)
{
	return op->kind == OP_THREAD_CREATE && !(op->flags & RECORD_OP_FAILED) &&
	       op->other < record->thread_count && op->other != op->thread;
}

static bool segments_joins(const struct run_record *record, const struct record_op *op)
{
	return (op->kind == OP_THREAD_JOIN || op->kind == OP_THREAD_TRYJOIN) &&
	       !(op->flags & RECORD_OP_FAILED) && op->other < record->thread_count &&
	       op->other != op->thread;
}

/* Returns whether the program cannot compute with another outcome of the op. */
static bool segments_has_one_outcome(const struct record_op *op)
{
	switch (op->kind) {
	case OP_THREAD_BEGIN:
	case OP_THREAD_CREATE:
	case OP_THREAD_CREATED:
	case OP_THREAD_EXIT:
	case OP_THREAD_JOIN:
	case OP_THREAD_DETACH:
	case OP_MUTEX_LOCK:
	case OP_MUTEX_UNLOCK:
	case OP_YIELD:
		return !(op->flags & RECORD_OP_FAILED);
	default:
		return false;
	}
}

/* Returns false if too many segments. */
static bool segments_count_all(struct segments *segments, const struct run_record *record)
{
	uint32_t total = 0;

	for (uint64_t i = 0; i < record->op_count; i++)
		if (record->ops[i].thread < record->thread_count &&
			(segments_creates(record, &record->ops[i]) ||
				segments_joins(record, &record->ops[i])))
			segments->first[record->ops[i].thread + 1]++;
	for (uint32_t i = 0; i < record->thread_count; i++) {
		if (segments->first[i + 1] >= SEGMENTS_MOST)
			return false;
		total += segments->first[i + 1] + 1;
		segments->first[i + 1] = total;
	}
	return (uint64_t)total * record->thread_count <= BEFORE_MOST;
}

static void segments_merge(uint16_t *into, const uint16_t *from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (into[i] < from[i])
			into[i] = from[i];
}

static void segments_begin_next(
	struct segments *segments, uint32_t *now, const struct record_op *op)
{
	const uint32_t count = segments->thread_count;
	const uint32_t segment = now[op->thread]++;
	uint16_t *const own = segments->before + (uint64_t)segment * count;
	uint16_t *const next = own + count;
	uint16_t *const other = segments->before + (uint64_t)now[op->other] * count;

	segments->begins[segment + 1] = op->step;
	memcpy(next, own, count * sizeof *own);
	next[op->thread] = (uint16_t)(segment + 1 - segments->first[op->thread]);
	if (op->kind == OP_THREAD_CREATE) {
		/* The order is only known for a thread in its first segment. */
		if (now[op->other] == segments->first[op->other])
			segments_merge(other, next, count);
		segments->creator[op->other] = op->thread;
		segments->created[op->other] = (uint16_t)(segment - segments->first[op->thread]);
		return;
	}
	segments_merge(next, other, count);
	next[op->other] = (uint16_t)(now[op->other] + 1 - segments->first[op->other]);
}

static void segments_fill(struct segments *segments, const struct run_record *record)
{
	FREE_SCOPED uint32_t *now = array_new(record->thread_count + 1u, sizeof *now);

	memcpy(now, segments->first, (record->thread_count + 1u) * sizeof *now);
	for (uint64_t i = 0; i < record->op_count; i++) {
		const struct record_op *op = &record->ops[i];
		uint32_t segment;

		if (op->thread >= record->thread_count)
			continue;
		if (segments_creates(record, op) || segments_joins(record, op))
			segments_begin_next(segments, now, op);
		segment = now[op->thread] - segments->first[op->thread];
		if (!segments_has_one_outcome(op) && segments->tried[op->thread] > segment)
			segments->tried[op->thread] = (uint16_t)segment;
	}
}

struct segments *segments_new(const struct run_record *record)
{
	struct segments *segments = array_new(1, sizeof *segments);
	uint32_t total;

	segments->thread_count = record->thread_count;
	segments->first = array_new(record->thread_count + 1u, sizeof *segments->first);
	if (!segments_count_all(segments, record)) {
		segments_free(segments);
		return NULL;
	}
	total = segments->first[record->thread_count];
	segments->begins = array_new(total + 1u, sizeof *segments->begins);
	segments->before =
		array_new((uint64_t)total * record->thread_count + 1, sizeof *segments->before);
	segments->tried = array_new(record->thread_count + 1u, sizeof *segments->tried);
	segments->creator = array_new(record->thread_count + 1u, sizeof *segments->creator);
	segments->created = array_new(record->thread_count + 1u, sizeof *segments->created);
	memset(segments->tried, 255, (record->thread_count + 1u) * sizeof *segments->tried);
	memset(segments->creator, 255, (record->thread_count + 1u) * sizeof *segments->creator);
	segments_fill(segments, record);
	return segments;
}

void segments_free(struct segments *segments)
{
	if (!segments)
		return;
	free(segments->first);
	free(segments->begins);
	free(segments->before);
	free(segments->tried);
	free(segments->creator);
	free(segments->created);
	free(segments);
}
