/* What is asked about one after the other, and in how large windows. */
#include "sensitivity/sensitivity_internal.h"

/* Events of a thread: a question in such a window takes a fraction of a second. */
#define NEAR_WINDOW 40

bool search_is_near(enum search_pass pass)
{
	return pass == PASS_FAILURES_NEAR || pass == PASS_BRANCHES_NEAR;
}

uint32_t search_window(const struct sensitivity *analysis, enum search_pass pass)
{
	return search_is_near(pass) ? NEAR_WINDOW : analysis->options.window;
}

bool search_has_pass(const struct sensitivity *analysis, enum search_pass pass)
{
	const struct sensitivity_options *options = &analysis->options;

	if (search_is_near(pass) && (options->is_global || options->window <= NEAR_WINDOW ||
					    chunk_is_whole(analysis, NEAR_WINDOW)))
		return false;
	return pass == PASS_RELAXED				     ? options->has_store_buffers
	       : pass == PASS_BRANCHES || pass == PASS_BRANCHES_NEAR ? !options->only_failures
								     : true;
}

uint64_t search_chunk_count(const struct sensitivity *analysis)
{
	uint64_t count = 0;

	for (enum search_pass pass = 0; pass < PASS_COUNT; pass++)
		if (search_has_pass(analysis, pass))
			count += chunk_count(analysis, search_window(analysis, pass));
	return count;
}
