#include "commands/findings/show_finding.h"

#include "base/strbuf.h"
#include "cli/next_command.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "report/documents.h"
#include "report/text/text.h"

static void show_finding_put(struct strbuf *text, FILE *stream)
{
	output_write_coloured(stream, text->text, text->length);
	strbuf_release(text);
}

static struct report_style show_finding_style_of(FILE *stream)
{
	return (struct report_style){
		.columns = terminal_columns(stream),
		.has_colour = terminal_has_color(stream),
		.steps_most = REPORT_STEPS_STANDARD,
	};
}

void show_finding(const struct finding *finding, const char *store,
	const struct source_roots *roots, FILE *stream)
{
	struct report_style style = show_finding_style_of(stream);
	struct strbuf text = STRBUF_EMPTY, option = STRBUF_EMPTY;

	next_add_store(&option, store);
	style.store_option = option.text;
	style.source_roots = roots;
	report_finding(finding, &style, &text);
	strbuf_release(&option);
	show_finding_put(&text, stream);
}

void show_explanation(
	const struct store_document *documents, uint32_t count, const char *finding, FILE *stream)
{
	struct report_style style = show_finding_style_of(stream);
	struct strbuf text = STRBUF_EMPTY;

	report_explanation(documents, count, finding, &style, &text);
	show_finding_put(&text, stream);
}

void show_documents(const struct store_document *documents, uint32_t count, FILE *stream)
{
	struct report_style style = show_finding_style_of(stream);
	struct strbuf text = STRBUF_EMPTY;

	report_documents(documents, count, &style, &text);
	show_finding_put(&text, stream);
}

void show_candidate(const struct candidate *candidate, FILE *stream)
{
	struct report_style style = show_finding_style_of(stream);
	struct strbuf text = STRBUF_EMPTY;

	report_candidate(candidate, &style, &text);
	show_finding_put(&text, stream);
}

void show_interleaving(const struct finding *finding, bool has_callers, FILE *stream)
{
	struct report_style style = show_finding_style_of(stream);
	struct strbuf text = STRBUF_EMPTY;

	style.steps_most = 0;
	style.has_callers = has_callers;
	report_interleaving(finding, &style, &text);
	show_finding_put(&text, stream);
}
