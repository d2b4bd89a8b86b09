/* Output of `raddle run`, during the campaign and at its end. */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "explore/campaign.h"

struct run_report {
	const struct campaign_options *options;
	char *const *given;   /* arguments of the command up to the program */
	char *const *program; /* points into the same array */
	const char *store;    /* the option's text; NULL if not given */
	bool is_json;
	bool is_quiet;
	struct strbuf findings; /* JSON texts with commas between them */
	struct strbuf output;	/* of a program without threads, with --quiet */
	char last_id[32];    /* id of the last finding, or of the one that shows it; empty: none */
	char *last_fallback; /* its fallback store, owned; NULL: none */
	/* the last finding is an access that this model permits, and no run has shown to fail;
	 * MEMORY_MODEL_SC: another failure */
	enum memory_model last_weak;
	bool has_last_cause;  /* the last finding has a cause; for others `explain` searches one */
	bool is_last_delayed; /* its run needs a memory model: `explain` tries stronger orders */
	uint32_t repeatable;  /* number of repeatable findings */
	bool is_unmodified;   /* its accesses to memory are not instrumented */
};

void run_report_init(struct run_report *report, const struct campaign_options *options,
	bool is_json, bool is_quiet);
void run_report_release(struct run_report *report);
void run_report_listen(struct run_report *report, struct campaign_listener *listener);
/* Appends a time such as "60 s", "500 ms", "2.5 s". */
void run_report_add_time(struct strbuf *out, uint64_t ns);
/* Prints the summary (run_summary.c). Returns the exit status and releases `report`. */
int run_report_finish(struct run_report *report, const struct campaign_result *result);
/* Prints the summary as one JSON object (run_json.c). */
void run_report_print_json(const struct run_report *report, const struct campaign_result *result);
