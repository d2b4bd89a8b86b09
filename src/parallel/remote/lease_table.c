#include "parallel/remote/lease_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/bug.h"

/* Size of a rank's first unit: small, because the program may be slow. */
#define RUNS_FIRST 16
/* Maximum growth from a rank's last unit to its next one. */
#define GROWTH 8
#define SMALLEST_PART 8 /* divisor for the smallest unit */
/* A rank receives at most the remaining runs divided by PARTS_LEFT and the number of ranks. */
#define PARTS_LEFT 2

struct rank {
	struct lease_table_unit unit; /* the unit that the rank has; empty: none */
	uint64_t heard_ns;
	uint64_t runs_per_unit; /* runs per unit_ns at its speed; 0: unknown */
	bool is_taken_back;	/* another rank has the unit, or will receive it */
};

struct lease_table {
	struct lease_table_options options;
	uint64_t next; /* first run not leased yet */
	uint64_t made;
	struct rank *ranks;
	struct lease_table_unit *returned; /* units taken back, to be leased again */
	uint32_t returned_count;
};

struct lease_table *lease_table_new(const struct lease_table_options *options)
{
	struct lease_table *leases = array_new(1, sizeof *leases);

	BUG_ON(!options->ranks || options->first > options->end);
	leases->options = *options;
	leases->next = options->first;
	leases->ranks = array_new(options->ranks, sizeof *leases->ranks);
	/* The capacity suffices: a rank has one unit, and loses it at most once before the next. */
	leases->returned = array_new(options->ranks, sizeof *leases->returned);
	return leases;
}

void lease_table_free(struct lease_table *leases)
{
	if (!leases)
		return;
	free(leases->ranks);
	free(leases->returned);
	free(leases);
}

static bool lease_table_is_empty(const struct lease_table_unit *unit)
{
	return unit->first == unit->end;
}

static uint64_t lease_table_unit_size(const struct lease_table *leases, const struct rank *rank)
{
	const uint64_t left = leases->options.end - leases->next;
	const uint64_t part = left / (PARTS_LEFT * (uint64_t)leases->options.ranks) + 1;
	const uint64_t size = rank->runs_per_unit ? rank->runs_per_unit : RUNS_FIRST;
	const uint64_t least = size / SMALLEST_PART + 1;
	const uint64_t wanted = size < part ? size : part > least ? part : least;

	return wanted < left ? wanted : left;
}

static void take_back(struct lease_table *leases, struct rank *rank)
{
	if (lease_table_is_empty(&rank->unit) || rank->is_taken_back)
		return;
	rank->is_taken_back = true;
	BUG_ON(leases->returned_count == leases->options.ranks);
	leases->returned[leases->returned_count++] = rank->unit;
}

/* Makes the unit free for another rank, unless it was taken back before. */
void lease_table_lose(struct lease_table *leases, uint32_t index)
{
	take_back(leases, &leases->ranks[index]);
	leases->ranks[index].unit = (struct lease_table_unit){0};
	leases->ranks[index].is_taken_back = false;
}

enum lease_table_answer lease_table_ask(
	struct lease_table *leases, uint32_t index, uint64_t now_ns, struct lease_table_unit *unit)
{
	struct rank *rank = &leases->ranks[index];

	BUG_ON(index >= leases->options.ranks);
	if (!lease_table_is_empty(&rank->unit))
		lease_table_lose(leases, index);
	rank->heard_ns = now_ns;
	if (lease_table_is_over(leases))
		return LEASE_END;
	if (leases->returned_count) {
		rank->unit = leases->returned[--leases->returned_count];
	} else if (leases->next < leases->options.end) {
		rank->unit.first = leases->next;
		rank->unit.end = leases->next += lease_table_unit_size(leases, rank);
	} else {
		return LEASE_WAIT;
	}
	rank->is_taken_back = false;
	*unit = rank->unit;
	return LEASE_UNIT;
}

void lease_table_heard(struct lease_table *leases, uint32_t index, uint64_t now_ns)
{
	leases->ranks[index].heard_ns = now_ns;
}

static void lease_table_learn_pace(
	const struct lease_table *leases, struct rank *rank, uint64_t took_ns)
{
	const uint64_t runs = rank->unit.end - rank->unit.first;
	const double wanted =
		(double)runs * (double)leases->options.unit_ns / (double)(took_ns ? took_ns : 1);
	const double most = (double)(GROWTH * runs);

	rank->runs_per_unit = (uint64_t)(wanted < most ? wanted : most);
	rank->runs_per_unit += !rank->runs_per_unit;
}

/* Removes a completed unit from the returned ones. Returns false if it is not among them. */
static bool lease_table_take_from_returned(
	struct lease_table *leases, const struct lease_table_unit *unit)
{
	for (uint32_t i = 0; i < leases->returned_count; i++) {
		if (leases->returned[i].first != unit->first)
			continue;
		leases->returned[i] = leases->returned[--leases->returned_count];
		return true;
	}
	return false;
}

/* Marks another rank's copy of the unit as taken back, so that its completion there does not
 * count. */
static bool lease_table_take_from_rank(struct lease_table *leases, const struct rank *from)
{
	for (uint32_t i = 0; i < leases->options.ranks; i++) {
		struct rank *rank = &leases->ranks[i];

		if (rank == from || rank->is_taken_back || lease_table_is_empty(&rank->unit) ||
			rank->unit.first != from->unit.first)
			continue;
		rank->is_taken_back = true;
		return true;
	}
	return false;
}

bool lease_table_done(struct lease_table *leases, uint32_t index, uint64_t now_ns, uint64_t took_ns)
{
	struct rank *rank = &leases->ranks[index];
	bool counts = !rank->is_taken_back;

	rank->heard_ns = now_ns;
	if (lease_table_is_empty(&rank->unit))
		return false;
	/* A lost unit that is returned, or leased to another rank, has not been counted yet. */
	if (!counts)
		counts = lease_table_take_from_returned(leases, &rank->unit) ||
			 lease_table_take_from_rank(leases, rank);
	lease_table_learn_pace(leases, rank, took_ns);
	if (counts)
		leases->made += rank->unit.end - rank->unit.first;
	rank->unit = (struct lease_table_unit){0};
	rank->is_taken_back = false;
	return counts;
}

bool lease_table_is_own(const struct lease_table *leases, uint32_t index)
{
	const struct rank *rank = &leases->ranks[index];

	for (uint32_t i = 0; i < leases->returned_count && rank->is_taken_back; i++)
		if (leases->returned[i].first == rank->unit.first)
			return true;
	return !rank->is_taken_back;
}

uint32_t lease_table_take_back(struct lease_table *leases, uint64_t now_ns)
{
	uint32_t first = leases->options.ranks;

	for (uint32_t i = leases->options.ranks; i-- > 0;) {
		struct rank *rank = &leases->ranks[i];

		if (lease_table_is_empty(&rank->unit) || rank->is_taken_back ||
			now_ns - rank->heard_ns < leases->options.silent_ns)
			continue;
		take_back(leases, rank);
		first = i;
	}
	return first;
}

uint64_t lease_table_made_below(const struct lease_table *leases)
{
	uint64_t below = leases->next;

	for (uint32_t i = 0; i < leases->returned_count; i++)
		if (leases->returned[i].first < below)
			below = leases->returned[i].first;
	for (uint32_t i = 0; i < leases->options.ranks; i++) {
		const struct rank *rank = &leases->ranks[i];

		if (!lease_table_is_empty(&rank->unit) && !rank->is_taken_back &&
			rank->unit.first < below)
			below = rank->unit.first;
	}
	return below;
}

bool lease_table_is_over(const struct lease_table *leases)
{
	return leases->made == leases->options.end - leases->options.first;
}
