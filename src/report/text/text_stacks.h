/* The stacks of a finding as text: of both accesses, or of the failing and the blocked threads. */
#pragma once

#include "report/text/text.h"

void report_stacks(
	const struct finding *finding, const struct report_style *style, struct strbuf *out);
