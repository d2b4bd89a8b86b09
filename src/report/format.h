/*
 * Reports in formats that other tools read: campaigns with their findings, or one finding. Each
 * format is one file with a struct report_format and one row in formats.def.
 *
 * `raddle report` fills a struct report from the store and calls make() of the chosen format. The
 * report only refers to the caller's data.
 *
 * Text of the target may contain any bytes: a format filters every string by base/visible.h.
 */
#pragma once

#include <stdint.h>

#include "findings/finding.h"
#include "findings/source_lines.h"
#include "findings/store_rows.h"

struct report {
	const struct store_campaign *campaign; /* NULL means findings only */
	/* The campaigns of the reported findings, or all campaigns of the store */
	const struct store_campaign *campaigns;
	uint32_t campaign_count;
	const struct finding *findings;
	/* The campaign that found each finding first; 0: unknown. NULL if unknown for all. */
	const int64_t *finding_campaigns;
	uint32_t finding_count;
	/* allowed source folders for findings of others; NULL means the working folder */
	const struct source_roots *source_roots;
	const char *release; /* release of raddle: "0.1.0" */
	const struct store_document *documents;
	uint32_t document_count;
};

struct report_format {
	const char *name;    /* "sarif": the option of raddle report */
	const char *summary; /* a phrase for --help */
	/* Returns the whole document with a final newline; the caller frees it. */
	char *(*make)(const struct report *report);
};

enum report_format_index {
#define FORMAT(name) FORMAT_##name,
#include "report/formats.def"
#undef FORMAT
	FORMAT_COUNT
};

extern const struct report_format *const report_formats[FORMAT_COUNT];
