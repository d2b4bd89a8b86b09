#include "compiler/driver/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"

void arguments_add(struct arguments *arguments, const char *text)
{
	ARRAY_APPEND(arguments->items, arguments->count, string_copy(text));
	arguments->items = array_room(arguments->items, arguments->count, sizeof *arguments->items);
	arguments->items[arguments->count] = NULL;
}

void arguments_release(struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->count; i++)
		free(arguments->items[i]);
	free(arguments->items);
	*arguments = (struct arguments){0};
}

static bool arguments_is_one_of(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
}

bool arguments_takes_next(const char *option)
{
	static const char *const options[] = {"-o", "-x", "-I", "-D", "-U", "-L", "-l", "-T", "-u",
		"-z", "-e", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix",
		"-isysroot", "-MF", "-MT", "-MQ", "-Xlinker", "-Xassembler", "-Xpreprocessor",
		"-Xclang", "-mllvm", "--param", "-target", "-arch", "-aux-info", "-dumpbase",
		"-dumpdir", "-h", "-A", "-include-pch", "-rpath", "--sysroot", NULL};

	return arguments_is_one_of(option, options);
}

/* Returns whether the suffix is that of C, C++, Objective-C, preprocessed source or LLVM IR.
 * Assembler source does not count. */
static bool arguments_is_source(const char *input)
{
	static const char *const suffixes[] = {".c", ".i", ".cc", ".cp", ".cxx", ".cpp", ".CPP",
		".c++", ".C", ".ii", ".m", ".mi", ".mm", ".M", ".mii", ".bc", ".ll", NULL};
	const char *suffix = strrchr(input, '.');

	return suffix && arguments_is_one_of(suffix, suffixes);
}

static bool arguments_is_debug(const char *option)
{
	if (strncmp(option, "-g", 2) != 0)
		return false;
	/* -gcc-toolchain and similar options do not set a debug level. */
	return !option[2] || (option[2] >= '0' && option[2] <= '9') ||
	       strncmp(option, "-ggdb", 5) == 0 || strncmp(option, "-gdwarf", 7) == 0 ||
	       strncmp(option, "-gline", 6) == 0 || strncmp(option, "-gmlt", 5) == 0 ||
	       strncmp(option, "-gstabs", 7) == 0;
}

static void arguments_classify_option(const char *option, struct arguments_kind *kind)
{
	static const char *const stops[] = {
		"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-emit-pch", NULL};

	if (arguments_is_one_of(option, stops))
		kind->links = false;
	kind->names_debug |= arguments_is_debug(option);
	/* -x names the language, so an input with any suffix may be source code. */
	if (strncmp(option, "-x", 2) == 0)
		kind->compiles = true;
}

/* Linker options about unused sections. */
struct linking {
	bool gcs_sections;
	bool is_other;	   /* the linker is not GNU ld */
	bool has_a_script; /* the user passes a linker script, or links into a relocatable object */
};

static void arguments_classify_linking(const char *option, struct linking *linking)
{
	static const char *const others[] = {"-fuse-ld=bfd", "-fuse-ld=ld", NULL};
	static const char *const scripts[] = {"-T", "-r", "--relocatable", NULL};

	if (strncmp(option, "-fuse-ld=", 9) == 0)
		linking->is_other = !arguments_is_one_of(option, others);
	linking->is_other |= strncmp(option, "--ld-path=", 10) == 0;
	linking->gcs_sections |= strstr(option, "--gc-sections") != NULL;
	if (strstr(option, "--no-gc-sections"))
		linking->gcs_sections = false;
	linking->has_a_script |= arguments_is_one_of(option, scripts) || strstr(option, ",-T") ||
				 strstr(option, "--script");
}

struct arguments_kind arguments_classify(char *const *argv)
{
	struct arguments_kind kind = {.links = true};
	struct linking linking = {0};

	for (; *argv; argv++) {
		const char *argument = *argv;

		if (strcmp(argument, "-") == 0 || *argument == '@') {
			kind.compiles = kind.has_inputs = true;
		} else if (*argument == '-') {
			arguments_classify_option(argument, &kind);
			arguments_classify_linking(argument, &linking);
			if (strcmp(argument, "-Xlinker") == 0 && argv[1])
				arguments_classify_linking(argv[1], &linking);
			if (arguments_takes_next(argument) && argv[1])
				argv++;
		} else {
			kind.has_inputs = true;
			kind.compiles |= arguments_is_source(argument);
		}
	}
	kind.gcs_sections = linking.gcs_sections && !linking.is_other && !linking.has_a_script;
	return kind;
}
