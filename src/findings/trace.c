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

static int write_trace(const struct finding_source *source, char **paths, char **bytes,
	size_t *size, struct error *err)
{
	struct trace_run run = {.program = source->program, .thread_count = source->thread_count};
	struct trace_thread *threads;
	struct trace_writer *writer;
	int status;

	if (!source->event_count)
		return 0;
	threads = threads_of(source, paths);
	run.threads = threads;
	status = trace_writer_open_memory(&writer, bytes, size, &run, err);
	free(threads);
	if (status)
		return status;
	status = trace_writer_add(writer, source->events, source->event_count, err);
	if (!status)
		return trace_writer_finish(writer, source->outcome, source->events_dropped, err);
	trace_writer_abandon(writer);
	return status;
}

int builder_fill_trace(struct builder *builder, struct error *err)
{
	return write_trace(builder->source, builder->paths, &builder->finding->trace,
		&builder->finding->trace_size, err);
}

int finding_trace_bytes(
	const struct finding_source *source, char **bytes, size_t *size, struct error *err)
{
	char **paths = calloc(source->thread_count + 1u, sizeof *paths);
	int status;

	BUG_ON(!paths);
	*bytes = NULL;
	*size = 0;
	for (uint32_t i = 0; i < source->thread_count; i++) {
		paths[i] = finding_thread_path(source->threads, source->thread_count, i);
		BUG_ON(!paths[i]); /* only called for passing runs, whose table is consistent */
	}
	status = write_trace(source, paths, bytes, size, err);
	for (uint32_t i = 0; i < source->thread_count; i++)
		free(paths[i]);
	free(paths);
	return status;
}
