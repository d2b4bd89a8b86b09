/*
 * Who makes which runs: the runs of a campaign, known by their numbers, are handed out to *ranks* in *units*,
 * and handed out again where a rank stalls or vanishes. Plain bookkeeping without processes, messages or clocks
 * of its own, so that a thousand ranks can be simulated in a test.
 *
 * A unit is sized by what its rank has made before, to take about `unit_ns`, and less towards the end (an eighth at
 * least), so that nobody waits long for the last one. A rank that was not heard of for `silent_ns` loses its unit to another
 * one; if it comes back with it all the same, whoever is first counts. No run is counted twice, and none is
 * left out.
 */
#ifndef RADDLE_PARALLEL_REMOTE_LEASE_TABLE_H
#define RADDLE_PARALLEL_REMOTE_LEASE_TABLE_H

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
	LEASE_UNIT, /* there it is */
	LEASE_WAIT, /* all are handed out, but one may be taken back: ask again */
	LEASE_END   /* all runs have been made */
};

struct lease_table;

/* Ends the process where memory is short, as all allocations of the host do. */
struct lease_table *lease_table_new(const struct lease_table_options *options);
void lease_table_free(struct lease_table *leases);

/* `rank` is below options.ranks. A rank that asks while it has a unit gives that unit up. */
enum lease_table_answer lease_table_ask(
	struct lease_table *leases, uint32_t rank, uint64_t now_ns, struct lease_table_unit *unit);
/* A sign of life. */
void lease_table_heard(struct lease_table *leases, uint32_t rank, uint64_t now_ns);
/*
 * The rank has made its unit, which took it so long: by its own clock, since it may have had to wait for us.
 * False: another one had, and this does not count.
 */
bool lease_table_done(struct lease_table *leases, uint32_t rank, uint64_t now_ns, uint64_t took_ns);
/*
 * The rank is to end, and has made a part of its unit. False: another one has the unit, or has made it, and this part
 * does not count.
 */
bool lease_table_is_own(const struct lease_table *leases, uint32_t rank);
/* It will not be heard of again: its unit, if it has one, goes to another rank. */
void lease_table_lose(struct lease_table *leases, uint32_t rank);
/* Takes back what silent ranks have. Returns the first one that fell silent since, or options.ranks. */
uint32_t lease_table_take_back(struct lease_table *leases, uint64_t now_ns);

/* Runs that are done, and the number below which all are. */
uint64_t lease_table_made(const struct lease_table *leases);
uint64_t lease_table_made_below(const struct lease_table *leases);
bool lease_table_is_over(const struct lease_table *leases);

#endif
