#include "investigate/program_output.h"

#include <string.h>

#include "base/strbuf.h"

/* Bytes of the run's output that a finding keeps. */
#define OUTPUT_SHOWN_BYTES 4096

/* A sanitizer's report begins with the fault and ends with an explanation of its notation. */
static const char *program_output_report(const char *text)
{
	static const char *const starts[] = {
		"ERROR: AddressSanitizer", "WARNING: ThreadSanitizer", "runtime error:"};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		const char *start = strstr(text, starts[i]);

		while (start && start > text && start[-1] != '\n')
			start--;
		if (start)
			return start;
	}
	return NULL;
}

char *program_output_end(const struct capture *capture)
{
	STRBUF_SCOPED all = STRBUF_EMPTY;
	const char *start;

	if (capture->file < 0)
		return NULL;
	capture_read(capture, &all);
	start = program_output_report(all.text);
	if (start) {
		const char *paragraph_end = strstr(start, "\n\n");

		return paragraph_end ? strndup(start, (size_t)(paragraph_end - start) + 1)
				     : strndup(start, OUTPUT_SHOWN_BYTES);
	}
	start = all.text;
	if (all.length > OUTPUT_SHOWN_BYTES) {
		start = all.text + all.length - OUTPUT_SHOWN_BYTES;
		if (strchr(start, '\n'))
			start = strchr(start, '\n') + 1;
	}
	return *start ? strdup(start) : NULL;
}
