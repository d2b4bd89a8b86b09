/* `raddle run --like FILE`: drives the two accesses of a data race that ThreadSanitizer reported to
 * meet. The strategy is `directed`; other races are no failures. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "explore/campaign.h"

struct run_like {
	const char *path;
	uint64_t sites[2];    /* return addresses of the calls that report the accesses */
	char *frames[2];      /* text of the report: function, file and line */
	uint64_t arrivals[2]; /* runs in which a thread stopped before this access */
	uint64_t rendezvous;  /* runs in which threads stopped before both */
};

/* Reads the first report of a data race in a file. The program is the one that made the report. */
int run_like_read(struct run_like *out, const char *path, const char *program, struct error *err);
void run_like_release(struct run_like *like);
/* Makes a campaign drive the accesses. */
int run_like_apply(struct run_like *like, struct campaign_options *options,
	struct campaign_listener *listener, struct error *err);
/* Prints how often the accesses were reached, if the race was not found. */
void run_like_report(const struct run_like *like, const struct campaign_result *result);
