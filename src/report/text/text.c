#include "report/text/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/strbuf.h"
#include "findings/source_lines.h"
#include "report/text/block_names.h"
#include "report/text/interleaving_rows.h"
#include "report/text/layout.h"
#include "report/text/text_stacks.h"

#define INDENT 2
#define OUTPUT_LINES_MAX 10

static void text_report_title(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	const char *title =
		finding->title ? finding->title : outcome_descriptions[finding->kind].sentence;
	const unsigned indent = (unsigned)strlen(finding->id) + (*finding->id ? 2 : 0);

	if (*finding->id) {
		add_coloured(out, style, COLOUR_ALARM, finding->id);
		strbuf_adds(out, "  ");
	}
	if (style->has_colour)
		strbuf_adds(out, "\033[" COLOUR_HEAD "m");
	add_wrapped(out, style, title, indent, indent);
	if (style->has_colour)
		strbuf_adds(out, "\033[0m");
	if (finding->detail)
		add_wrapped(out, style, finding->detail, 0, 0);
}

void report_cause(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	const char *line = finding->cause;
	unsigned number = 0;

	if (!finding->cause && !finding->remedy)
		return;
	add_heading(out, style, "what led to it");
	while (line) {
		const char *end = strchr(line, '\n');
		STRBUF_SCOPED text = STRBUF_EMPTY;

		strbuf_addf(&text, "[%u] %.*s", ++number,
			end ? (int)(end - line) : (int)strlen(line), line);
		strbuf_adds(out, "  ");
		add_wrapped(out, style, text.text, 2, 6);
		line = end ? end + 1 : NULL;
	}
	if (finding->remedy) {
		strbuf_adds(out, "  to prevent it: ");
		add_wrapped(out, style, finding->remedy, 17, 4);
	}
}

/* Appends "bank.c:41", or the function if the line is unknown. The sections with call stacks show
 * the full path. */
static void text_add_location(struct strbuf *out, const struct finding_frame *frame)
{
	if (frame && frame->file)
		strbuf_addf(out, "%s:%u", base_name(frame->file), frame->line);
	else if (frame && frame->function)
		strbuf_adds(out, frame->function);
	else
		strbuf_adds(out, "?");
}

static bool text_is_held_before(const struct finding *finding, uint32_t index)
{
	const struct finding_wait *wait = &finding->waits[index];

	for (uint32_t i = 0; i < index; i++) {
		const struct finding_wait *other = &finding->waits[i];

		if (other->holder && other->object && !strcmp(other->holder, wait->holder) &&
			!strcmp(other->object, wait->object) &&
			other->held_since.line == wait->held_since.line)
			return true;
	}
	return false;
}

/* Appends the object that this thread holds and others wait for: "mutex m, taken at bank.c:12". */
static void text_add_held(struct strbuf *out, const struct finding *finding, const char *thread)
{
	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];

		if (!wait->holder || !wait->object || strcmp(wait->holder, thread) ||
			(!wait->held_since.file && !wait->held_since.function) ||
			text_is_held_before(finding, i))
			continue;
		strbuf_addf(out, "%s%.*s taken at ", out->length ? ", " : "",
			finding_short_name(wait->object), wait->object);
		text_add_location(out, &wait->held_since);
	}
}

static void text_add_wanted(struct strbuf *out, const struct finding_wait *wait)
{
	finding_add_blocked_on(wait, out);
	strbuf_adds(out, " at ");
	text_add_location(out, finding_user_frame(&wait->at));
	/* The object of a join already names the thread. */
	if (wait->holder && strncmp(wait->object ? wait->object : "", "thread ", 7))
		strbuf_addf(out, ", held by %s", wait->holder);
	if (wait->lost_signals)
		strbuf_addf(out, ", %" PRIu32 " signal%s lost", wait->lost_signals,
			wait->lost_signals == 1 ? "" : "s");
}

static unsigned text_thread_columns(const struct finding *finding, const char *path)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;

	finding_add_thread(finding, path, &text);
	return text_columns(text.text);
}

/* `wanted_head`: heading of the column with the requested objects. */
static void text_add_waits(const struct finding *finding, const char *heading,
	const char *wanted_head, const struct report_style *style, struct strbuf *out)
{
	unsigned widths[3] = {6, 0, 0};
	struct row_cell cells[3] = {
		{"thread", COLOUR_FAINT}, {"holds", COLOUR_FAINT}, {wanted_head, COLOUR_FAINT}};

	if (!finding->wait_count)
		return;
	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const unsigned length = text_thread_columns(finding, finding->waits[i].thread);

		widths[0] = length > widths[0] && length <= 20 ? length : widths[0];
	}
	widths[1] = widths[2] = (style_columns(style) - INDENT - widths[0] - 4) / 2;
	add_heading(out, style, heading);
	add_row(out, style, INDENT, cells, widths, 3);
	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];
		STRBUF_SCOPED thread = STRBUF_EMPTY, held = STRBUF_EMPTY, wanted = STRBUF_EMPTY;

		text_add_held(&held, finding, wait->thread);
		text_add_wanted(&wanted, wait);
		finding_add_thread(finding, wait->thread, &thread);
		cells[0] = (struct row_cell){
			thread.text, wait->is_on_cycle ? COLOUR_ALARM : COLOUR_NONE};
		cells[1] = (struct row_cell){held.length ? held.text : "-", COLOUR_NONE};
		cells[2] = (struct row_cell){wanted.text, COLOUR_NONE};
		add_row(out, style, INDENT, cells, widths, 3);
	}
}

void report_candidate(
	const struct candidate *candidate, const struct report_style *style, struct strbuf *out)
{
	const struct finding as_if = {
		.waits = candidate->waits, .wait_count = candidate->wait_count};
	struct block_names blocks = {0};
	struct report_style brief = *style;

	brief.blocks = &blocks;
	if (candidate->title)
		add_wrapped(out, &brief, candidate->title, 4, 4);
	text_add_waits(&as_if, "predicted wait-for graph", "would be blocked on", &brief, out);
	block_names_add_legend(&blocks, style, out);
	block_names_release(&blocks);
}

/* Limit for a readable list; the tables themselves use the short names. */
#define OBJECTS_MAX 16

struct object_list {
	const char *objects[OBJECTS_MAX];
	unsigned count;
};

static void text_list_object(struct object_list *list, const char *object)
{
	if (!object || !object[finding_short_name(object)] || list->count == OBJECTS_MAX)
		return;
	for (unsigned i = 0; i < list->count; i++)
		if (!strcmp(list->objects[i], object))
			return;
	list->objects[list->count++] = object;
}

/* Lists the full names of objects that the tables abbreviate, those of the waits first. */
static void text_report_objects(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	FREE_SCOPED enum interleaving_row *rows = array_new(finding->step_count + 1u, sizeof *rows);
	struct object_list list = {.count = 0};

	for (uint32_t i = 0; i < finding->wait_count; i++)
		text_list_object(&list, finding->waits[i].object);
	interleaving_choose_rows(finding, style, rows);
	for (uint32_t i = finding->step_count; i--;)
		if (!finding->steps[i].where.is_system && rows[i] != ROW_PRIVATE)
			text_list_object(&list, finding->steps[i].object);
	if (!list.count)
		return;
	add_heading(out, style, "unnamed objects");
	for (unsigned i = 0; i < list.count; i++) {
		strbuf_adds(out, "  ");
		add_wrapped(out, style, list.objects[i], INDENT, INDENT + 2);
	}
}

static void text_report_output(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	const char *start = finding->output;
	const char *at;
	unsigned lines = 0;

	if (!start || !*start)
		return;
	at = start + strlen(start);
	while (at > start && at[-1] == '\n')
		at--;
	while (at > start && !(at[-1] == '\n' && ++lines == OUTPUT_LINES_MAX))
		at--;
	add_heading(out, style, "last output of the program");
	while (*at) {
		const size_t length = strcspn(at, "\n");

		FREE_SCOPED char *line = string_copy_part(at, length);

		strbuf_adds(out, "  ");
		add_wrapped(out, style, line, INDENT, INDENT + 2);
		at += length + (at[length] == '\n');
	}
}

static void text_add_fact(struct strbuf *out, const struct report_style *style, const char *name,
	const struct strbuf *text)
{
	strbuf_addf(out, "%-9s ", name);
	add_wrapped(out, style, text->text, 10, 10);
}

static void text_add_repeats(const struct finding *finding, struct strbuf *text)
{
	if (!finding->replays)
		return;
	if (finding->replays == finding->replays_failed_again)
		strbuf_addf(text, "repeatable: failed again in %" PRIu32 " of %" PRIu32 " replays",
			finding->replays_failed_again, finding->replays);
	else
		strbuf_addf(text,
			"not repeatable: failed again in only %" PRIu32 " of %" PRIu32 " replays",
			finding->replays_failed_again, finding->replays);
}

static void text_add_counts(struct strbuf *text, uint32_t switches, uint32_t preemptions)
{
	strbuf_addf(text, "%" PRIu32 " context switch%s, %" PRIu32 " preemption%s", switches,
		switches == 1 ? "" : "es", preemptions, preemptions == 1 ? "" : "s");
}

/* Adds depth and radius in the terms of the guarantees of pct and rpro. */
static void text_add_depth(struct strbuf *text, const struct finding *finding)
{
	const uint32_t points = finding->depth - 1;

	strbuf_addf(text, "%sdepth %" PRIu32, points ? "at most " : "", finding->depth);
	if (points > 1)
		strbuf_addf(text, ", radius %" PRIu32, finding->radius);
	if (!points)
		strbuf_adds(text, " (an order of the threads)");
	else
		strbuf_addf(text, " (%" PRIu32 " change point%s", points, points == 1 ? ")" : "s");
	if (points > 1)
		strbuf_addf(text, ", %" PRIu32 " acquisition%s apart)", finding->radius,
			finding->radius == 1 ? "" : "s");
}

/* Warns about changed source files: the report shows their lines as kept when the finding was made. */
static void text_add_changed_sources(
	struct strbuf *text, const struct finding *finding, const struct report_style *style)
{
	json_auto_t *sources = finding->sources ? json_loads(finding->sources, 0, NULL) : NULL;
	json_t *changed =
		       source_lines_changed(sources, source_roots_of(finding, style->source_roots)),
	       *name;
	size_t index;

	json_array_foreach(changed, index, name)
		strbuf_addf(text, "%s%s", index ? ", " : "", base_name(json_string_value(name)));
	if (text->length)
		strbuf_addf(text,
			" changed since this finding was stored; line numbers are those of that time");
	json_decref(changed);
}

/* Adds the facts of the finding: strategy and run that found it, minimised size, repetition, and
 * the replay command. */
static void text_report_facts(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	/* Findings of older versions may have the run number 0. */
	const uint64_t before = finding->run_number - !!finding->run_number;
	const char *store = style->store_option ? style->store_option : "";
	STRBUF_SCOPED text = STRBUF_EMPTY;

	strbuf_adds(out, "\n");
	if (finding->strategy) {
		strbuf_addf(&text, "%s, seed %" PRIu64 ", run %" PRIu64, finding->strategy,
			finding->seed, before % FINDING_SHARD_RUNS + 1);
		if (before >= FINDING_SHARD_RUNS)
			strbuf_addf(&text, " of shard %" PRIu64, before / FINDING_SHARD_RUNS + 1);
		text_add_fact(out, style, "found by", &text);
		strbuf_clear(&text);
	}
	if (finding->schedule.segment_count) {
		text_add_counts(&text, finding->switches, finding->preemptions);
		if (finding->switches_found != finding->switches ||
			finding->preemptions_found != finding->preemptions) {
			strbuf_adds(&text, " (when found: ");
			text_add_counts(&text, finding->switches_found, finding->preemptions_found);
			strbuf_adds(&text, ")");
		}
		if (finding->incomplete)
			strbuf_addf(&text, "; perhaps not minimal: %s", finding->incomplete);
		text_add_fact(out, style, "schedule", &text);
		strbuf_clear(&text);
	}
	if (finding->other_schedules_failed)
		strbuf_addf(&text,
			"no order of the threads: all of %" PRIu32
			" other schedules failed in the same way",
			finding->other_schedules_failed);
	else if (finding->depth)
		text_add_depth(&text, finding);
	if (text.length) {
		text_add_fact(out, style, "needs", &text);
		strbuf_clear(&text);
	}
	text_add_repeats(finding, &text);
	if (text.length)
		text_add_fact(out, style, "replays", &text);
	strbuf_clear(&text);
	text_add_changed_sources(&text, finding, style);
	if (text.length)
		text_add_fact(out, style, "sources", &text);
	/* Never wrapped, so that it can be copied. */
	if (*finding->shown_by)
		strbuf_addf(out, "%-9s raddle replay %s%s\n", "weak run", finding->shown_by, store);
	if (*finding->id)
		strbuf_addf(out, "%-9s raddle replay %s%s\n", "again", finding->id, store);
}

void report_finding(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	struct block_names blocks = {0};
	struct report_style brief = *style;

	brief.blocks = &blocks;
	text_report_title(finding, &brief, out);
	report_cause(finding, &brief, out);
	text_add_waits(finding, "wait-for graph", "blocked on", &brief, out);
	report_stacks(finding, &brief, out);
	report_interleaving(finding, &brief, out);
	block_names_add_legend(&blocks, style, out);
	block_names_release(&blocks);
	text_report_objects(finding, style, out);
	text_report_output(finding, style, out);
	text_report_facts(finding, style, out);
}
