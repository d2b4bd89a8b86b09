/*
 * The interleaving as a table: one column per thread, time runs downwards. Where the threads do not
 * fit side by side the same rows are a list.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "report/layout_internal.h"

#define INDENT 2
/* Narrower columns break every name; then the list is easier to read. */
#define COLUMN_MIN 16
/* Wider ones tear the row apart. */
#define COLUMN_MAX 44
#define COLUMNS_MAX 32
#define FIXED_CELLS 2 /* mark and step */

struct interleaving {
	const struct finding *finding;
	const struct report_style *style;
	const char *threads[COLUMNS_MAX]; /* in order of first appearance */
	unsigned thread_count;		  /* COLUMNS_MAX + 1: more than that */
	uint32_t skip_from, skip_to;	  /* steps that are left out */
	unsigned widths[COLUMNS_MAX + FIXED_CELLS];
	bool is_list;
};

static unsigned column_of(const struct interleaving *table, const char *thread)
{
	unsigned column = 0;

	while (column < table->thread_count && strcmp(table->threads[column], thread))
		column++;
	return column;
}

static bool is_shown(const struct interleaving *table, uint32_t step)
{
	return step < table->skip_from || step >= table->skip_to;
}

static void collect_threads(struct interleaving *table)
{
	for (uint32_t i = 0; i < table->finding->step_count; i++) {
		const char *thread = table->finding->steps[i].thread;

		if (!is_shown(table, i) || column_of(table, thread) < table->thread_count)
			continue;
		if (table->thread_count == COLUMNS_MAX) {
			table->is_list = true;
			return;
		}
		table->threads[table->thread_count++] = thread;
	}
}

/* The end matters most: a quarter of what is shown is the beginning, the rest the end. */
static void choose_steps(struct interleaving *table)
{
	const uint32_t count = table->finding->step_count;
	const uint32_t most = table->style->steps_most;

	if (!most || count <= most)
		return;
	table->skip_from = most / 4;
	table->skip_to = count - (most - table->skip_from);
}

static void choose_widths(struct interleaving *table)
{
	const struct finding_step *last = &table->finding->steps[table->finding->step_count - 1];
	const unsigned columns = style_columns(table->style);
	char text[24];
	unsigned rest, width;

	table->widths[0] = 1;
	table->widths[1] =
		(unsigned)snprintf(text, sizeof text, "%" PRIu64, last->step); /* 20 digits */
	rest = columns - INDENT - table->widths[0] - table->widths[1] - 2 * FIXED_CELLS;
	width = table->thread_count ? rest / table->thread_count : rest;
	table->is_list |= width < COLUMN_MIN + 2;
	width = width > COLUMN_MAX + 2 ? COLUMN_MAX + 2 : width;
	if (table->is_list) {
		table->widths[2] = 10;
		table->widths[3] = rest - table->widths[2] - 2;
		return;
	}
	for (unsigned i = 0; i < table->thread_count; i++)
		table->widths[FIXED_CELLS + i] = width - 2;
}

/* The last column needs no gap behind it, so the sum of the widths is at most the screen. */
static void add_step_text(const struct finding_step *step, struct strbuf *out)
{
	const char *slash = step->where.file ? strrchr(step->where.file, '/') : NULL;

	strbuf_addf(out, "%s%s%s", step->verb, step->object ? " " : "",
		step->object ? step->object : "");
	if (step->where.file)
		strbuf_addf(out, " %s:%u", slash ? slash + 1 : step->where.file, step->where.line);
	else if (step->where.function)
		strbuf_addf(out, " in %s", step->where.function);
}

static void add_step(
	const struct interleaving *table, const struct finding_step *step, struct strbuf *out)
{
	struct row_cell cells[COLUMNS_MAX + FIXED_CELLS] = {{0}};
	const unsigned count = FIXED_CELLS + (table->is_list ? 2 : table->thread_count);
	const char *mark = step->is_preemption ? "!" : step->is_switch ? ">" : "";
	const char *colour = step->is_preemption ? COLOUR_ALARM : COLOUR_NONE;
	unsigned column = FIXED_CELLS + 1;
	struct strbuf text;
	char number[24];

	strbuf_init(&text);
	add_step_text(step, &text);
	(void)snprintf(number, sizeof number, "%*" PRIu64, (int)table->widths[1],
		step->step); /* 20 digits */
	for (unsigned i = 0; i < count; i++)
		cells[i].colour = COLOUR_NONE;
	cells[0] = (struct row_cell){mark, colour};
	cells[1] = (struct row_cell){number, COLOUR_FAINT};
	if (table->is_list)
		cells[FIXED_CELLS] = (struct row_cell){step->thread, COLOUR_HEAD};
	else
		column = FIXED_CELLS + column_of(table, step->thread);
	cells[column] = (struct row_cell){text.text, colour};
	add_row(out, table->style, INDENT, cells, table->widths, count);
	strbuf_release(&text);
}

static void add_head(const struct interleaving *table, struct strbuf *out)
{
	struct row_cell cells[COLUMNS_MAX + FIXED_CELLS] = {{0}};

	for (unsigned i = 0; i < FIXED_CELLS; i++)
		cells[i].colour = COLOUR_NONE;
	for (unsigned i = 0; i < table->thread_count; i++)
		cells[FIXED_CELLS + i] = (struct row_cell){table->threads[i], COLOUR_HEAD};
	if (!table->is_list)
		add_row(out, table->style, INDENT, cells, table->widths,
			FIXED_CELLS + table->thread_count);
}

static void add_left_out(
	const struct interleaving *table, uint64_t count, const char *which, struct strbuf *out)
{
	char text[80];

	(void)snprintf(text, sizeof text, "... %" PRIu64 " %s%s left out ...", count, which,
		count == 1 ? "" : "s"); /* fits */
	strbuf_adds(out, "  ");
	add_coloured(out, table->style, COLOUR_FAINT, text);
	strbuf_adds(out, "\n");
}

void report_interleaving(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	struct interleaving table = {.finding = finding, .style = style};

	if (!finding->step_count)
		return;
	choose_steps(&table);
	collect_threads(&table);
	choose_widths(&table);
	add_heading(out, style, "how it came to that");
	add_head(&table, out);
	if (finding->steps_left_out)
		add_left_out(&table, finding->steps_left_out, "earlier step", out);
	for (uint32_t i = 0; i < finding->step_count; i++) {
		if (is_shown(&table, i))
			add_step(&table, &finding->steps[i], out);
		else if (i == table.skip_from)
			add_left_out(&table, table.skip_to - table.skip_from, "step", out);
	}
	strbuf_adds(out, "  ");
	add_wrapped(out, style,
		"> another thread goes on   ! taken from a thread that could have gone on", INDENT,
		INDENT);
}
