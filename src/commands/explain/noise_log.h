/*
 * Reads what a target on kernel threads tells of its accesses (abi/contract_noise.h), while it runs,
 * and hands it to the recorder of access patterns in the order in which it happened.
 */
#ifndef RADDLE_COMMANDS_EXPLAIN_NOISE_LOG_H
#define RADDLE_COMMANDS_EXPLAIN_NOISE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/contract.h"
#include "abi/contract_noise.h"

struct noise_log {
	struct contract_noise *noise;
	void *patterns;		    /* state of the detector */
	uint64_t read[NOISE_RINGS]; /* events, ever */
	uint64_t ends[NOISE_RINGS]; /* up to here they are read now */
	uint64_t step;		    /* accesses of this run so far */
	uint64_t lost;		    /* of this run: overwritten before they were read */
};

/* Before a process starts. */
void noise_log_begin(struct noise_log *log, struct contract *contract, void *patterns);
/* What has been told so far; of the newest events only once the run is over. */
void noise_log_read(struct noise_log *log, bool is_over);
/* Accesses of this run that are missing, when it is over. */
uint64_t noise_log_lost(const struct noise_log *log);
/* The call that allocated blocks of this kind of a pattern; 0: it is no kind of blocks. */
uint64_t noise_class_site(const struct contract_noise *noise, uint32_t class);

#endif
