/*
 * Chrome's trace event format (JSON) for the Perfetto viewer. A finding is a process, each thread
 * of the interleaving a track, and each step a slice of one microsecond at its number. Arrows mark
 * the context switches. The viewer's clock is the number of the step.
 */
#include <string.h>

#include "base/array.h"
#include "base/visible.h"
#include "report/format.h"
#include "report/json_value.h"

#define CATEGORY "raddle"

static json_int_t perfetto_track_of(json_t *tracks, const char *thread)
{
	FREE_SCOPED char *name = visible_text(thread, true); /* JSON object names must be UTF-8 */
	json_t *known = json_object_get(tracks, name);

	if (!known) {
		known = json_integer((json_int_t)json_object_size(tracks) + 1);
		json_put(tracks, name, known);
	}
	return json_integer_value(known);
}

static json_t *perfetto_event_value(
	const char *phase, json_t *name, uint32_t process, json_int_t track)
{
	json_t *event = json_object();

	json_put(event, "ph", json_string(phase));
	json_put(event, "name", name);
	json_put(event, "cat", json_string(CATEGORY));
	json_put(event, "pid", json_integer(process));
	json_put(event, "tid", json_integer(track));
	return event;
}

static json_t *perfetto_name_value(
	const char *what, json_t *name, uint32_t process, json_int_t track)
{
	json_t *event = perfetto_event_value("M", json_string(what), process, track),
	       *args = json_object();

	json_put(args, "name", name);
	json_put(event, "args", args);
	return event;
}

static json_t *perfetto_slice_value(
	const struct finding_step *step, uint32_t process, json_int_t track)
{
	json_t *args = json_object();
	json_t *event = perfetto_event_value("X",
		json_textf("%s%s%s", step->verb, step->object ? " " : "",
			step->object ? step->object : ""),
		process, track);

	json_put(event, "ts", json_count(step->step));
	json_put(event, "dur", json_integer(1));
	json_put(args, "step", json_count(step->step));
	if (step->where.file)
		json_put(args, "place", json_textf("%s:%u", step->where.file, step->where.line));
	if (step->where.function)
		json_put(args, "function", json_text(step->where.function));
	if (step->is_switch)
		json_put(args, "switch",
			json_string(
				step->is_preemption ? "preemption" : "the other waits or ends"));
	json_put(event, "args", args);
	return event;
}

static json_t *perfetto_arrow_value(const struct finding_step *step, uint32_t process,
	json_int_t track, bool is_begin, uint64_t arrow)
{
	json_t *event =
		perfetto_event_value(is_begin ? "s" : "f", json_string("switch"), process, track);

	json_put(event, "id", json_count(arrow));
	json_put(event, "ts", json_count(step->step));
	if (!is_begin)
		json_put(event, "bp", json_string("e"));
	return event;
}

static void perfetto_add_finding(
	json_t *events, const struct finding *finding, uint32_t process, uint64_t *arrows)
{
	json_t *tracks = json_object(), *number;
	const char *thread;

	json_append(events,
		perfetto_name_value("process_name",
			json_textf("%s %s", finding->id, finding->title ? finding->title : ""),
			process, 0));
	for (uint32_t i = 0; i < finding->step_count; i++) {
		const struct finding_step *step = &finding->steps[i];
		const json_int_t track = perfetto_track_of(tracks, step->thread);

		if (i && strcmp(finding->steps[i - 1].thread, step->thread) != 0) {
			json_append(events,
				perfetto_arrow_value(&finding->steps[i - 1], process,
					perfetto_track_of(tracks, finding->steps[i - 1].thread),
					true, ++*arrows));
			json_append(
				events, perfetto_arrow_value(step, process, track, false, *arrows));
		}
		json_append(events, perfetto_slice_value(step, process, track));
	}
	json_object_foreach(tracks, thread, number)
		json_append(events, perfetto_name_value("thread_name", json_text(thread), process,
					    json_integer_value(number)));
	json_decref(tracks);
}

static char *perfetto_make(const struct report *report)
{
	json_t *root = json_object(), *events = json_array();
	uint64_t arrows = 0;

	for (uint32_t i = 0; i < report->finding_count; i++)
		perfetto_add_finding(events, &report->findings[i], i + 1, &arrows);
	json_put(root, "displayTimeUnit", json_string("ns"));
	json_put(root, "traceEvents", events);
	return json_document(root);
}

const struct report_format format_perfetto = {
	.name = "perfetto",
	.summary = "As a trace for the Perfetto viewer, a track for each thread",
	.make = perfetto_make,
};
