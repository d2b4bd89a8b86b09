/*
 * Assigns runs to ranks. Runs are leased to ranks in units (ranges of run numbers), and leased
 * again if a rank stalls or vanishes. The table has no processes, messages or clocks of its own, so
 * that a test can simulate a thousand ranks.
 *
 * A unit takes its rank about `unit_ns`. Units become smaller towards the end, down to an eighth,
 * so that all ranks end at about the same time. A rank that is silent for `silent_ns` loses its
 * unit to another one. If both complete the unit, the first one counts.
 *
 * Invariant: no run is counted twice, and none is left out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lease_table_options {
	uint32_t ranks;
	uint64_t first, end; /* numbers of the runs: [first, end) */
	uint64_t unit_ns;
	uint64_t silent_ns;
};

struct lease_table_unit {
	uint64_t first, end; /* [first, end) */
};

enum lease_table_answer {
	LEASE_UNIT, /* *unit is leased to the rank */
	LEASE_WAIT, /* all units are leased, but one may become free: ask again */
	LEASE_END   /* all runs have been made */
};

struct lease_table;

/* Never fails: ends the process if memory is exhausted, as all allocations of the command. */
struct lease_table *lease_table_new(const struct lease_table_options *options);
void lease_table_free(struct lease_table *leases);

/* Leases a unit to `rank`, which is below options.ranks. A rank that asks again gives its unit
 * up. */
enum lease_table_answer lease_table_ask(
	struct lease_table *leases, uint32_t rank, uint64_t now_ns, struct lease_table_unit *unit);
void lease_table_heard(struct lease_table *leases, uint32_t rank, uint64_t now_ns);
/* Notes a completed unit; took_ns by the rank's own clock, as messages may be delayed. Returns
 * false if another rank has completed the unit: these runs do not count. */
bool lease_table_done(struct lease_table *leases, uint32_t rank, uint64_t now_ns, uint64_t took_ns);
/* Called when the rank ends with a part of its unit made. Returns false if another rank has the
 * unit, or has made it. */
bool lease_table_is_own(const struct lease_table *leases, uint32_t rank);
/* Marks the rank as lost. The unit that it holds, if any, becomes free for another rank. */
void lease_table_lose(struct lease_table *leases, uint32_t rank);
/* Takes the units of silent ranks back. Returns the lowest rank that has become silent, or
 * options.ranks. */
uint32_t lease_table_take_back(struct lease_table *leases, uint64_t now_ns);

/* Returns the number below which all runs are made. */
uint64_t lease_table_made_below(const struct lease_table *leases);
bool lease_table_is_over(const struct lease_table *leases);
