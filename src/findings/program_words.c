/* Builds titles from the program's output: uncaught exceptions and failed expectations of test frameworks. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "findings/finding.h"

#define WORDS_MOST 240

static void program_words_add_line(const char *line, size_t length, struct strbuf *out)
{
	while (length && isspace((unsigned char)*line)) {
		line++;
		length--;
	}
	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	if (out->length + length > WORDS_MOST)
		length = out->length < WORDS_MOST ? WORDS_MOST - out->length : 0;
	strbuf_add(out, line, length);
}

/* Adds the exception that libstdc++ or libc++ printed: "uncaught std::runtime_error: request timed
 * out". Returns false if none was printed. */
static bool add_exception(const char *output, struct strbuf *out)
{
	/* libstdc++ quotes the type; two versions of libc++ continue the line with the what(). */
	static const char *const starts[] = {"terminate called after throwing an instance of '",
		"terminating due to uncaught exception of type ",
		"terminating with uncaught exception of type "};
	const char *at = NULL, *what;
	size_t which = 0;

	for (; which < sizeof starts / sizeof *starts && !at; which++) {
		at = strstr(output, starts[which]);
		at = at ? at + strlen(starts[which]) : NULL;
	}
	if (!at)
		return false;
	strbuf_adds(out, "uncaught ");
	program_words_add_line(at, strcspn(at, which == 1 ? "'\n" : "\n"), out);
	what = which == 1 ? strstr(at, "what():") : NULL;
	if (what) {
		strbuf_adds(out, ": ");
		program_words_add_line(what + 7, strcspn(what + 7, "\n"), out);
	}
	return true;
}

static bool ends_with(const char *line, size_t length, const char *words)
{
	const size_t size = strlen(words);

	return length > size && !memcmp(line + length - size, words, size);
}

/* Adds lines until an empty line or a line of the test framework. */
static void add_paragraph(const char *at, struct strbuf *out)
{
	strbuf_adds(out, ":");
	for (bool is_first = true; *at && out->length < WORDS_MOST; is_first = false) {
		const size_t length = strcspn(at, "\n");
		size_t blanks = strspn(at, " \t");

		if (blanks >= length || at[blanks] == '[' || at[blanks] == '=' ||
			!strncmp(at, "raddle:", 7))
			return;
		strbuf_adds(out, is_first || out->text[out->length - 1] == ':' ? " " : ", ");
		program_words_add_line(at, length, out);
		at += length + (at[length] == '\n');
	}
}

/*
 * Adds a failed expectation: "pool_test.cc:31: Expected equality of these values: ...". GoogleTest
 * prints "FILE:LINE: Failure" before it, Catch2 "FILE:LINE: FAILED:".
 */
static bool add_expectation(const char *output, struct strbuf *out)
{
	static const char *const ends[] = {": Failure", ": FAILED:"};

	for (const char *at = output; *at;) {
		const size_t length = strcspn(at, "\n");
		const char *next = at + length + (at[length] == '\n');

		for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
			size_t start = 0;

			if (!ends_with(at, length, ends[i]) ||
				!strchr("0123456789", at[length - strlen(ends[i]) - 1]))
				continue;
			for (size_t byte = 0; byte < length; byte++)
				start = at[byte] == '/' ? byte + 1 : start;
			program_words_add_line(at + start, length - start - strlen(ends[i]), out);
			add_paragraph(next, out);
			return true;
		}
		at = next;
	}
	return false;
}

void finding_title_from_output(struct finding *finding)
{
	const struct finding_frame *frame;
	struct strbuf title;
	const char *slash;
	bool is_said = false;

	if (!finding->output || (finding->kind != OUTCOME_ABORT && finding->kind != OUTCOME_EXIT))
		return;
	strbuf_init(&title);
	strbuf_addf(&title, "%s: ", outcome_descriptions[finding->kind].word);
	if (finding->kind == OUTCOME_EXIT) {
		is_said = add_expectation(finding->output, &title);
	} else if (add_exception(finding->output, &title)) {
		frame = finding_user_frame(&finding->at);
		is_said = true;
		strbuf_addf(&title, ", thrown by %s",
			finding->failing_thread ? finding->failing_thread : "a thread");
		if (frame && frame->file && !frame->is_system) {
			slash = strrchr(frame->file, '/');
			strbuf_addf(
				&title, " at %s:%u", slash ? slash + 1 : frame->file, frame->line);
		}
	}
	if (is_said) {
		free(finding->title);
		finding->title = strbuf_detach(&title);
	} else {
		strbuf_release(&title);
	}
}
