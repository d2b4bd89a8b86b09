/*
 * Parts of the children that are to be made: those from some point on, of the same kind and level, which are known
 * long before they are made. A part makes them in a copy of all records; joining it puts the records that it has added
 * behind ours, as if they had been made here.
 */
#include "strategies/deviations.h"

#include <string.h>

/* Fewer children are not worth a part, nor one in so many records, which are all copied. */
#define CHILDREN_LEAST 8
#define RECORDS_PER_CHILD 16

/* A place among the children: `record` may be the one behind the last. */
struct place {
	uint32_t record, ordinal;
};

/* Where those end that are nobody's. */
static struct place end_of_own(const struct deviations *deviations)
{
	const struct deviation_limit *nearest;

	if (!deviations->limit_count)
		return (struct place){deviations->kind == DEVIATION_COSTLY ? deviations->level_end
									   : deviations->count,
			0};
	nearest = &deviations->limits[deviations->limit_count - 1];
	return (struct place){nearest->record, nearest->ordinal};
}

/* The place so many points behind `from`, at most `end`; `passed` says how many there were. */
static struct place go_on(struct deviations *deviations, struct place from, struct place end,
	uint64_t points, uint64_t *passed)
{
	const struct deviation_record *records = deviations_records(deviations);

	*passed = 0;
	while (from.record < end.record || from.ordinal < end.ordinal) {
		const uint32_t last = from.record < end.record
					      ? records[from.record].points[deviations->kind]
					      : end.ordinal;
		const uint64_t here = last > from.ordinal ? last - from.ordinal : 0;

		if (here >= points - *passed) {
			from.ordinal += (uint32_t)(points - *passed);
			*passed = points;
			return from;
		}
		*passed += here;
		if (from.record == end.record)
			return end;
		from = (struct place){from.record + 1, 0};
	}
	return end;
}

bool deviations_split(
	struct deviations *deviations, struct deviations *part, uint32_t number, uint64_t most)
{
	const struct place start = {
		deviations->record, deviations->ordinal + (deviations->alternative != 0)};
	struct place end, middle;
	uint64_t points, half;

	if (deviations->root < deviations->roots || deviations->is_exhausted ||
		deviations->is_lost || deviations->awaited ||
		deviations->limit_count == DEVIATIONS_PARTS_MOST)
		return false;
	/* So many children of the last point are taken for the rule; a part that had more would be of no use. */
	most = (most - most / 8) / (deviations->alternatives ? deviations->alternatives : 1);
	end = go_on(deviations, start, end_of_own(deviations), most, &points);
	if (points < CHILDREN_LEAST + deviations->count / RECORDS_PER_CHILD)
		return false;
	middle = go_on(deviations, start, end, points / 2, &half);
	memcpy(part, deviations,
		sizeof *part + deviations->count * sizeof(struct deviation_record));
	part->part = number;
	part->count_given = part->count;
	part->limit_count = 0;
	part->runs = part->diverged_runs = 0;
	part->record = middle.record;
	part->ordinal = middle.ordinal;
	part->alternative = 0;
	part->end_record = end.record;
	part->end_ordinal = end.ordinal;
	deviations_find_child(part);
	if (part->is_exhausted)
		return false;
	deviations->limits[deviations->limit_count++] =
		(struct deviation_limit){middle.record, middle.ordinal, number};
	return true;
}

void deviations_leave(struct deviations *deviations, uint32_t number)
{
	if (!number) {
		number = deviations->awaited;
		deviations->limit_count = 0;
	}
	for (uint32_t i = 0; i < deviations->limit_count; i++) {
		if (deviations->limits[i].part != number)
			continue;
		deviations->limit_count--;
		memmove(&deviations->limits[i], &deviations->limits[i + 1],
			(deviations->limit_count - i) * sizeof deviations->limits[i]);
	}
	if (!number || deviations->awaited != number)
		return;
	deviations->awaited = 0;
	deviations_find_child(deviations);
}

bool deviations_join(struct deviations *deviations, struct deviations *part)
{
	const uint32_t added = part->count - part->count_given;

	if (part->is_lost || !part->runs || added > deviations->capacity - deviations->count) {
		deviations_leave(deviations, part->part);
		return false;
	}
	memcpy(deviations_records(deviations) + deviations->count,
		deviations_records(part) + part->count_given,
		added * sizeof(struct deviation_record));
	deviations->count += added;
	deviations->runs += part->runs;
	deviations->diverged_runs += part->diverged_runs;
	deviations->record = part->record;
	deviations->ordinal = part->ordinal;
	deviations->alternative = part->alternative;
	deviations_leave(deviations, part->part);
	return true;
}
