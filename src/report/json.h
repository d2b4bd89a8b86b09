/* A campaign and its findings as one JSON document, for programs that read raddle's results. */
#ifndef RADDLE_REPORT_JSON_H
#define RADDLE_REPORT_JSON_H

#include <stdint.h>

#include "findings/finding.h"

/* What is told of a campaign; strings may be NULL. */
struct report_campaign {
	int64_t id;
	const char *command;
	const char *options; /* a JSON object */
	const char *strategy;
	const char *state;
	const char *restart;
	uint64_t seed, runs, failures, steps;
	double seconds;
	int64_t started; /* seconds since 1970 */
};

/*
 * {"raddle_report": 1, "campaign": {...} or null, "findings": [...]}; a finding is as it is stored
 * (see findings/finding.h). Ends with a newline; to be freed.
 */
char *report_json(const struct report_campaign *campaign, const struct finding *findings,
	uint32_t finding_count);

#endif
