#include "parallel/remote/handout.h"

#include <stdlib.h>

#include "base/bug.h"

/* Before a rank's pace is known: a slow program must not hold a rank for long. */
#define RUNS_FIRST 16
/* A unit is at most this many times its rank's last one. */
#define GROWTH 8
#define SMALLEST_PART 8 /* of a whole unit */
/* Of what is left, a rank gets at most one part in so many times the number of ranks. */
#define PARTS_LEFT 2

struct rank {
	struct handout_unit unit; /* empty: it has none */
	uint64_t heard_ns;
	uint64_t runs_per_unit; /* in unit_ns, at its pace; 0: not known */
	bool is_taken_back;	/* its unit is another one's, or will be */
};

struct handout {
	struct handout_options options;
	uint64_t next; /* first run that nobody was given */
	uint64_t made;
	struct rank *ranks;
	struct handout_unit *returned; /* taken back, to be given out again */
	uint32_t returned_count;
};

struct handout *handout_new(const struct handout_options *options)
{
	struct handout *handout = calloc(1, sizeof *handout);

	BUG_ON(!handout || !options->ranks || options->first > options->end);
	handout->options = *options;
	handout->next = options->first;
	handout->ranks = calloc(options->ranks, sizeof *handout->ranks);
	/* A rank has one unit, and loses it at most once before it gets another. */
	handout->returned = calloc(options->ranks, sizeof *handout->returned);
	BUG_ON(!handout->ranks || !handout->returned);
	return handout;
}

void handout_free(struct handout *handout)
{
	if (!handout)
		return;
	free(handout->ranks);
	free(handout->returned);
	free(handout);
}

static bool is_empty(const struct handout_unit *unit)
{
	return unit->first == unit->end;
}

static uint64_t unit_size(const struct handout *handout, const struct rank *rank)
{
	const uint64_t left = handout->options.end - handout->next;
	const uint64_t part = left / (PARTS_LEFT * (uint64_t)handout->options.ranks) + 1;
	const uint64_t size = rank->runs_per_unit ? rank->runs_per_unit : RUNS_FIRST;
	const uint64_t least = size / SMALLEST_PART + 1;
	const uint64_t wanted = size < part ? size : part > least ? part : least;

	return wanted < left ? wanted : left;
}

static void take_back(struct handout *handout, struct rank *rank)
{
	if (is_empty(&rank->unit) || rank->is_taken_back)
		return;
	rank->is_taken_back = true;
	BUG_ON(handout->returned_count == handout->options.ranks);
	handout->returned[handout->returned_count++] = rank->unit;
}

/* Another rank gets the unit, unless one has it already. */
void handout_lose(struct handout *handout, uint32_t index)
{
	take_back(handout, &handout->ranks[index]);
	handout->ranks[index].unit = (struct handout_unit){0};
	handout->ranks[index].is_taken_back = false;
}

enum handout_answer handout_ask(
	struct handout *handout, uint32_t index, uint64_t now_ns, struct handout_unit *unit)
{
	struct rank *rank = &handout->ranks[index];

	BUG_ON(index >= handout->options.ranks);
	if (!is_empty(&rank->unit))
		handout_lose(handout, index);
	rank->heard_ns = now_ns;
	if (handout_is_over(handout))
		return HANDOUT_END;
	if (handout->returned_count) {
		rank->unit = handout->returned[--handout->returned_count];
	} else if (handout->next < handout->options.end) {
		rank->unit.first = handout->next;
		rank->unit.end = handout->next += unit_size(handout, rank);
	} else {
		return HANDOUT_WAIT;
	}
	rank->is_taken_back = false;
	*unit = rank->unit;
	return HANDOUT_UNIT;
}

void handout_heard(struct handout *handout, uint32_t index, uint64_t now_ns)
{
	handout->ranks[index].heard_ns = now_ns;
}

static void learn_pace(const struct handout *handout, struct rank *rank, uint64_t took_ns)
{
	const uint64_t runs = rank->unit.end - rank->unit.first;
	const double wanted =
		(double)runs * (double)handout->options.unit_ns / (double)(took_ns ? took_ns : 1);
	const double most = (double)(GROWTH * runs);

	rank->runs_per_unit = (uint64_t)(wanted < most ? wanted : most);
	rank->runs_per_unit += !rank->runs_per_unit;
}

/* It was given out twice, and somebody has made it: whoever else has it makes it in vain. */
static bool take_from_returned(struct handout *handout, const struct handout_unit *unit)
{
	for (uint32_t i = 0; i < handout->returned_count; i++) {
		if (handout->returned[i].first != unit->first)
			continue;
		handout->returned[i] = handout->returned[--handout->returned_count];
		return true;
	}
	return false;
}

/* Another rank has it now; from then on that one's does not count. */
static bool take_from_rank(struct handout *handout, const struct rank *from)
{
	for (uint32_t i = 0; i < handout->options.ranks; i++) {
		struct rank *rank = &handout->ranks[i];

		if (rank == from || rank->is_taken_back || is_empty(&rank->unit) ||
			rank->unit.first != from->unit.first)
			continue;
		rank->is_taken_back = true;
		return true;
	}
	return false;
}

bool handout_done(struct handout *handout, uint32_t index, uint64_t now_ns, uint64_t took_ns)
{
	struct rank *rank = &handout->ranks[index];
	bool counts = !rank->is_taken_back;

	rank->heard_ns = now_ns;
	if (is_empty(&rank->unit))
		return false;
	/* Nobody else has made it yet if it lies there or another rank is at it. */
	if (!counts)
		counts = take_from_returned(handout, &rank->unit) || take_from_rank(handout, rank);
	learn_pace(handout, rank, took_ns);
	if (counts)
		handout->made += rank->unit.end - rank->unit.first;
	rank->unit = (struct handout_unit){0};
	rank->is_taken_back = false;
	return counts;
}

bool handout_is_own(const struct handout *handout, uint32_t index)
{
	const struct rank *rank = &handout->ranks[index];

	for (uint32_t i = 0; i < handout->returned_count && rank->is_taken_back; i++)
		if (handout->returned[i].first == rank->unit.first)
			return true;
	return !rank->is_taken_back;
}

uint32_t handout_take_back(struct handout *handout, uint64_t now_ns)
{
	uint32_t first = handout->options.ranks;

	for (uint32_t i = handout->options.ranks; i-- > 0;) {
		struct rank *rank = &handout->ranks[i];

		if (is_empty(&rank->unit) || rank->is_taken_back ||
			now_ns - rank->heard_ns < handout->options.silent_ns)
			continue;
		take_back(handout, rank);
		first = i;
	}
	return first;
}

uint64_t handout_made(const struct handout *handout)
{
	return handout->made;
}

uint64_t handout_made_below(const struct handout *handout)
{
	uint64_t below = handout->next;

	for (uint32_t i = 0; i < handout->returned_count; i++)
		if (handout->returned[i].first < below)
			below = handout->returned[i].first;
	for (uint32_t i = 0; i < handout->options.ranks; i++) {
		const struct rank *rank = &handout->ranks[i];

		if (!is_empty(&rank->unit) && !rank->is_taken_back && rank->unit.first < below)
			below = rank->unit.first;
	}
	return below;
}

bool handout_is_over(const struct handout *handout)
{
	return handout->made == handout->options.end - handout->options.first;
}
