/* See deviations.h. */
#include "strategies/deviations.h"

size_t deviations_bytes(uint32_t capacity)
{
	return sizeof(struct deviations) + (size_t)capacity * sizeof(struct deviation_record);
}

void deviations_begin(struct deviations *deviations, uint32_t capacity, uint32_t bound)
{
	deviations->capacity = capacity;
	deviations->bound = bound;
}

/* From the first record to the child that is due. */
static void lay_path(struct deviations *deviations)
{
	uint32_t count = 1;

	for (uint32_t i = deviations->record; i; i = deviations_records(deviations)[i].parent)
		count++;
	if (count > DEVIATIONS_MOST) {
		deviations->is_lost = true;
		count = DEVIATIONS_MOST;
	}
	deviations->path_count = count;
	deviations->path[count - 1] = (struct deviation){.ordinal = deviations->ordinal,
		.alternative = (uint16_t)deviations->alternative,
		.kind = (uint16_t)deviations->kind};
	for (uint32_t i = deviations->record; i && --count;
		i = deviations_records(deviations)[i].parent)
		deviations->path[count - 1] = deviations_records(deviations)[i].last;
}

void deviations_begin_run(struct deviations *deviations)
{
	deviations->path_at = deviations->path_count = 0;
	deviations->points[DEVIATION_FREE] = deviations->points[DEVIATION_COSTLY] = 0;
	deviations->alternatives = 0;
	if (deviations->count && !deviations->is_exhausted)
		lay_path(deviations);
}

uint32_t deviations_at(
	struct deviations *deviations, enum deviation_kind kind, uint32_t alternatives)
{
	const struct deviation *next = &deviations->path[deviations->path_at];

	if (deviations->path_at < deviations->path_count && next->kind == kind &&
		next->ordinal == deviations->points[kind]) {
		deviations->path_at++;
		deviations->points[DEVIATION_FREE] = deviations->points[DEVIATION_COSTLY] = 0;
		deviations->alternatives = alternatives;
		if (next->alternative < alternatives)
			return next->alternative;
		deviations->path_at = UINT32_MAX; /* the program does not do what it did */
		return DEVIATIONS_NONE;
	}
	deviations->points[kind]++;
	return DEVIATIONS_NONE;
}

/* ---- what comes next ---- */

static void next_level(struct deviations *deviations)
{
	deviations->level++;
	deviations->level_start = deviations->level_end;
	deviations->kind = DEVIATION_FREE;
	deviations->record = deviations->level_start;
}

/* All records of the level have had their children of this kind. */
static void end_of_records(struct deviations *deviations)
{
	if (deviations->kind == DEVIATION_COSTLY) {
		next_level(deviations);
		return;
	}
	deviations->levels_done = deviations->level + 1;
	deviations->kind = DEVIATION_COSTLY;
	deviations->record = deviations->level_start;
	deviations->level_end = deviations->count;
	if (deviations->level == deviations->bound || deviations->level_start == deviations->count)
		deviations->is_exhausted = true;
}

/* Moves on to a child that there is. */
static void find_child(struct deviations *deviations)
{
	while (!deviations->is_exhausted) {
		const uint32_t end = deviations->kind == DEVIATION_COSTLY ? deviations->level_end
									  : deviations->count;

		if (deviations->record == end) {
			end_of_records(deviations);
		} else if (deviations->ordinal < deviations_records(deviations)[deviations->record]
							 .points[deviations->kind]) {
			return;
		} else {
			deviations->record++;
		}
		deviations->ordinal = deviations->alternative = 0;
	}
}

static void add_record(struct deviations *deviations, bool is_extended)
{
	struct deviation_record *record = &deviations_records(deviations)[deviations->count];
	const bool is_first = !deviations->count;

	if (deviations->count == deviations->capacity) {
		deviations->is_lost = true;
		return;
	}
	deviations->count++;
	*record = (struct deviation_record){.parent = is_first ? 0 : deviations->record};
	if (!is_first)
		record->last = deviations->path[deviations->path_count - 1];
	if (!is_extended)
		return;
	record->points[DEVIATION_FREE] = deviations->points[DEVIATION_FREE];
	record->points[DEVIATION_COSTLY] = deviations->points[DEVIATION_COSTLY];
}

void deviations_end_run(struct deviations *deviations, bool is_extended)
{
	const bool has_diverged = deviations->path_at != deviations->path_count;

	if (deviations->is_exhausted || deviations->is_lost)
		return;
	deviations->runs++;
	if (deviations->count) {
		deviations->diverged_runs += has_diverged;
		if (!has_diverged)
			add_record(deviations, is_extended);
		if (deviations->alternative + 1 < deviations->alternatives && !has_diverged) {
			deviations->alternative++;
		} else {
			deviations->alternative = 0;
			deviations->ordinal++;
		}
	} else {
		add_record(deviations, is_extended);
	}
	find_child(deviations);
}
