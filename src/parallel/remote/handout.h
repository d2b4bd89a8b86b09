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
#ifndef RADDLE_PARALLEL_REMOTE_HANDOUT_H
#define RADDLE_PARALLEL_REMOTE_HANDOUT_H

#include <stdbool.h>
#include <stdint.h>

struct handout_options {
	uint32_t ranks;
	uint64_t first, end; /* numbers of the runs: [first, end) */
	uint64_t unit_ns;
	uint64_t silent_ns;
};

struct handout_unit {
	uint64_t first, end; /* [first, end) */
};

enum handout_answer {
	HANDOUT_UNIT, /* there it is */
	HANDOUT_WAIT, /* all are handed out, but one may be taken back: ask again */
	HANDOUT_END   /* all runs have been made */
};

struct handout;

/* Ends the process where memory is short, as all allocations of the host do. */
struct handout *handout_new(const struct handout_options *options);
void handout_free(struct handout *handout);

/* `rank` is below options.ranks. A rank that asks while it has a unit gives that unit up. */
enum handout_answer handout_ask(
	struct handout *handout, uint32_t rank, uint64_t now_ns, struct handout_unit *unit);
/* A sign of life. */
void handout_heard(struct handout *handout, uint32_t rank, uint64_t now_ns);
/*
 * The rank has made its unit, which took it so long: by its own clock, since it may have had to wait for us.
 * False: another one had, and this does not count.
 */
bool handout_done(struct handout *handout, uint32_t rank, uint64_t now_ns, uint64_t took_ns);
/*
 * The rank is to end, and has made a part of its unit. False: another one has the unit, or has made it, and this part
 * does not count.
 */
bool handout_is_own(const struct handout *handout, uint32_t rank);
/* It will not be heard of again: its unit, if it has one, goes to another rank. */
void handout_lose(struct handout *handout, uint32_t rank);
/* Takes back what silent ranks have. Returns the first one that fell silent since, or options.ranks. */
uint32_t handout_take_back(struct handout *handout, uint64_t now_ns);

/* Runs that are done, and the number below which all are. */
uint64_t handout_made(const struct handout *handout);
uint64_t handout_made_below(const struct handout *handout);
bool handout_is_over(const struct handout *handout);

#endif
