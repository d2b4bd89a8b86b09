/* The interleaving as a table with a column per thread; where that is too wide, as a list. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "report/text/block_names.h"
#include "report/text/interleaving_rows.h"
#include "report/text/layout.h"

#define INDENT 2
/* Smallest column width. Narrower columns would break most rows into three lines, so a list is used
 * instead. */
#define COLUMN_MIN 20
/* Largest column width. Wider columns would make rows hard to follow. */
#define COLUMN_MAX 44
#define COLUMNS_MAX 32
#define FIXED_CELLS 2 /* mark and step */

struct interleaving {
	const struct finding *finding;
	const struct report_style *style;
	/* threads in order of creation: main, main.0, main.0.0, ... */
	const char *threads[COLUMNS_MAX];
	unsigned thread_count;	     /* COLUMNS_MAX + 1: more threads than columns */
	enum interleaving_row *rows; /* by step */
	unsigned widths[COLUMNS_MAX + FIXED_CELLS];
	bool is_list;
	const char *file; /* base name of the one source file of all steps; NULL means several */
};

static unsigned interleaving_column_of(const struct interleaving *table, const char *thread)
{
	unsigned column = 0;

	while (column < table->thread_count && strcmp(table->threads[column], thread))
		column++;
	return column;
}

/* Gives the thread a column; more than COLUMNS_MAX threads make a list. */
static void interleaving_add_thread(struct interleaving *table, const char *thread)
{
	if (interleaving_column_of(table, thread) < table->thread_count)
		return;
	if (table->thread_count == COLUMNS_MAX)
		table->is_list = true;
	else
		table->threads[table->thread_count++] = thread;
}

/* Orders thread paths by creation: the digits between two dots are a number. */
static int interleaving_compare_paths(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static void interleaving_collect_threads(struct interleaving *table)
{
	const struct finding *finding = table->finding;

	for (uint32_t i = 0; i < finding->step_count; i++)
		if (table->rows[i] == ROW_SHOWN)
			interleaving_add_thread(table, finding->steps[i].thread);
	for (uint32_t i = 0; i < finding->wait_count; i++)
		interleaving_add_thread(table, finding->waits[i].thread);
	qsort(table->threads, table->thread_count, sizeof *table->threads,
		interleaving_compare_paths);
}

#define HEADING "interleaving"

/* Determines the only source file of all lines, which the heading names if it has room. */
static void interleaving_find_file(struct interleaving *table)
{
	const size_t room = style_columns(table->style) - strlen(HEADING ", in ");
	const struct finding *finding = table->finding;

	for (uint32_t i = 0; i < finding->step_count; i++) {
		const char *file = finding->steps[i].where.file;

		if (!file || finding->steps[i].where.is_system)
			continue;
		if (table->file && strcmp(table->file, base_name(file))) {
			table->file = NULL;
			return;
		}
		table->file = base_name(file);
	}
	if (table->file && text_columns(table->file) > room)
		table->file = NULL;
}

static void interleaving_choose_widths(struct interleaving *table)
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

/* Adds the step's location in one of three forms: " :28", " bank.c:28", " in f". */
static void interleaving_add_where(
	const struct interleaving *table, const struct finding_frame *where, struct strbuf *out)
{
	if (where->file && table->file && !strcmp(table->file, base_name(where->file)))
		strbuf_addf(out, " :%u", where->line);
	else if (where->file)
		strbuf_addf(out, " %s:%u", base_name(where->file), where->line);
	else if (where->function)
		strbuf_addf(out, " in %s", where->function);
}

/* Returns the thread's name in a row. The column is narrow, so a name that the program gave stands
 * alone if it is unique. */
static const char *interleaving_list_name(const struct interleaving *table, const char *thread)
{
	const struct finding *finding = table->finding;
	const char *label = finding_thread_label(finding, thread);
	unsigned count = 0;

	for (uint32_t i = 0; label && i < finding->thread_count; i++)
		count += !strcmp(finding->threads[i].label, label);
	return count == 1 ? label : thread;
}

/* Adds one row: mark, number, and the text in the thread's column. */
static void interleaving_add_line(const struct interleaving *table, const char *mark,
	const char *number, const char *thread, const char *text, struct strbuf *out)
{
	struct row_cell cells[COLUMNS_MAX + FIXED_CELLS] = {{0}};
	const unsigned count = FIXED_CELLS + (table->is_list ? 2 : table->thread_count);
	const char *colour = *mark == '!' || *mark == 'x' ? COLOUR_ALARM : COLOUR_NONE;
	unsigned column = FIXED_CELLS + 1;

	for (unsigned i = 0; i < count; i++)
		cells[i].colour = COLOUR_NONE;
	cells[0] = (struct row_cell){mark, colour};
	cells[1] = (struct row_cell){number, COLOUR_FAINT};
	if (table->is_list)
		cells[FIXED_CELLS] =
			(struct row_cell){interleaving_list_name(table, thread), COLOUR_HEAD};
	else
		column = FIXED_CELLS + interleaving_column_of(table, thread);
	cells[column] = (struct row_cell){text, colour};
	add_row(out, table->style, INDENT, cells, table->widths, count);
}

/* Returns the end of a qualified name: its class and function, "Mutex::Lock" of "leveldb::port::Mutex::Lock". Scopes with
 * template arguments or parameters stay whole. */
static const char *interleaving_without_namespaces(const char *function)
{
	const char *scope = function, *last = function;
	unsigned depth = 0;

	for (const char *at = function; *at && strncmp(at, "operator", 8) != 0; at++) {
		depth += *at == '<' || *at == '(';
		depth -= depth && (*at == '>' || *at == ')');
		if (depth || at[0] != ':' || at[1] != ':')
			continue;
		scope = last;
		last = at + 2;
	}
	return scope;
}

/* Adds the location of a step inside a wrapper: ", ring_push (ring.h:88) by produce at line 41". The name of a lambda
 * may be that location. */
static void interleaving_add_wrapped_location(
	const struct interleaving *table, const struct finding_step *step, struct strbuf *out)
{
	const struct finding_frame *where = &step->where;

	strbuf_addf(out, ", %s", interleaving_without_namespaces(step->inner.function));
	if (!finding_frame_is_its_line(&step->inner))
		strbuf_addf(out, " (%s:%u)", base_name(step->inner.file ? step->inner.file : ""),
			step->inner.line);
	strbuf_addf(out, " by %s",
		where->function ? interleaving_without_namespaces(where->function) : "?");
	if (finding_frame_is_its_line(where))
		return;
	strbuf_adds(out, " at ");
	if (table->file && where->file && !strcmp(table->file, base_name(where->file)))
		strbuf_addf(out, "line %u", where->line);
	else
		strbuf_addf(out, "%s:%u", base_name(where->file ? where->file : "?"), where->line);
}

static void interleaving_add_callers(const struct finding_step *step, struct strbuf *out)
{
	for (uint32_t i = 0; i < step->callers.count; i++) {
		const struct finding_frame *frame = &step->callers.frames[i];

		strbuf_addf(out, ", from %s (%s:%u)", frame->function ? frame->function : "?",
			base_name(frame->file), frame->line);
	}
}

/* Adds " (of step 3, misses step 5)": stores that weak memory concerns. */
static void interleaving_add_stores(const struct finding_step *step, struct strbuf *out)
{
	const uint64_t of = step->reads_from ? step->reads_from : step->makes_visible;

	if (!of && !step->misses)
		return;
	strbuf_adds(out, " (");
	if (of)
		strbuf_addf(out, "of step %" PRIu64 "%s", of, step->misses ? ", " : "");
	if (step->misses)
		strbuf_addf(out, "misses step %" PRIu64, step->misses);
	strbuf_adds(out, ")");
}

static void interleaving_add_step(
	const struct interleaving *table, const struct finding_step *step, struct strbuf *out)
{
	const char *mark = step->is_failure	 ? "x"
			   : step->is_preemption ? "!"
			   : step->is_switch	 ? ">"
						 : "";
	STRBUF_SCOPED text = STRBUF_EMPTY;
	char number[24];

	if (step->cause_line)
		strbuf_addf(&text, "[%" PRIu32 "] ", step->cause_line);
	if (interleaving_is_folded(table->style, step))
		strbuf_addf(&text, "calls %s", step->library_call);
	else
		strbuf_adds(&text, step->verb);
	if (step->object && !interleaving_is_folded(table->style, step))
		strbuf_addf(&text, " %.*s", finding_short_name(step->object), step->object);
	interleaving_add_stores(step, &text);
	if (step->inner.function)
		interleaving_add_wrapped_location(table, step, &text);
	else
		interleaving_add_where(table, &step->where, &text);
	if (table->style->has_callers)
		interleaving_add_callers(step, &text);
	(void)snprintf(number, sizeof number, "%*" PRIu64, (int)table->widths[1],
		step->step); /* 20 digits */
	interleaving_add_line(table, mark, number, step->thread, text.text, out);
}

static void interleaving_add_waits(const struct interleaving *table, struct strbuf *out)
{
	const struct finding *finding = table->finding;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];
		static const struct finding_frame nowhere = {0};
		const struct finding_frame *where = finding_user_frame(&wait->at);
		STRBUF_SCOPED text = STRBUF_EMPTY;

		finding_add_blocked(wait, &text);
		interleaving_add_where(table, where ? where : &nowhere, &text);
		interleaving_add_line(table, "x", "", wait->thread, text.text, out);
	}
}

static void interleaving_add_head(const struct interleaving *table, struct strbuf *out)
{
	struct row_cell cells[COLUMNS_MAX + FIXED_CELLS] = {{0}};
	struct strbuf names[COLUMNS_MAX];

	if (table->is_list)
		return;
	for (unsigned i = 0; i < FIXED_CELLS; i++)
		cells[i].colour = COLOUR_NONE;
	for (unsigned i = 0; i < table->thread_count; i++) {
		strbuf_init(&names[i]);
		finding_add_thread(table->finding, table->threads[i], &names[i]);
		cells[FIXED_CELLS + i] = (struct row_cell){names[i].text, COLOUR_HEAD};
	}
	add_row(out, table->style, INDENT, cells, table->widths, FIXED_CELLS + table->thread_count);
	for (unsigned i = 0; i < table->thread_count; i++)
		strbuf_release(&names[i]);
}

static void interleaving_add_left_out(const struct interleaving *table, uint64_t count,
	const char *which, const char *where, struct strbuf *out)
{
	char text[80];

	(void)snprintf(text, sizeof text, "... %" PRIu64 " %s%s%s left out ...", count, which,
		count == 1			  ? ""
		: which[strlen(which) - 1] == 's' ? "es"
						  : "s",
		where); /* fits */
	strbuf_adds(out, "  ");
	add_coloured(out, table->style, COLOUR_FAINT, text);
	strbuf_adds(out, "\n");
}

/* Adds a line for the steps that the finding does not have, in front of the step `at`. */
static void interleaving_add_earlier(
	const struct interleaving *table, uint32_t at, struct strbuf *out)
{
	const struct finding *finding = table->finding;

	if (finding->steps_left_out && at == finding->early_step_count)
		interleaving_add_left_out(
			table, finding->steps_left_out, at ? "step" : "earlier step", "", out);
}

/* Adds the rows of all steps, and a line for each stretch of steps that is left out. */
static void interleaving_add_rows(const struct interleaving *table, struct strbuf *out)
{
	const struct finding *finding = table->finding;
	uint32_t library = 0, private = 0, middle = 0, repeated = 0;

	for (uint32_t i = 0; i < finding->step_count; i++) {
		interleaving_add_earlier(table, i, out);
		library += table->rows[i] == ROW_LIBRARY;
		private += table->rows[i] == ROW_PRIVATE;
		middle += table->rows[i] == ROW_MIDDLE;
		repeated += table->rows[i] == ROW_REPEATED;
		if (table->rows[i] != ROW_SHOWN)
			continue;
		if (repeated)
			interleaving_add_left_out(table, repeated, "repeated step", "", out);
		if (middle)
			interleaving_add_left_out(table, middle, "step", "", out);
		middle = 0;
		repeated = 0;
		interleaving_add_step(table, &finding->steps[i], out);
	}
	if (repeated)
		interleaving_add_left_out(table, repeated, "repeated step", "", out);
	if (finding->later_steps_left_out)
		interleaving_add_left_out(
			table, finding->later_steps_left_out, "later step", "", out);
	if (library)
		interleaving_add_left_out(table, library, "step", " inside libraries", out);
	if (private)
		interleaving_add_left_out(
			table, private, "step", " on memory or locks of one thread at a time", out);
}

static void interleaving_add_legend(const struct interleaving *table, struct strbuf *out)
{
	const struct finding *finding = table->finding;
	STRBUF_SCOPED legend = STRBUF_EMPTY;
	bool has_failure = false;

	for (uint32_t i = 0; i < finding->step_count; i++)
		has_failure |= finding->steps[i].is_failure;
	strbuf_adds(&legend, "> context switch   ! preemption");
	if (has_failure || finding->wait_count)
		strbuf_addf(&legend, "   x %s%s%s", has_failure ? "failure" : "",
			has_failure && finding->wait_count ? ", or " : "",
			finding->wait_count ? "blocked" : "");
	if (table->file)
		strbuf_addf(&legend, "   :N line N of %s", table->file);
	strbuf_adds(out, "  ");
	add_wrapped(out, table->style, legend.text, INDENT, INDENT);
}

static void interleaving_add(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	struct interleaving table = {.finding = finding, .style = style};
	STRBUF_SCOPED heading = STRBUF_EMPTY;

	if (!finding->step_count)
		return;
	table.rows = array_new(finding->step_count, sizeof *table.rows);
	interleaving_choose_rows(finding, style, table.rows);
	interleaving_collect_threads(&table);
	interleaving_choose_widths(&table);
	interleaving_find_file(&table);
	strbuf_adds(&heading, HEADING);
	if (table.file)
		strbuf_addf(&heading, ", in %s", table.file);
	add_heading(out, style, heading.text);
	interleaving_add_head(&table, out);
	interleaving_add_rows(&table, out);
	free(table.rows);
	interleaving_add_waits(&table, out);
	interleaving_add_legend(&table, out);
}

void report_interleaving(
	const struct finding *finding, const struct report_style *style, struct strbuf *out)
{
	struct block_names blocks = {0};
	struct report_style brief = *style;

	if (style->blocks) {
		interleaving_add(finding, style, out);
		return;
	}
	brief.blocks = &blocks;
	interleaving_add(finding, &brief, out);
	block_names_add_legend(&blocks, style, out);
	block_names_release(&blocks);
}
