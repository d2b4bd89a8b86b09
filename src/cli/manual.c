#include "cli/manual.h"

#include <string.h>

#include "cli/command.h"

/* Text with what groff would take for commands escaped. */
static void print_text(FILE *stream, const char *text, size_t length)
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

static void print_option(FILE *stream, const struct argp_option *option)
{
	(void)fputs(".TP\n", stream);
	if (option->key > 0 && option->key < 256)
		(void)fprintf(stream, "\\fB\\-%c\\fR, ", option->key);
	(void)fputs("\\fB\\-\\-", stream);
	print_text(stream, option->name, strlen(option->name));
	(void)fputs("\\fR", stream);
	if (option->arg) {
		(void)fputs("=\\fI", stream);
		print_text(stream, option->arg, strlen(option->arg));
		(void)fputs("\\fR", stream);
	}
	(void)fputc('\n', stream);
	print_text(stream, option->doc, strlen(option->doc));
	(void)fputc('\n', stream);
}

static void print_command(FILE *stream, const struct command *command)
{
	const struct argp *argp = command->argp;
	const char *doc = argp->doc ? argp->doc : command->summary;
	const char *after = strchr(doc, '\v');

	(void)fprintf(stream, ".SS raddle %s", command->name);
	if (argp->args_doc) {
		(void)fputs(" [OPTION...] ", stream);
		print_text(stream, argp->args_doc, strlen(argp->args_doc));
	}
	(void)fputc('\n', stream);
	print_text(stream, doc, after ? (size_t)(after - doc) : strlen(doc));
	(void)fputc('\n', stream);
	for (const struct argp_option *option = argp->options;
		option && (option->name || option->doc || option->key); option++) {
		if (option->name) {
			print_option(stream, option);
		} else {
			(void)fputs(".PP\n", stream);
			print_text(stream, option->doc, strlen(option->doc));
			(void)fputc('\n', stream);
		}
	}
	if (after) {
		(void)fputs(".PP\n", stream);
		print_text(stream, after + 1, strlen(after + 1));
		(void)fputc('\n', stream);
	}
}

void manual_print(FILE *stream)
{
	(void)fprintf(stream,
		".TH RADDLE 1 \"\" \"raddle %s\" \"User Commands\"\n"
		".SH NAME\nraddle \\- find, replay, minimise and explain concurrency bugs\n"
		".SH SYNOPSIS\n\\fBraddle\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] "
		"[\\fIARG\\fR...]\n"
		".SH DESCRIPTION\n"
		"raddle runs a multithreaded program under many schedules that it chooses itself, "
		"until one of them fails. It repeats that schedule, makes it as short as it can, "
		"and shows which thread did what, at which source line. The program needs no "
		"changes and no special build: it must be a dynamically linked x86\\-64 Linux "
		"program.\n"
		".SH COMMANDS\n",
		RADDLE_RELEASE);
	for (const struct command *const *command = commands; *command; command++)
		print_command(stream, *command);
	(void)fputs(
		".SH EXIT STATUS\n"
		"0: nothing was found, or a replay passed. 1: a failure was found, or happened "
		"again. 2: raddle could not do its work; standard error says why.\n"
		".SH ENVIRONMENT\n.TP\nNO_COLOR\nWhen set, nothing is coloured.\n"
		".SH FILES\n.TP\n\\&.raddle/\nThe store in the working folder: raddle.db, and a "
		"folder for each finding with its schedule as text.\n"
		".SH EXAMPLES\n.nf\n"
		"raddle run \\-\\- ./bank\nraddle run \\-s pct,depth=3 \\-\\-schedules 10000 "
		"\\-\\- ./bank\nraddle replay F1\nraddle replay F1 \\-\\-gdb\n.fi\n",
		stream);
}
