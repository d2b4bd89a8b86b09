/*
 * Reports for programs: a campaign and its findings, or one finding alone, in a format that another tool
 * reads. One file per format, one row in formats.def.
 */
#ifndef RADDLE_REPORT_FORMAT_H
#define RADDLE_REPORT_FORMAT_H

#include <stdint.h>

#include "findings/finding.h"
#include "findings/source_lines.h"

/* What is told of a campaign; strings may be NULL. */
struct report_campaign {
	int64_t id;
	const char *command;
	const char *options; /* a JSON object */
	const char *course;  /* a JSON array of moments; NULL: not kept */
	const char *strategy;
	const char *state;
	const char *restart;
	uint64_t seed, runs, failures, steps;
	double seconds;
	int64_t started; /* seconds since 1970 */
};

/* What a command found out besides findings, as the JSON that it kept. */
struct report_document {
	const char *kind;    /* "predict", "branches", "explain" */
	const char *finding; /* that it is about; NULL: it is about a campaign */
	const char *text;
};

struct report {
	const struct report_campaign *campaign; /* NULL: findings alone */
	/* The campaigns of the reported findings; in a report of everything, all campaigns of the store. */
	const struct report_campaign *campaigns;
	uint32_t campaign_count;
	const struct finding *findings;
	/* For each finding the id of the campaign that found it first; 0: not known. NULL: known for no finding. */
	const int64_t *finding_campaigns;
	uint32_t finding_count;
	const struct source_roots
		*source_roots; /* for what others made; NULL: the working folder */
	const char *release;   /* of raddle: "0.1.0" */
	const struct report_document *documents;
	uint32_t document_count;
};

struct report_format {
	const char *name;    /* "sarif": the option of raddle report */
	const char *summary; /* what it is, for --help */
	/* The whole document, ending with a newline; to be freed. */
	char *(*make)(const struct report *report);
};

enum report_format_index {
#define FORMAT(name) FORMAT_##name,
#include "report/formats.def"
#undef FORMAT
	FORMAT_COUNT
};

extern const struct report_format *const report_formats[FORMAT_COUNT];

#endif
