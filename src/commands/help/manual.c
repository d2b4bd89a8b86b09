#include "commands/help/manual.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

/* Escapes text that groff would take for commands. */
static void manual_print_text(FILE *stream, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\')
			(void)fputs("\\e", stream);
		else if (text[i] == '-')
			(void)fputs("\\-", stream);
		else if ((text[i] == '.' || text[i] == '\'') && (i == 0 || text[i - 1] == '\n'))
			(void)fprintf(stream, "\\&%c", text[i]);
		else
			(void)fputc(text[i], stream);
	}
}

static void manual_print_option(FILE *stream, const struct command_option *option)
{
	(void)fputs(".TP\n", stream);
	if (option->letter)
		(void)fprintf(stream, "\\fB\\-%c\\fR, ", option->letter);
	(void)fputs("\\fB\\-\\-", stream);
	manual_print_text(stream, option->name, strlen(option->name));
	(void)fputs("\\fR", stream);
	if (option->argument) {
		const bool may_lack = option->value.kind == VALUE_OPTIONAL_TEXT;

		(void)fputs(may_lack ? "[=\\fI" : "=\\fI", stream);
		manual_print_text(stream, option->argument, strlen(option->argument));
		(void)fputs(may_lack ? "\\fR]" : "\\fR", stream);
	}
	(void)fputc('\n', stream);
	manual_print_text(stream, option->help, strlen(option->help));
	(void)fputc('\n', stream);
}

static const struct {
	const char *command;
	const char *lines;
} examples[] = {
	{"run", "raddle run -- ./bank\n"
		"raddle run --time 10m -j 4 --keep-going -- ./bank --accounts 3\n"
		"raddle run --strategy pct,depth=3 --schedules 10000 -- ./bank\n"
		"raddle run --fail-on race -- ./bank\n"
		"raddle run --follow-children -- ./run-tests.sh\n"},
	{"test", "raddle test -- ./queue_tests\n"
		 "raddle test --time 10m --junit raddle.xml -- ./queue_tests\n"
		 "raddle test --list-command './t --names' --case-args '--only {}' -- ./t\n"},
	{"replay", "raddle replay F1\nraddle replay F1 --gdb\nraddle replay F1 --trace\n"},
	{"explain", "raddle explain F1\nraddle explain F1 --runs 500 --json\n"},
	{"predict", "raddle predict -- ./bank\nraddle predict --races --deadlocks -- ./bank\n"},
	{"branches", "raddle branches -- ./bank\nraddle branches --assertions -- ./bank\n"},
	{"report", "raddle report F1\nraddle report C1 --html > report.html\n"
		   "raddle report C1 --sarif > raddle.sarif\n"},
	{"list", "raddle list findings\nraddle list strategies\n"},
	{"merge", "raddle merge --store all shard-1 shard-2\n"},
	{"cc", "raddle-cc -g -O1 -pthread bank.c -o bank\n"
	       "CC=raddle-cc CXX=raddle-c++ ./configure && make\n"},
	{"c++", "raddle-c++ -g -O1 -pthread bank.cc -o bank\n"
		"CC=raddle-cc CXX=raddle-c++ cmake -S . -B build\n"},
	{"help", "raddle help run\nraddle help --man run | man -l -\n"},
	{"version", "raddle version\n"},
};

const char *manual_examples(const char *command)
{
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		if (strcmp(examples[i].command, command) == 0)
			return examples[i].lines;
	return "";
}

static void manual_print_escaped(FILE *stream, const char *text)
{
	manual_print_text(stream, text, strlen(text));
}

static void manual_print_paragraphs(FILE *stream, const char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		const size_t end = at + strcspn(text + at, "\n");
		const size_t line = (end < length ? end : length) - at;

		manual_print_text(stream, text + at, line);
		(void)fputs(at + line < length ? "\n.PP\n" : "\n", stream);
		at += line + 1;
	}
}

static void manual_print_head(FILE *stream, const char *name, const char *summary)
{
	char upper[64];
	size_t length = 0;

	for (; name[length] && length < sizeof upper - 1; length++)
		upper[length] = (char)toupper((unsigned char)name[length]);
	upper[length] = '\0';
	(void)fprintf(stream, ".TH %s 1 \"\" \"raddle %s\" \"User Commands\"\n.SH NAME\n", upper,
		RADDLE_RELEASE);
	manual_print_escaped(stream, name);
	(void)fputs(" \\- ", stream);
	manual_print_escaped(stream, summary);
	(void)fputc('\n', stream);
}

static void manual_print_examples(FILE *stream, const char *lines)
{
	(void)fputs(".SH EXAMPLES\n.nf\n", stream);
	manual_print_escaped(stream, lines);
	(void)fputs(".fi\n", stream);
}

static void manual_print_options(FILE *stream, const struct command_option *option)
{
	if (option_is_end(option))
		return;
	(void)fputs(".SH OPTIONS\n", stream);
	for (; !option_is_end(option); option++) {
		if (option->value.kind == VALUE_HIDDEN_FLAG)
			continue;
		if (option->name) {
			manual_print_option(stream, option);
			continue;
		}
		(void)fputs(".SS ", stream);
		manual_print_text(stream, option->help, strcspn(option->help, ":"));
		(void)fputc('\n', stream);
	}
}

void manual_print_command(FILE *stream, const struct command *command)
{
	const char *doc = command->doc ? command->doc : command->summary;
	const char *after = strchr(doc, '\v');
	const bool is_compiler = !strncmp(command->name, "c", 1);
	char name[64];

	(void)snprintf(name, sizeof name, "raddle-%s", command->name); /* names are short */
	manual_print_head(stream, name, command->summary);
	(void)fputs(".SH SYNOPSIS\n", stream);
	for (const char *form = command->usage ? command->usage : ""; form;) {
		const char *next = strchr(form, '\n'); /* argp's alternative usage lines */

		(void)fprintf(stream, "\\fB%s%s\\fR [\\fIOPTION\\fR...] ",
			is_compiler ? "raddle\\-" : "raddle ", command->name);
		manual_print_text(stream, form, next ? (size_t)(next - form) : strlen(form));
		(void)fputs(next ? "\n.br\n" : "\n", stream);
		form = next ? next + 1 : NULL;
	}
	(void)fputs(".SH DESCRIPTION\n", stream);
	manual_print_paragraphs(stream, doc, after ? (size_t)(after - doc) : strlen(doc));
	manual_print_options(stream, command->options);
	if (after) {
		(void)fputs(".SH NOTES\n", stream);
		manual_print_paragraphs(stream, after + 1, strlen(after + 1));
	}
	manual_print_examples(stream, manual_examples(command->name));
	(void)fputs(".SH SEE ALSO\n.BR raddle (1)\n", stream);
}

void manual_print(FILE *stream)
{
	manual_print_head(stream, "raddle", "find, replay, minimise and explain concurrency bugs");
	(void)fputs(
		".SH SYNOPSIS\n\\fBraddle\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] "
		"[\\fIARG\\fR...]\n"
		".SH DESCRIPTION\n"
		"raddle runs a multithreaded program under many schedules that it chooses itself, "
		"until one of them fails. It repeats that schedule, makes it as short as it can, "
		"and shows which thread did what, at which source line. The program needs no "
		"changes and no special build: it must be a dynamically linked x86\\-64 Linux "
		"program. Built by\n.BR raddle\\-cc (1)\n"
		"it also shows its accesses to memory.\n"
		".PP\nEach command has a page of its own.\n"
		".SH COMMANDS\n",
		stream);
	for (const struct command *const *command = commands; *command; command++) {
		(void)fputs(".TP\n.BR raddle\\-", stream);
		manual_print_escaped(stream, (*command)->name);
		(void)fputs(" (1)\n", stream);
		manual_print_escaped(stream, (*command)->summary);
		(void)fputc('\n', stream);
	}
	(void)fputs(
		".SH EXIT STATUS\n0: nothing was found, or a replay passed. 1: a failure was found, or happened again. 2: raddle could not work; standard error gives the reason.\n.SH ENVIRONMENT\n.TP\nNO_COLOR\nWhen set, nothing is coloured.\n.TP\nRADDLE_CLANG\nThe clang 19 that raddle\\-cc runs, where it is not in PATH.\n.SH FILES\n.TP\n.I .raddle/\nThe store in the working folder: raddle.db, and a folder for each finding with its schedule as text.\n",
		stream);
	manual_print_examples(
		stream, "raddle run -- ./bank\nraddle replay F1\nraddle explain F1\n");
	(void)fputs(".SH SEE ALSO\n", stream);
	for (const struct command *const *command = commands; *command; command++) {
		(void)fputs(".BR raddle\\-", stream);
		manual_print_escaped(stream, (*command)->name);
		(void)fprintf(stream, " (1)%s\n", command[1] ? "," : "");
	}
}
