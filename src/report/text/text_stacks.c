#include "report/text/text_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "report/text/layout.h"

#define INDENT 2
#define FRAMES_INNER 10
#define FRAMES_OUTER 4

/* "lambda at pool.cpp:14" names the line where the lambda begins, often the frame's line as well. */
static void text_stacks_add_lambda_line(const struct finding_frame *frame, struct strbuf *out)
{
	if (!finding_frame_is_its_line(frame))
		strbuf_addf(out, ", line %u", frame->line);
}

static void text_stacks_add_frame(
	const struct finding_frame *frame, const struct report_style *style, struct strbuf *out)
{
	STRBUF_SCOPED line = STRBUF_EMPTY;

	strbuf_addf(&line, "%s", frame->function ? frame->function : "?");
	if (frame->function && !strncmp(frame->function, "lambda at ", 10))
		text_stacks_add_lambda_line(frame, &line);
	else if (frame->file && frame->line)
		strbuf_addf(&line, " at %s:%u", frame->file, frame->line);
	else if (frame->file) /* code without a line, made by the compiler */
		strbuf_addf(&line, " in %s", frame->file);
	else if (frame->module && !(frame->function && strstr(frame->function, "+0x")))
		strbuf_addf(&line, " in %s", frame->module);
	strbuf_adds(out, "    ");
	add_wrapped(out, style, line.text, 4, 6);
}

/* Adds the inner and the outer end of a stack; frames in between, as of an endless recursion, are
 * only counted. */
static void text_stacks_add_frames(const struct finding_stack *stack, bool has_all,
	const struct report_style *style, struct strbuf *out)
{
	uint32_t total = 0, shown = 0;

	for (uint32_t i = 0; i < stack->count; i++)
		total += has_all || !stack->frames[i].is_system;
	for (uint32_t i = 0; i < stack->count; i++) {
		if (!has_all && stack->frames[i].is_system)
			continue;
		if (shown < FRAMES_INNER || shown + FRAMES_OUTER >= total)
			text_stacks_add_frame(&stack->frames[i], style, out);
		else if (shown == FRAMES_INNER)
			strbuf_addf(out, "    ... %" PRIu32 " more ...\n",
				total - FRAMES_INNER - FRAMES_OUTER);
		shown++;
	}
}

/* Adds a stack. Library frames are only counted, unless the stack has no others. */
static void text_stacks_add(const char *thread, const struct finding_stack *stack,
	const struct report_style *style, struct strbuf *out)
{
	uint32_t users = 0;

	if (!stack->count)
		return;
	for (uint32_t i = 0; i < stack->count; i++)
		users += !stack->frames[i].is_system;
	strbuf_adds(out, "  ");
	add_coloured(out, style, COLOUR_HEAD, thread);
	if (users && users < stack->count && !style->has_system_frames) {
		char text[64];

		(void)snprintf(text, sizeof text, "  (%" PRIu32 " library frame%s left out)",
			stack->count - users, stack->count - users == 1 ? "" : "s"); /* fits */
		add_coloured(out, style, COLOUR_FAINT, text);
	}
	strbuf_adds(out, "\n");
	text_stacks_add_frames(stack, !users || style->has_system_frames, style, out);
}

static void text_stacks_add_thread(const struct finding *finding, const char *path,
	const struct finding_stack *stack, const struct report_style *style, struct strbuf *out)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;

	finding_add_thread(finding, path, &text);
	text_stacks_add(text.text, stack, style, out);
}

static void text_stacks_add_accesses(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	add_heading(out, style,
		finding->kind == OUTCOME_RACE
			? "conflicting accesses that no synchronisation orders"
		: finding->kind == OUTCOME_WEAK ? "a store, and an access that may come before it"
		: !strcmp(finding->race[FINDING_EARLIER].verb, "destroys")
			? "the destruction of the object and the use after it"
			: "the free and the access after it");
	if (finding->variable) {
		STRBUF_SCOPED line = STRBUF_EMPTY;

		strbuf_addf(&line, "to %s", finding->variable);
		strbuf_adds(out, "  ");
		add_wrapped(out, style, line.text, INDENT, INDENT + 2);
	}
	for (unsigned i = 0; i < FINDING_ACCESSES; i++) {
		const struct finding_access *access = &finding->race[i];
		STRBUF_SCOPED text = STRBUF_EMPTY;

		finding_add_thread(finding, access->thread, &text);
		strbuf_addf(&text, " %s it%s%s", access->verb,
			access->held ? ", holding " : ", holding no lock",
			access->held ? access->held : "");
		text_stacks_add(text.text, &access->at, style, out);
	}
}

/* The end of a main() that returns a failure status has frames of the C library only. */
static bool text_stacks_has_failing(const struct finding *finding, const struct report_style *style)
{
	bool is_shown = finding->kind != OUTCOME_EXIT || style->has_system_frames;

	for (uint32_t i = 0; i < finding->at.count; i++)
		is_shown |= !finding->at.frames[i].is_system;
	return finding->at.count && is_shown;
}

void report_stacks(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	bool is_reported = false; /* the failing thread is among the blocked ones */

	if (finding->race[FINDING_LATER].thread) {
		text_stacks_add_accesses(finding, style, out);
		return;
	}
	for (uint32_t i = 0; i < finding->wait_count; i++)
		is_reported |= finding->failing_thread && finding->waits[i].at.count &&
			       !strcmp(finding->waits[i].thread, finding->failing_thread);
	if (!finding->wait_count && !text_stacks_has_failing(finding, style))
		return;
	add_heading(out, style, "thread backtraces");
	if (!is_reported)
		text_stacks_add_thread(finding,
			finding->failing_thread ? finding->failing_thread : "failing thread",
			&finding->at, style, out);
	for (uint32_t i = 0; i < finding->wait_count; i++)
		text_stacks_add_thread(
			finding, finding->waits[i].thread, &finding->waits[i].at, style, out);
}
