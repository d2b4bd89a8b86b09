#include "findings/describe/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "base/visible.h"
#include "findings/describe/builder.h"
#include "model/thread_name.h"
#include "trace/trace_writer.h"

char *finding_thread_path(
	const struct thread_record *threads, uint32_t thread_count, uint32_t index)
{
	FREE_SCOPED uint32_t *ordinals = NULL;
	uint32_t depth = 0;
	struct strbuf path = STRBUF_EMPTY;

	if (index && index >= thread_count)
		return NULL;
	ordinals = array_new(index, sizeof *ordinals);
	while (index) {
		ordinals[depth++] = threads[index].ordinal;
		if (threads[index].parent.index >= index) {
			return NULL; /* a child has a higher index than its parent */
		}
		index = threads[index].parent.index;
	}
	strbuf_adds(&path, "main");
	while (depth--)
		if (ordinals[depth] == THREAD_ORDINAL_DRAINER)
			strbuf_adds(&path, "." THREAD_PATH_DRAINER);
		else
			strbuf_addf(&path, ".%" PRIu32, ordinals[depth]);
	return strbuf_detach(&path);
}

static int build_contradiction(struct error *err, const char *what, uint64_t number)
{
	return error_set(err, ERROR_FORMAT,
		"the evidence of the run contradicts itself: %s %" PRIu64
		"; replay the finding to get it again",
		what, number);
}

/* Gives the thread its location in the file in the order of first appearance. */
static int build_location_thread(struct schedule_file *file, const struct finding_source *source,
	uint32_t *locations, uint16_t index, struct error *err)
{
	char *path;

	if (index && index >= source->thread_count)
		return build_contradiction(err, "the schedule names thread", index);
	if (locations[index])
		return 0;
	path = finding_thread_path(source->threads, source->thread_count, index);
	if (!path)
		return build_contradiction(err, "no path of creations leads to thread", index);
	file->threads[file->thread_count] =
		(struct schedule_thread){.name = thread_path_name(path), .path = path};
	locations[index] = ++file->thread_count;
	return 0;
}

/* Converts thread indices to names. Release *out with schedule_file_release. */
static int build_finding_schedule_from_segments(
	struct schedule_file *out, const struct finding_source *source, struct error *err)
{
	const uint32_t thread_count = source->thread_count ? source->thread_count : 1;
	FREE_SCOPED uint32_t *locations =
		array_new(thread_count, sizeof *locations); /* location + 1 by index */
	struct schedule_file file = {
		.program = string_copy(source->program),
		.outcome = string_copy(outcome_descriptions[source->outcome->kind].word),
		.threads = array_new(thread_count, sizeof *file.threads),
		.layout = source->layout,
		.interruption_points = source->interruption_points,
		.segments = array_new(source->segment_count, sizeof *file.segments),
	};
	int status = 0;

	for (uint32_t i = 0; i < source->segment_count && !status; i++) {
		struct schedule_segment segment = source->segments[i];

		if (!(segment.flags & SEGMENT_VALUE)) {
			status = build_location_thread(
				&file, source, locations, segment.thread, err);
			if (status)
				break;
			segment.thread = (uint16_t)(locations[segment.thread] - 1);
			file.step_count += segment.count;
		}
		file.segments[file.segment_count++] = segment;
	}
	if (status)
		schedule_file_release(&file);
	else
		*out = file;
	return status;
}

static bool build_is_thread(const struct finding_source *source, struct thread_id thread)
{
	return !thread.index || thread.index < source->thread_count ||
	       thread_same(thread, THREAD_NONE);
}

static int build_check_source(const struct finding_source *source, struct error *err)
{
	const struct outcome *outcome = source->outcome;

	if (outcome->kind >= OUTCOME_KIND_COUNT)
		return build_contradiction(err, "there is no outcome of kind", outcome->kind);
	if (source->thread_count > THREAD_CAPACITY)
		return build_contradiction(err, "the number of threads is", source->thread_count);
	if (outcome->wait_count > OUTCOME_WAITS_MAX)
		return build_contradiction(
			err, "the number of waiting threads is", outcome->wait_count);
	/* A failing process wrote the text, which may be damaged. */
	if (!memchr(outcome->text, '\0', sizeof outcome->text))
		return build_contradiction(
			err, "the outcome's text is longer than", sizeof outcome->text - 1);
	if (!build_is_thread(source, outcome->thread))
		return build_contradiction(err, "the outcome names thread", outcome->thread.index);
	if (!build_is_thread(source, outcome->other_thread))
		return build_contradiction(
			err, "the outcome names thread", outcome->other_thread.index);
	if (outcome->op >= OP_KIND_COUNT || outcome->other_op >= OP_KIND_COUNT)
		return build_contradiction(err, "there is no access of kind", outcome->op);
	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		const struct wait_edge *edge = &outcome->waits[i];

		if (edge->op >= OP_KIND_COUNT)
			return build_contradiction(err, "there is no operation of kind", edge->op);
		if (!build_is_thread(source, edge->waiter) ||
			!build_is_thread(source, edge->holder))
			return build_contradiction(err,
				"a wait names threads that are not there, such as",
				edge->waiter.index);
	}
	for (uint64_t i = 0; i < source->event_count; i++) {
		if (source->events[i].kind >= OP_KIND_COUNT)
			return build_contradiction(
				err, "there is no operation of kind", source->events[i].kind);
		if (source->events[i].thread >= source->thread_count)
			return build_contradiction(
				err, "the trace names thread", source->events[i].thread);
		if (i && source->events[i].step < source->events[i - 1].step)
			return build_contradiction(
				err, "the trace goes back to step", source->events[i].step);
	}
	return 0;
}

/* Notes each thread's last step. The failing thread counts as alive after its last step. */
static void build_note_last_steps(struct builder *builder)
{
	const struct finding_source *source = builder->source;

	for (uint64_t i = 0; i < source->event_count; i++)
		builder->threads[source->events[i].thread].last_step = source->events[i].step;
	if (source->outcome->thread.index < source->thread_count)
		builder->threads[source->outcome->thread.index].last_step = UINT64_MAX;
}

static int build_make_paths(struct builder *builder, struct error *err)
{
	const struct finding_source *source = builder->source;

	builder->paths = array_new(source->thread_count, sizeof *builder->paths);
	builder->threads = array_new(source->thread_count, sizeof *builder->threads);
	for (uint32_t i = 0; i < source->thread_count; i++) {
		builder->paths[i] = finding_thread_path(source->threads, source->thread_count, i);
		if (!builder->paths[i])
			return build_contradiction(err, "no path of creations leads to thread", i);
		builder->threads[i] =
			(struct symbols_thread){.name = thread_path_name(builder->paths[i]),
				.path = builder->paths[i],
				.stack_pointer = source->threads[i].stack_pointer,
				.thread_base = source->threads[i].thread_base};
	}
	build_note_last_steps(builder);
	return 0;
}

/* The verb of a wait in progress: a blocked thread has not completed the operation that it is blocked on. */
static const char *build_waiting_verb(const struct wait_edge *edge)
{
	if (edge->call && edge->call < CALL_KIND_COUNT)
		return call_verbs[edge->call];
	switch (edge->op) {
	case OP_COND_WAKE:
		return op_descriptions[OP_COND_WAIT].verb;
	case OP_BARRIER_LEAVE:
		return "waits at";
	default:
		return op_descriptions[edge->op].object == OBJECT_MEMORY
			       ? "waits in a loop for"
			       : op_descriptions[edge->op].verb;
	}
}

static void build_fill_wait(
	const struct builder *builder, const struct wait_edge *edge, struct finding_wait *wait)
{
	if (edge->is_in_child)
		BUG_ON(asprintf(&wait->thread, "a child of %s",
			       builder_thread(builder, edge->waiter)) < 0);
	else
		wait->thread = string_copy(builder_thread(builder, edge->waiter));
	wait->verb = string_copy(build_waiting_verb(edge));
	wait->object = builder_wait_object(builder, edge);
	builder_stack(
		builder, edge->is_in_child ? THREAD_NONE : edge->waiter, edge->site, &wait->at);
	if (edge->is_in_child && thread_same(edge->holder, edge->waiter))
		wait->holder = string_copy(wait->thread);
	else if (edge->is_in_child && !thread_same(edge->holder, THREAD_NONE))
		BUG_ON(asprintf(&wait->holder, "its parent's %s",
			       builder_thread(builder, edge->holder)) < 0);
	else if (!thread_same(edge->holder, THREAD_NONE))
		wait->holder = string_copy(builder_thread(builder, edge->holder));
	if (edge->op == OP_THREAD_JOIN && wait->holder) {
		free(wait->object);
		BUG_ON(asprintf(&wait->object, "thread %s", wait->holder) < 0);
	}
	if (edge->holder_site || edge->op == OP_ONCE_ENTER)
		wait->held_since = builder_held_since(builder, edge);
	wait->is_on_cycle = edge->is_on_cycle;
	wait->lost_signals = edge->lost_signals;
}

/* Unnamed threads carry the name of the process, which distinguishes none. */
static void build_fill_threads(struct builder *builder)
{
	const struct finding_source *source = builder->source;
	struct finding *finding = builder->finding;

	finding->threads = array_new(source->thread_count, sizeof *finding->threads);
	for (uint32_t i = 0; i < source->thread_count; i++)
		if (*source->threads[i].label)
			finding->threads[finding->thread_count++] =
				(struct finding_thread){.path = string_copy(builder->paths[i]),
					.label = visible_text(source->threads[i].label, false)};
}

static char *build_thread_name_text(const struct finding *finding, const char *path)
{
	struct strbuf text = STRBUF_EMPTY;

	finding_add_thread(finding, path, &text);
	return strbuf_detach(&text);
}

/* Returns whether outcome.site is the failing instruction, and no return address behind it. */
static bool build_is_instruction(const struct outcome *outcome)
{
	return outcome->site && (outcome->kind == OUTCOME_CRASH || outcome->kind == OUTCOME_HANG ||
					outcome->kind == OUTCOME_ABORT);
}

static void build_fill(struct builder *builder)
{
	const struct outcome *outcome = builder->source->outcome;
	struct finding *finding = builder->finding;

	build_fill_threads(builder);
	finding->kind = (enum outcome_kind)outcome->kind;
	finding->code = outcome->code;
	if (!thread_same(outcome->thread, THREAD_NONE)) {
		finding->failing_thread = string_copy(builder_thread(builder, outcome->thread));
		builder_stack(builder, outcome->thread,
			outcome->site + build_is_instruction(outcome), &finding->at);
		builder->failing_name = build_thread_name_text(finding, finding->failing_thread);
	}
	finding->waits = array_new(outcome->wait_count, sizeof *finding->waits);
	for (; finding->wait_count < outcome->wait_count; finding->wait_count++)
		build_fill_wait(builder, &outcome->waits[finding->wait_count],
			&finding->waits[finding->wait_count]);
	builder_fill_race(builder);
	builder_fill_steps(builder);
	builder->culprit =
		signal_history_culprit(builder->source, finding->waits, &builder->signals);
	for (uint32_t i = 0; builder->source->event_count && i < finding->wait_count; i++)
		finding->waits[i].lost_signals =
			i == builder->culprit ? builder->signals.unreceived : 0;
	builder_fill_stalls(builder);
	finding->title = builder_title(builder);
	builder_fill_cause(builder);
	builder_add_early_steps(builder);
	finding->detail = builder_detail(builder);
	finding->signature = finding_signature(finding);
	free(builder->failing_name);
}

static struct trace_thread *build_threads_of(const struct finding_source *source, char **paths)
{
	struct trace_thread *threads = array_new(source->thread_count + 1u, sizeof *threads);

	for (uint32_t i = 0; i < source->thread_count; i++)
		threads[i] = (struct trace_thread){.path = paths[i],
			.label = source->threads[i].label,
			.create_site = source->threads[i].create_site,
			.start = source->threads[i].start};
	return threads;
}

static char *build_write_trace(const struct finding_source *source, char **paths, size_t *size)
{
	struct trace_run run = {.program = source->program, .thread_count = source->thread_count};
	struct trace_thread *threads;
	struct trace_writer *writer;

	if (!source->event_count)
		return NULL;
	threads = build_threads_of(source, paths);
	run.threads = threads;
	writer = trace_writer_new(&run);
	free(threads);
	trace_writer_add(writer, source->events, source->event_count);
	return trace_writer_finish(writer, source->outcome, source->events_dropped, size);
}

int finding_build(struct finding *out, const struct finding_source *source, struct symbols *symbols,
	struct error *err)
{
	struct finding finding = {0};
	struct finding_source resolved = *source;
	struct early_events early = {0};
	struct builder builder = {
		.source = &resolved, .symbols = symbols, .finding = &finding, .early = &early};
	struct outcome outcome;
	int status = build_check_source(source, err);

	if (!status) {
		outcome = *source->outcome;
		resolve_waits(source, &outcome);
		resolved.outcome = &outcome;
	}
	if (!status)
		status = build_make_paths(&builder, err);
	if (!status)
		status = build_finding_schedule_from_segments(&finding.schedule, &resolved, err);
	if (!status) {
		builder.finding->trace = build_write_trace(
			builder.source, builder.paths, &builder.finding->trace_size);
		if (symbols)
			symbols_forget_blocks(symbols);
		builder_note_first_uses(&builder);
		builder_note_wrappers(&builder);
		builder_note_accesses(&builder);
		build_fill(&builder);
		builder_forget_first_uses(&builder);
		builder_forget_wrappers(&builder);
		*out = finding;
	} else {
		finding_release(&finding);
	}
	for (uint32_t i = 0; builder.paths && i < source->thread_count; i++)
		free(builder.paths[i]);
	free(builder.paths);
	free(builder.threads);
	return status;
}

char *finding_trace_bytes(const struct finding_source *source, size_t *size)
{
	FREE_SCOPED char **paths = array_new(source->thread_count + 1u, sizeof *paths);
	char *bytes;

	for (uint32_t i = 0; i < source->thread_count; i++) {
		paths[i] = finding_thread_path(source->threads, source->thread_count, i);
		BUG_ON(!paths[i]); /* the table of a passing run is consistent */
	}
	bytes = build_write_trace(source, paths, size);
	for (uint32_t i = 0; i < source->thread_count; i++)
		free(paths[i]);
	return bytes;
}
