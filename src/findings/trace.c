/* The run of a finding as the bytes of a trace file. */
#include <stdlib.h>

#include "base/bug.h"
#include "findings/build_internal.h"
#include "trace/trace_writer.h"

static struct trace_thread *threads_of(const struct builder *builder)
{
	const struct finding_source *source = builder->source;
	struct trace_thread *threads = calloc(source->thread_count, sizeof *threads);

	BUG_ON(!threads);
	for (uint32_t i = 0; i < source->thread_count; i++)
		threads[i] = (struct trace_thread){.path = builder->paths[i],
			.label = source->threads[i].label,
			.create_site = source->threads[i].create_site,
			.start = source->threads[i].start};
	return threads;
}

int builder_fill_trace(struct builder *builder, struct error *err)
{
	const struct finding_source *source = builder->source;
	struct finding *finding = builder->finding;
	struct trace_run run = {.program = source->program, .thread_count = source->thread_count};
	struct trace_thread *threads;
	struct trace_writer *writer;
	int status;

	if (!source->event_count)
		return 0;
	threads = threads_of(builder);
	run.threads = threads;
	status =
		trace_writer_open_memory(&writer, &finding->trace, &finding->trace_size, &run, err);
	free(threads);
	if (status)
		return status;
	status = trace_writer_add(writer, source->events, source->event_count, err);
	if (!status)
		return trace_writer_finish(writer, source->outcome, source->events_dropped, err);
	trace_writer_abandon(writer);
	return status;
}
