/*
 * checked_walk PROGRAM [ARG...]: records the same run twice and walks both records. In one record
 * every report is an entry, which the walk compares with its own position; the other is a usual
 * record. Both walks must reach the end of all threads and see the same run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "process/launch.h"
#include "commands/branches/record_run.h"
#include "branches/solve/sensitivity.h"

static int fail(const char *program, const char *what)
{
	fprintf(stderr, "%s: %s\n", program, what);
	return 1;
}

static int walk(struct campaign_options *options, bool is_checked, uint64_t *bytes,
	struct sensitivity_figures *figures)
{
	const struct record_request request = {.options = options, .is_checked = is_checked};
	const struct sensitivity_options plan = {
		.query_ns = 1000000000, .window = 400, .queries_most = 0};
	struct sensitivity *analysis = NULL;
	struct recorded run = {0};
	struct error err = {0};
	int status = record_run(&request, &run, &err);

	if (status == 0)
		status = sensitivity_load(&err);
	if (status == 0)
		status = sensitivity->open(&analysis, &run.record, options->argv[0], &plan, &err);
	if (status < 0)
		return fail(options->argv[0], err.text);
	sensitivity->figures(analysis, figures);
	sensitivity->close(analysis);
	*bytes = run.record.bytes;
	recorded_release(&run);
	if (figures->unfinished_threads)
		return fail(options->argv[0], figures->unfinished);
	if (!figures->instructions)
		return fail(options->argv[0], "nothing was walked");
	return 0;
}

int main(int argc, char **argv)
{
	static volatile int never;
	struct sensitivity_figures checked, quick;
	struct campaign_options options;
	uint64_t checked_bytes, quick_bytes;
	char *runtime;
	struct error err;

	if (argc < 2)
		return fail("checked_walk", "no program");
	campaign_options_init(&options);
	options.is_interrupted = &never;
	options.argv = argv + 1;
	if (launch_find_runtime(&runtime, &err) < 0)
		return fail("checked_walk", err.text);
	options.runtime = runtime;
	if (walk(&options, true, &checked_bytes, &checked) ||
		walk(&options, false, &quick_bytes, &quick))
		return 1;
	printf("%s: %" PRIu64 " instructions, %" PRIu64 " events, %" PRIu64
	       " bytes, checked %" PRIu64 "\n",
		argv[1], quick.instructions, quick.events, quick_bytes, checked_bytes);
	if (checked.instructions != quick.instructions || checked.events != quick.events ||
		checked.branches != quick.branches || checked.shared_words != quick.shared_words ||
		checked.threads != quick.threads)
		return fail(argv[1], "the two walks saw different runs");
	if (quick_bytes >= checked_bytes)
		return fail(argv[1], "nothing was predicted");
	free(runtime);
	return 0;
}
