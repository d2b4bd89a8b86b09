/* Explanations, predictions and branches for people. */
#ifndef RADDLE_REPORT_DOCUMENTS_H
#define RADDLE_REPORT_DOCUMENTS_H

#include "base/strbuf.h"
#include "report/format.h"
#include "report/text.h"

/* What explains this finding, where that has been asked. */
void report_explanation(const struct report_document *documents, uint32_t count,
	const char *finding, const struct report_style *style, struct strbuf *out);
/* Predictions and branches, a paragraph for each. */
void report_documents(const struct report_document *documents, uint32_t count,
	const struct report_style *style, struct strbuf *out);

#endif
