#include <stdlib.h>

#include "base/bug.h"
#include "findings/build_internal.h"
#include "trace/trace_writer.h"

static struct trace_thread *threads_of(const struct finding_source *source, char **paths)
{
	struct trace_thread *threads = calloc(source->thread_count + 1u, sizeof *threads);

	BUG_ON(!threads);
	for (uint32_t i = 0; i < source->thread_count; i++)
		threads[i] = (struct trace_thread){.path = paths[i],
			.label = source->threads[i].label,
			.create_site = source->threads[i].create_site,
			.start = source->threads[i].start};
	return threads;
}

static char *write_trace(const struct finding_source *source, char **paths, size_t *size)
{
	struct trace_run run = {.program = source->program, .thread_count = source->thread_count};
	struct trace_thread *threads;
	struct trace_writer *writer;

	if (!source->event_count)
		return NULL;
	threads = threads_of(source, paths);
	run.threads = threads;
	writer = trace_writer_new(&run);
	free(threads);
	trace_writer_add(writer, source->events, source->event_count);
	return trace_writer_finish(writer, source->outcome, source->events_dropped, size);
}

void builder_fill_trace(struct builder *builder)
{
	builder->finding->trace =
		write_trace(builder->source, builder->paths, &builder->finding->trace_size);
}

char *finding_trace_bytes(const struct finding_source *source, size_t *size)
{
	char **paths = calloc(source->thread_count + 1u, sizeof *paths);
	char *bytes;

	BUG_ON(!paths);
	for (uint32_t i = 0; i < source->thread_count; i++) {
		paths[i] = finding_thread_path(source->threads, source->thread_count, i);
		BUG_ON(!paths[i]); /* only called for passing runs, whose table is consistent */
	}
	bytes = write_trace(source, paths, size);
	for (uint32_t i = 0; i < source->thread_count; i++)
		free(paths[i]);
	free(paths);
	return bytes;
}
