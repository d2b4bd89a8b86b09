#include "strategies/search/deviations.h"

/* All shards make the runs with fewer deviations. */
#define SHARD_DEVIATIONS 2

void deviations_begin(
	struct deviations *deviations, uint32_t state_bytes, uint32_t capacity, uint32_t bound)
{
	*deviations = (struct deviations){
		.records_at = state_bytes, .capacity = capacity, .bound = bound};
	deviations->last_child.record = DEVIATIONS_NONE;
}

static bool deviations_has_records(struct deviations *deviations)
{
	const struct deviation_record *records = deviations_records(deviations);

	for (uint32_t i = 0; i < deviations->count; i++)
		if (records[i].parent >= deviations->count)
			return false;
	for (uint32_t i = 0; i < deviations->limit_count; i++)
		if (deviations->limits[i].record > deviations->count ||
			deviations->limits[i].end_record > deviations->count)
			return false;
	return true;
}

/* Checks the position in a state from a file or another process: the parent of the next child. `end`:
 * the first record behind the scan. */
static bool deviations_has_position(const struct deviations *deviations)
{
	const uint32_t end = deviations->task
				     ? deviations->end_record + (deviations->end_ordinal != 0)
			     : deviations->kind == DEVIATION_COSTLY ? deviations->level_end
								    : deviations->count;

	if (end > deviations->count || deviations->record > end)
		return false;
	return deviations->record < end || deviations->is_exhausted || deviations->awaited ||
	       !deviations->has_standard;
}

bool deviations_is_valid(struct deviations *deviations, uint32_t state_bytes, uint32_t capacity)
{
	return deviations->records_at == state_bytes && deviations->capacity == capacity &&
	       deviations->count <= capacity && deviations->kind < DEVIATION_KIND_COUNT &&
	       (deviations->task || deviations->level_start <= deviations->count) &&
	       deviations->limit_count <= DEVIATIONS_TASKS_MOST &&
	       strategy_is_flag(&deviations->is_exhausted) &&
	       strategy_is_flag(&deviations->has_standard) &&
	       strategy_is_flag(&deviations->is_lost) &&
	       strategy_is_flag(&deviations->has_before) &&
	       deviations->count_given <= deviations->count &&
	       deviations_has_position(deviations) && deviations_has_records(deviations);
}

static uint32_t deviations_parent_of(struct deviations *deviations, uint32_t record)
{
	const uint32_t parent = deviations_records(deviations)[record].parent;

	return parent == record ? DEVIATIONS_NONE : parent;
}

bool deviations_is_elsewhere(const struct deviations *deviations)
{
	return deviations->shard > 1 && deviations->path_count < SHARD_DEVIATIONS;
}

/* Returns whether the children are divided among shards. The children at a point stay in one shard,
 * because only a run there shows their number. */
static bool deviations_is_own_shard(const struct deviations *deviations,
	const struct deviation *last, uint32_t kind, uint32_t ordinal)
{
	uint64_t hash =
		hash_pair(hash_pair(0, last->ordinal), hash_pair(last->alternative, last->kind));

	hash = hash_pair(hash, hash_pair(kind, ordinal));
	return hash % deviations->shards + 1 == deviations->shard;
}

static bool deviations_is_own_point(struct deviations *deviations, uint32_t kind, uint32_t ordinal)
{
	return !deviations->shards || deviations->path_count != 1 ||
	       deviations_is_own_shard(deviations, &deviations->path[0], kind, ordinal);
}

static bool deviations_is_own_point_of(
	struct deviations *deviations, uint32_t number, uint32_t ordinal)
{
	const struct deviation_record *record = &deviations_records(deviations)[number];
	const uint32_t parent = deviations_parent_of(deviations, number);

	return !deviations->shards || parent == DEVIATIONS_NONE ||
	       deviations_parent_of(deviations, parent) != DEVIATIONS_NONE ||
	       deviations_is_own_shard(deviations, &record->last, deviations->kind, ordinal);
}

uint32_t deviations_own_point_before(
	struct deviations *deviations, uint32_t record, uint32_t ordinal)
{
	while (ordinal--)
		if (deviations_is_own_point_of(deviations, record, ordinal))
			return ordinal;
	return DEVIATIONS_NONE;
}

static void deviations_set_path(struct deviations *deviations)
{
	uint32_t count = 1;
	uint32_t at;

	for (at = deviations->record;
		count <= DEVIATIONS_MOST && deviations_parent_of(deviations, at) != DEVIATIONS_NONE;
		at = deviations_parent_of(deviations, at))
		count++;
	if (count > DEVIATIONS_MOST) {
		deviations->is_lost = true;
		return;
	}
	deviations->path_count = count;
	deviations->path[count - 1] = (struct deviation){.ordinal = deviations->ordinal,
		.alternative = (uint16_t)deviations->alternative,
		.kind = (uint16_t)deviations->kind};
	for (at = deviations->record; --count; at = deviations_parent_of(deviations, at))
		deviations->path[count - 1] = deviations_records(deviations)[at].last;
}

void deviations_begin_run(struct deviations *deviations)
{
	deviations->path_at = deviations->path_count = 0;
	deviations->points[DEVIATION_FREE] = deviations->points[DEVIATION_COSTLY] = 0;
	deviations->alternatives = 0;
	deviations->print = 0;
	deviations->prints[DEVIATION_FREE] = deviations->prints[DEVIATION_COSTLY] = 0;
	deviations->has_varied = false;
	if (deviations->has_standard && !deviations->is_exhausted)
		deviations_set_path(deviations);
}

/* Compares the print at or before the last deviation: it must be that of the previous child at this
 * point. */
static void deviations_compare_print(
	struct deviations *deviations, enum deviation_kind kind, uint32_t print)
{
	const uint32_t ordinal = deviations->points[kind];
	const struct deviation_child *last = &deviations->last_child;
	struct deviation_child *before = &deviations->before;

	if (kind != deviations->kind)
		return;
	if (last->record == deviations->record && last->kind == kind && last->ordinal == ordinal)
		deviations->has_varied |= last->print != print;
	if (!deviations->task || deviations->record || before->ordinal != ordinal)
		return;
	deviations->has_varied |= deviations->has_before && before->print != print;
	deviations->has_before = true;
	before->print = print;
}

uint32_t deviations_at(struct deviations *deviations, enum deviation_kind kind,
	uint32_t alternatives, uint64_t what)
{
	const bool has_next = deviations->path_at < deviations->path_count;
	const struct deviation *next = has_next ? &deviations->path[deviations->path_at] : NULL;
	const uint32_t print =
		(uint32_t)hash_pair(deviations->print, hash_pair(what, alternatives));

	if (deviations->path_at + 1 == deviations->path_count)
		deviations_compare_print(deviations, kind, print);
	if (next && next->kind == kind && next->ordinal == deviations->points[kind]) {
		deviations->path_at++;
		deviations->points[DEVIATION_FREE] = deviations->points[DEVIATION_COSTLY] = 0;
		deviations->alternatives = alternatives;
		deviations->last_print = print;
		if (next->alternative < alternatives)
			return next->alternative;
		/* the program did not repeat its earlier behaviour */
		deviations->path_at = UINT32_MAX;
		return DEVIATIONS_NONE;
	}
	if (deviations->path_at == deviations->path_count &&
		deviations_is_own_point(deviations, kind, deviations->points[kind]))
		deviations->prints[kind] = print;
	deviations->points[kind]++;
	return DEVIATIONS_NONE;
}

static void deviations_next_level(struct deviations *deviations)
{
	deviations->level++;
	deviations->level_start = deviations->level_end;
	deviations->kind = DEVIATION_FREE;
	deviations->record = deviations->level_start;
}

static void deviations_end_of_records(struct deviations *deviations)
{
	if (deviations->kind == DEVIATION_COSTLY) {
		deviations_next_level(deviations);
		return;
	}
	deviations->levels_done = deviations->level + 1;
	deviations->kind = DEVIATION_COSTLY;
	deviations->record = deviations->level_start;
	deviations->level_end = deviations->count;
	if (deviations->level == deviations->bound || deviations->level_start == deviations->count)
		deviations->is_exhausted = true;
}

static bool deviations_is_at_or_behind(
	const struct deviations *deviations, uint32_t record, uint32_t ordinal)
{
	return deviations->record != record ? deviations->record > record
					    : deviations->ordinal >= ordinal;
}

/* Returns whether the search has reached the range of a task, or the end of its own range. */
static bool deviations_is_at_limit(struct deviations *deviations)
{
	const struct deviation_limit *nearest;

	if (deviations->task && deviations_is_at_or_behind(deviations, deviations->end_record,
					deviations->end_ordinal)) {
		deviations->is_exhausted = true;
		return true;
	}
	if (!deviations->limit_count)
		return false;
	nearest = &deviations->limits[deviations->limit_count - 1];
	if (!deviations_is_at_or_behind(deviations, nearest->record, nearest->ordinal))
		return false;
	deviations->awaited = nearest->task;
	return true;
}

/* Called after the last child of a parent: the child's print must equal the parent's. */
static void deviations_end_of_children(struct deviations *deviations)
{
	const struct deviation_child *last = &deviations->last_child;

	if (last->record != deviations->record || last->kind != deviations->kind)
		return;
	deviations->diverged_runs +=
		last->print !=
		deviations_records(deviations)[deviations->record].prints[deviations->kind];
}

void deviations_find_child(struct deviations *deviations)
{
	while (!deviations->is_exhausted && !deviations_is_at_limit(deviations)) {
		const uint32_t end = deviations->kind == DEVIATION_COSTLY ? deviations->level_end
									  : deviations->count;

		if (deviations->record == end) {
			deviations_end_of_records(deviations);
		} else if (deviations->ordinal < deviations_records(deviations)[deviations->record]
							 .points[deviations->kind]) {
			if (deviations_is_own_point_of(
				    deviations, deviations->record, deviations->ordinal))
				return;
			deviations->points_tried++;
			deviations->ordinal++;
			deviations->alternative = 0;
			continue;
		} else {
			deviations_end_of_children(deviations);
			deviations->record++;
		}
		deviations->ordinal = deviations->alternative = 0;
	}
}

static void deviations_add_record(struct deviations *deviations, bool is_extended)
{
	struct deviation_record *record = &deviations_records(deviations)[deviations->count];

	if (deviations->count == deviations->capacity) {
		deviations->is_lost = true;
		return;
	}
	*record = (struct deviation_record){
		.parent = deviations->has_standard ? deviations->record : deviations->count};
	deviations->count++;
	if (deviations->has_standard)
		record->last = deviations->path[deviations->path_count - 1];
	if (!is_extended)
		return;
	record->points[DEVIATION_FREE] = deviations->points[DEVIATION_FREE];
	record->points[DEVIATION_COSTLY] = deviations->points[DEVIATION_COSTLY];
	record->prints[DEVIATION_FREE] = deviations->prints[DEVIATION_FREE];
	record->prints[DEVIATION_COSTLY] = deviations->prints[DEVIATION_COSTLY];
}

static void deviations_next_child(struct deviations *deviations, bool has_diverged)
{
	deviations->children_made++;
	if (!has_diverged)
		deviations->last_child = (struct deviation_child){deviations->record,
			deviations->kind, deviations->ordinal, deviations->last_print};
	if (deviations->alternative + 1 < deviations->alternatives && !has_diverged) {
		deviations->alternative++;
	} else {
		deviations->points_tried++;
		deviations->alternative = 0;
		deviations->ordinal++;
	}
}

void deviations_end_run(struct deviations *deviations, bool is_extended)
{
	const bool has_diverged = deviations->path_at != deviations->path_count;

	if (deviations->is_exhausted || deviations->is_lost)
		return;
	deviations->runs++;
	deviations->runs_elsewhere += deviations_is_elsewhere(deviations);
	deviations->diverged_runs += has_diverged || deviations->has_varied;
	if (!has_diverged)
		deviations_add_record(deviations, is_extended);
	if (deviations->has_standard)
		deviations_next_child(deviations, has_diverged);
	deviations->has_standard = true;
	deviations_find_child(deviations);
}
