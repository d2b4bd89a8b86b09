/* Builds titles from the program's output: uncaught exceptions and failed expectations of test frameworks. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/files/base_name.h"
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
static bool program_words_add_exception(const char *output, struct strbuf *out)
{
	/* libstdc++ quotes the type; two versions of libc++ continue the line with the what(). */
	static const char *const starts[] = {"terminate called after throwing an instance of '",
		"terminating due to uncaught exception of type ",
		"terminating with uncaught exception of type "};
	const char *at = NULL, *what;
	size_t which = 0, length;
	bool names_type;

	for (; which < sizeof starts / sizeof *starts && !at; which++) {
		at = strstr(output, starts[which]);
		at = at ? at + strlen(starts[which]) : NULL;
	}
	if (!at)
		return false;
	length = strcspn(at, which == 1 ? "'\n" : "\n");
	what = which == 1 ? strstr(at, "what():") : NULL;
	what = what ? what + 7 + strspn(what + 7, " ") : NULL;
	/* The what() of std::future_error begins with the type. */
	names_type = what && !strncmp(what, at, length) && what[length] == ':';
	strbuf_adds(out, "uncaught ");
	if (!names_type)
		program_words_add_line(at, length, out);
	if (what && !names_type)
		strbuf_adds(out, ": ");
	if (what)
		program_words_add_line(what, strcspn(what, "\n"), out);
	return true;
}

static bool program_words_ends_with(const char *line, size_t length, const char *words)
{
	const size_t size = strlen(words);

	return length > size && !memcmp(line + length - size, words, size);
}

/* Adds lines until an empty line or a line of the test framework. */
static void program_words_add_paragraph(const char *at, struct strbuf *out)
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

/* Copies a line without the escape sequences that colour it. */
static void program_words_copy_line(const char *line, size_t length, struct strbuf *out)
{
	strbuf_clear(out);
	for (size_t at = 0; at < length; at++) {
		if (iscntrl((unsigned char)line[at]) && at + 1 < length && line[at + 1] == '[')
			while (at < length && line[at] != 'm')
				at++;
		else
			strbuf_add(out, line + at, 1);
	}
}

/* Adds the location without folders, and the text behind it. */
static void program_words_add_location(
	const char *line, size_t length, const char *text, struct strbuf *out)
{
	size_t start = 0;

	for (size_t byte = 0; byte < length; byte++)
		start = strchr("/ ", line[byte]) ? byte + 1 : start;
	program_words_add_line(line + start, length - start, out);
	if (*text) {
		strbuf_adds(out, ": ");
		program_words_add_line(text, strlen(text), out);
	}
}

/* Adds the expectation of a line that says it behind its location: doctest, Boost.Test, Check, acutest. */
static bool program_words_add_said(const char *line, struct strbuf *out)
{
	static const char *const marks[] = {": ERROR: ", ": FATAL ERROR: ", ": error: in ",
		": fatal error: in ", ":F:", ": Check " /* acutest: ends with "... failed" */};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		const char *at = strstr(line, marks[i]), *text;

		if (!at || at == line || !strchr("0123456789)", at[-1]) ||
			(marks[i][2] == 'C' && !strstr(at, "... failed")))
			continue;
		text = at + strlen(marks[i]);
		if (marks[i][1] == 'F') /* the message follows the names of TCase and test */
			text = strstr(text, ": ") ? strstr(text, ": ") + 2 : text;
		program_words_add_location(line, (size_t)(at - line), text, out);
		return true;
	}
	return false;
}

/* Adds the expectation of a line that ends with its location: GoogleTest prints the text below it,
 * Catch2 too, and cmocka above it. */
static bool program_words_add_named(
	const char *line, const char *before, const char *next, struct strbuf *out)
{
	static const char *const ends[] = {": Failure", ": FAILED:", ": error: Failure!"};
	static const char head[] = "[  ERROR   ] --- ";
	const size_t length = strlen(line);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		if (!program_words_ends_with(line, length, ends[i]) ||
			!isdigit((unsigned char)line[length - strlen(ends[i]) - 1]))
			continue;
		if (!strncmp(before, head, strlen(head))) {
			program_words_add_location(
				line, length - strlen(ends[i]), before + strlen(head), out);
			return true;
		}
		program_words_add_location(line, length - strlen(ends[i]), "", out);
		program_words_add_paragraph(next, out);
		return true;
	}
	return false;
}

/* Adds a failed expectation: "pool_test.cc:31: Expected equality of these values: ...". */
static bool program_words_add_expectation(const char *output, struct strbuf *out)
{
	struct strbuf lines[2];
	bool is_said = false;

	strbuf_init(&lines[0]);
	strbuf_init(&lines[1]);
	for (unsigned number = 0; *output && !is_said; number++) {
		const size_t length = strcspn(output, "\n");
		struct strbuf *line = &lines[number % 2];

		program_words_copy_line(output, length, line);
		output += length + (output[length] == '\n');
		is_said = program_words_add_named(
				  line->text, lines[!(number % 2)].text, output, out) ||
			  program_words_add_said(line->text, out);
	}
	strbuf_release(&lines[0]);
	strbuf_release(&lines[1]);
	return is_said;
}

void finding_title_from_output(struct finding *finding)
{
	const struct finding_frame *frame;
	STRBUF_SCOPED title = STRBUF_EMPTY;
	bool is_said = false;

	if (!finding->output || (finding->kind != OUTCOME_ABORT && finding->kind != OUTCOME_EXIT))
		return;
	strbuf_addf(&title, "%s: ", outcome_descriptions[finding->kind].word);
	if (finding->kind == OUTCOME_EXIT) {
		is_said = program_words_add_expectation(finding->output, &title);
	} else if (program_words_add_exception(finding->output, &title)) {
		frame = finding_user_frame(&finding->at);
		is_said = true;
		strbuf_addf(&title, ", thrown by %s",
			finding->failing_thread ? finding->failing_thread : "a thread");
		if (frame && frame->file && !frame->is_system) {
			strbuf_addf(&title, " at %s:%u", base_name(frame->file), frame->line);
		}
	}
	if (is_said) {
		free(finding->title);
		finding->title = strbuf_detach(&title);
	}
}

void finding_sign_exit(struct finding *finding)
{
	const char *location = strstr(finding->title, ": ");
	const char *end = location ? strstr(location + 2, ": ") : NULL;
	uint64_t hash = 0;

	if (finding->kind != OUTCOME_EXIT)
		return;
	if (end)
		hash = hash_bytes(location, (size_t)(end - location));
	for (char **word = finding->argv; !end && word && *word; word++)
		hash = hash_pair(hash, hash_bytes(*word, strlen(*word)));
	finding->signature = hash_pair(finding->signature, hash);
}
