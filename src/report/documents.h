/* Text output of explanations, predictions and branches. */
#pragma once

#include "base/strbuf.h"
#include "report/format.h"
#include "report/text/text.h"

void report_explanation(const struct store_document *documents, uint32_t count, const char *finding,
	const struct report_style *style, struct strbuf *out);
void report_documents(const struct store_document *documents, uint32_t count,
	const struct report_style *style, struct strbuf *out);
