#include "commands/help/completion.h"

#include <stdbool.h>
#include <string.h>

#include "cli/command.h"

/* Returns whether the option's value is a choice of words such as "shared|none|all". */
static bool completion_has_choices(const struct command_option *option)
{
	return option->argument && strchr(option->argument, '|') &&
	       !strpbrk(option->argument, "[], ");
}

#define STRATEGIES                                                                                 \
	"$(raddle list strategies 2> /dev/null | sed -n \"s/^\\([a-z][a-z_]*\\) .*/\\1/p\")"

static bool completion_is_strategy(const struct command_option *option)
{
	return option->name && strcmp(option->name, "strategy") == 0;
}

#define IDS_OF "$(raddle list %s 2> /dev/null | sed -n \"s/^\\(%c[0-9]*\\) .*/\\1/p\")"

/* Returns whether the command takes further arguments, by its usage line such as
 * "FINDING|CAMPAIGN|all". */
static bool completion_takes_words(const struct command *command)
{
	const char *words = command->usage ? command->usage : "";

	return !strncmp(words, "FINDING", strlen("FINDING")) ||
	       (strchr(words, '|') && !strchr(words, '['));
}

static void completion_print_words(FILE *stream, const char *words)
{
	while (*words) {
		const size_t length = strcspn(words, "|\n");

		if (length == strlen("FINDING") && !strncmp(words, "FINDING", length))
			(void)fprintf(stream, IDS_OF, "findings", 'F');
		else if (length == strlen("CAMPAIGN") && !strncmp(words, "CAMPAIGN", length))
			(void)fprintf(stream, IDS_OF, "campaigns", 'C');
		else
			(void)fprintf(stream, "%.*s", (int)length, words);
		words += length;
		if (*words++ != '|')
			break;
		(void)fputc(' ', stream);
	}
}

static bool completion_takes_program(const struct command *command)
{
	return command->usage && strstr(command->usage, "PROGRAM");
}

static void completion_print_bash_options(FILE *stream, const struct command *command)
{
	(void)fprintf(stream, "\t%s) options='--help", command->name);
	for (const struct command_option *option = command->options; !option_is_end(option);
		option++)
		if (option->name && option->value.kind != VALUE_HIDDEN_FLAG)
			(void)fprintf(stream, " --%s", option->name);
	(void)fputs("' ;;\n", stream);
}

static void completion_print_bash_choices(FILE *stream, const struct command *command)
{
	for (const struct command_option *option = command->options; !option_is_end(option);
		option++) {
		if (!option->name || !completion_has_choices(option))
			continue;
		(void)fprintf(stream, "\t%s\\ --%s) choices='", command->name, option->name);
		for (const char *at = option->argument; *at; at++)
			(void)fputc(*at == '|' ? ' ' : *at, stream);
		(void)fputs("' ;;\n", stream);
	}
	for (const struct command_option *option = command->options; !option_is_end(option);
		option++)
		if (completion_is_strategy(option))
			(void)fprintf(stream,
				"\t%s\\ --strategy | %s\\ -s) choices=" STRATEGIES " ;;\n",
				command->name, command->name);
}

static void completion_print_bash_arguments(FILE *stream)
{
	for (const struct command *const *command = commands; *command; command++)
		if (completion_takes_words(*command)) {
			(void)fprintf(stream, "\t%s) choices=\"", (*command)->name);
			completion_print_words(stream, (*command)->usage);
			(void)fputs("\" ;;\n", stream);
		}
	(void)fputs("\thelp) choices='", stream);
	for (const struct command *const *command = commands; *command; command++)
		(void)fprintf(stream, "%s%s", command == commands ? "" : " ", (*command)->name);
	(void)fputs("' ;;\n", stream);
}

static void completion_print_bash(FILE *stream)
{
	(void)fputs("# bash completion for raddle; made by: raddle help --completion=bash\n"
		    "_raddle()\n{\n"
		    "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
		    "\tlocal command=${COMP_WORDS[1]} options='' choices='' i\n"
		    "\tCOMPREPLY=()\n"
		    "\tif [ \"$COMP_CWORD\" -le 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '",
		stream);
	for (const struct command *const *command = commands; *command; command++)
		(void)fprintf(stream, "%s%s", command == commands ? "" : " ", (*command)->name);
	(void)fputs("' -- \"$word\"))\n\t\treturn\n\tfi\n"
		    "\t# --option=word comes as three words.\n"
		    "\t[ \"$word\" = = ] && word=''\n"
		    "\t[ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
		    "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
		    "\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
		    "\t\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\t\t\treturn\n\t\tfi\n\tdone\n"
		    "\tcase \"$command $before\" in\n",
		stream);
	for (const struct command *const *command = commands; *command; command++)
		completion_print_bash_choices(stream, *command);
	(void)fputs("\tesac\n\tif [ -n \"$choices\" ]; then\n"
		    "\t\tCOMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n\t\treturn\n\tfi\n"
		    "\tcase $command in\n",
		stream);
	for (const struct command *const *command = commands; *command; command++)
		completion_print_bash_options(stream, *command);
	(void)fputs("\tesac\n\tif [[ $word == -* ]]; then\n"
		    "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n\t\treturn\n\tfi\n"
		    "\tcase $command in\n",
		stream);
	completion_print_bash_arguments(stream);
	(void)fputs("\tesac\n\tif [ -n \"$choices\" ]; then\n"
		    "\t\tCOMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
		    "\telse\n\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\tfi\n"
		    "}\ncomplete -o filenames -F _raddle raddle\n",
		stream);
}

static void completion_print_zsh_text(FILE *stream, const char *text)
{
	for (; *text && *text != '\v'; text++) {
		if (*text == '\'')
			(void)fputs("'\\''", stream);
		else if (strchr("[]:\\", *text))
			(void)fprintf(stream, "\\%c", *text);
		else
			(void)fputc(*text == '\n' ? ' ' : *text, stream);
	}
}

static const char *completion_zsh_action(const struct command_option *option)
{
	static const struct {
		const char *word, *action;
	} actions[] = {{"FILE", "_files"}, {"FILE...", "_files"}, {"DIR", "_files -/"},
		{"PROGRAM", "_files"}, {"PROGRAM [LIBRARY...]", "_files"},
		{"COMPILER", "_command_names -e"}, {"CMD", "_command_names -e"}};

	if (completion_is_strategy(option))
		return "(" STRATEGIES ")";
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (strcmp(option->argument, actions[i].word) == 0)
			return actions[i].action;
	return " ";
}

static void completion_print_zsh_value(FILE *stream, const struct command_option *option)
{
	(void)fputs(option->value.kind == VALUE_OPTIONAL_TEXT ? "::" : ":", stream);
	completion_print_zsh_text(stream, option->argument);
	if (!completion_has_choices(option)) {
		(void)fprintf(stream, ":%s'", completion_zsh_action(option));
		return;
	}
	(void)fputs(":(", stream);
	for (const char *at = option->argument; *at; at++)
		(void)fputc(*at == '|' ? ' ' : *at, stream);
	(void)fputs(")'", stream);
}

static void completion_print_zsh_option(FILE *stream, const struct command_option *option)
{
	const char *joint = option->value.kind == VALUE_OPTIONAL_TEXT ? "=-" : "=";

	if (option->value.kind == VALUE_HIDDEN_FLAG)
		return;
	(void)fprintf(stream, " \\\n\t\t\t'--%s%s[", option->name, option->argument ? joint : "");
	completion_print_zsh_text(stream, option->help);
	(void)fputc(']', stream);
	if (option->argument)
		completion_print_zsh_value(stream, option);
	else
		(void)fputc('\'', stream);
	if (!option->letter)
		return;
	(void)fprintf(stream, " \\\n\t\t\t'-%c%s[", option->letter, option->argument ? "+" : "");
	completion_print_zsh_text(stream, option->help);
	(void)fputc(']', stream);
	if (option->argument)
		completion_print_zsh_value(stream, option);
	else
		(void)fputc('\'', stream);
}

static void completion_print_zsh_command(FILE *stream, const struct command *command)
{
	(void)fprintf(stream, "\t%s)\n\t\t_arguments", command->name);
	for (const struct command_option *option = command->options; !option_is_end(option);
		option++)
		if (option->name)
			completion_print_zsh_option(stream, option);
	if (completion_takes_program(command))
		(void)fputs(
			" \\\n\t\t\t'(-):program:_command_names -e' '*::argument:_normal'", stream);
	else if (completion_takes_words(command)) {
		(void)fputs(" \\\n\t\t\t'*:which:(", stream);
		completion_print_words(stream, command->usage);
		(void)fputs(")'", stream);
	} else if (strcmp(command->name, "help") == 0)
		(void)fputs(" \\\n\t\t\t'1: :{_describe command names}'", stream);
	else
		(void)fputs(" \\\n\t\t\t'*:argument:_files'", stream);
	(void)fputs(" ;;\n", stream);
}

static void completion_print_zsh(FILE *stream)
{
	(void)fputs(
		"#compdef raddle\n# zsh completion for raddle; made by: raddle help --completion=zsh\n"
		"_raddle()\n{\n\tlocal -a names\n\tnames=(\n",
		stream);
	for (const struct command *const *command = commands; *command; command++) {
		(void)fprintf(stream, "\t\t'%s:", (*command)->name);
		completion_print_zsh_text(stream, (*command)->summary);
		(void)fputs("'\n", stream);
	}
	(void)fputs(
		"\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command names\n\t\treturn\n\tfi\n"
		"\tlocal name=${words[2]}\n\tshift words\n\t(( CURRENT-- ))\n\tcase $name in\n",
		stream);
	for (const struct command *const *command = commands; *command; command++)
		completion_print_zsh_command(stream, *command);
	(void)fputs("\tesac\n}\n_raddle \"$@\"\n", stream);
}

int completion_print(const char *shell, FILE *stream)
{
	if (strcmp(shell, "bash") == 0)
		completion_print_bash(stream);
	else if (strcmp(shell, "zsh") == 0)
		completion_print_zsh(stream);
	else
		return -1;
	return 0;
}
