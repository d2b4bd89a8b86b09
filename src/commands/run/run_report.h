/* What `raddle run` tells its user, while it works and in the end. */
#ifndef RADDLE_COMMANDS_RUN_RUN_REPORT_H
#define RADDLE_COMMANDS_RUN_RUN_REPORT_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "explore/campaign.h"

struct run_report {
	const struct campaign_options *options;
	char *const *given;   /* the words behind the command's name, up to the program */
	char *const *program; /* a place in the same array */
	const char *store;    /* as it was given; NULL: it was not */
	bool is_json;
	bool is_quiet;
	struct strbuf findings; /* JSON texts with commas between them */
	char last_id[32];	/* of the last finding, empty: none */
	uint32_t repeatable;	/* findings that are */
	bool is_unmodified;	/* it has no sites at its accesses to memory */
};

void run_report_init(struct run_report *report, const struct campaign_options *options,
	bool is_json, bool is_quiet);
void run_report_release(struct run_report *report);
/* A listener that refers to `report`. */
void run_report_listen(struct run_report *report, struct campaign_listener *listener);
/* The summary. Returns the exit status; releases `report`. */
int run_report_finish(struct run_report *report, const struct campaign_result *result);
/* The summary as one JSON object (run_json.c). */
void run_report_print_json(const struct run_report *report, const struct campaign_result *result);

#endif
