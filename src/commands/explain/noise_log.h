/* Passes reported accesses (abi/contract_noise.h) to the recorder of patterns, in their order. */
#ifndef RADDLE_COMMANDS_EXPLAIN_NOISE_LOG_H
#define RADDLE_COMMANDS_EXPLAIN_NOISE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/contract.h"
#include "abi/contract_noise.h"

struct noise_log {
	struct contract_noise *noise;
	void *patterns;		    /* state of the detector */
	uint64_t read[NOISE_RINGS]; /* number of events read, since the process started */
	uint64_t ends[NOISE_RINGS]; /* end of the events that the current pass reads */
	uint64_t step;		    /* accesses of this run so far */
	uint64_t lost; /* accesses of this run that were overwritten before they were read */
};

/* Call before a process starts. */
void noise_log_begin(struct noise_log *log, struct contract *contract, void *patterns);
/* Reads new accesses; the newest only when `is_over`, since their order is not final before. */
void noise_log_read(struct noise_log *log, bool is_over);
/* Accesses of this run that are missing. Call when the run is over. */
uint64_t noise_log_lost(const struct noise_log *log);
/* The call that allocated blocks of this class of a pattern; 0: no class of blocks. */
uint64_t noise_class_site(const struct contract_noise *noise, uint32_t class);

#endif
