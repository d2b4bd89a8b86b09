#include "compiler/driver/compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/installed.h"
#include "base/strbuf.h"
#include "compiler/driver/arguments.h"

void compile_take_options(char *const *argv, struct compile_options *options, char ***argv_left)
{
	size_t count = 0;
	char **left;

	while (argv[count])
		count++;
	left = array_new(count + 1, sizeof *left);
	count = 0;
	for (; *argv; argv++) {
		if (strcmp(*argv, "--warn-opaque") == 0) {
			options->warns_opaque = true;
			continue;
		}
		if (strcmp(*argv, "--native") == 0) {
			options->has_native = true;
			continue;
		}
		left[count++] = *argv;
		if (arguments_takes_next(*argv) && argv[1])
			left[count++] = *++argv;
	}
	*argv_left = left;
}

static int compile_set_for_pass(const char *name, struct error *err)
{
	return setenv(name, "1", 1) == 0 ? 0 : error_set(err, ERROR_NOMEM, "out of memory");
}

static int execute(char **argv, struct error *err)
{
	(void)execvp(argv[0], argv);
	return error_set(err, ERROR_MISSING, "%s cannot be run (%s); is it installed?", argv[0],
		strerror(errno));
}

/* Adds the options of the pass before the user's options, which thus take precedence. clang must
 * not warn of unused ones. */
static int compile_add_pass(
	struct arguments *command, const struct arguments_kind *kind, struct error *err)
{
	STRBUF_SCOPED option = STRBUF_EMPTY;
	FREE_SCOPED char *pass = NULL;
	int result;

	if (!kind->compiles)
		return 0;
	result = installed_find("libraddle-pass.so", &pass, err);
	if (result < 0)
		return result;
	strbuf_addf(&option, "-fpass-plugin=%s", pass);
	arguments_add(command, "--start-no-unused-arguments");
	arguments_add(command, option.text);
	if (!kind->names_debug)
		arguments_add(command, "-g");
	/* Full debug information also for classes that another library defines: reports show member
	 * names. */
	arguments_add(command, "-fstandalone-debug");
	arguments_add(command, "-fno-discard-value-names"); /* names of locals, for --points-to */
	arguments_add(command, "--end-no-unused-arguments");
	return 0;
}

/* Compresses the debug information of a linked file, before the user's options (-gz=none). It is half
 * of the file, and debuggers and raddle read it only when they describe code. */
static void compile_add_compression(struct arguments *command, const struct arguments_kind *kind)
{
	if (!kind->links)
		return;
	arguments_add(command, "--start-no-unused-arguments");
	arguments_add(command, "-gz");
	arguments_add(command, "--end-no-unused-arguments");
}

/* Adds the linker script that sites.ld explains. */
static int compile_add_script(
	struct arguments *command, const struct arguments_kind *kind, struct error *err)
{
	FREE_SCOPED char *script = NULL;
	int result;

	if (!kind->links || !kind->gcs_sections)
		return 0;
	result = installed_find("sites.ld", &script, err);
	if (result < 0)
		return result;
	arguments_add(command, "-Xlinker");
	arguments_add(command, "-T");
	arguments_add(command, "-Xlinker");
	arguments_add(command, script);
	return 0;
}

/* Adds clang's linker plugin. The link has lost -flto, but objects may be bitcode and options meant
 * for the plugin. */
static void compile_add_plugin(struct arguments *command, const char *clang, char *const *argv)
{
	FREE_SCOPED char *plugin = compile_find_plugin(clang);
	bool is_other = plugin != NULL;

	for (; *argv; argv++)
		if (strncmp(*argv, "-fuse-ld=", 9) == 0)
			is_other = plugin && !compile_is_lld(*argv);
	if (is_other) {
		arguments_add(command, "-Xlinker");
		arguments_add(command, "-plugin");
		arguments_add(command, "-Xlinker");
		arguments_add(command, plugin);
	}
}

/* Removes from `left` a linker that is too old, with a note. Fails if no other linker can do the
 * link. */
static int compile_choose_linker(
	const char *clang, char **left, void (*note)(const char *text), struct error *err)
{
	int version;
	const enum compile_lto lto = compile_judge_lto(clang, left, &version);
	char **to = left;
	STRBUF_SCOPED text = STRBUF_EMPTY;

	if (lto == LTO_NO_PLUGIN)
		note("-flto needs the linker plugin of clang 19, which is not there; install it "
		     "(apt-get install llvm-19-linker-tools)");
	if (lto == LTO_OLD_LLD_ONLY)
		return error_set(err, ERROR_MISSING,
			"ld.lld is of version %d and cannot read what clang %d makes with -flto; install "
			"its own (apt-get install lld-%d)",
			version, COMPILE_CLANG_VERSION, COMPILE_CLANG_VERSION);
	if (lto != LTO_OLD_LLD)
		return 0;
	strbuf_addf(&text,
		"ld.lld is of version %d and cannot read what clang %d makes with -flto: the standard "
		"linker is used; for lld install its own (apt-get install lld-%d)",
		version, COMPILE_CLANG_VERSION, COMPILE_CLANG_VERSION);
	note(text.text);
	for (char **from = left; *from; from++)
		if (!compile_is_lld(*from))
			*to++ = *from;
	*to = NULL;
	return 0;
}

static int compile_run_clang(const struct compile_options *options, char **argv,
	void (*note)(const char *text), struct error *err)
{
	struct arguments_kind kind = arguments_classify(argv);
	struct arguments command = {0};
	char *const *at;
	const bool has_dropped_lto = kind.compiles && compile_drop_lto(argv);
	FREE_SCOPED char *clang = NULL;
	int result = compile_find_clang(&clang, err);

	if (result < 0)
		return result;
	if ((kind.compiles || kind.links) && compile_lacks_openmp(clang, argv))
		note("-fopenmp needs the OpenMP of clang 19, which is not there; install it "
		     "(apt-get install libomp-19-dev)");
	if (kind.links && kind.has_inputs)
		result = compile_choose_linker(clang, argv, note, err);
	kind = arguments_classify(argv);
	arguments_add(&command, clang);
	if (options->is_cxx)
		arguments_add(&command, "--driver-mode=g++");
	if (result == 0)
		result = compile_add_pass(&command, &kind, err);
	if (result == 0)
		result = compile_add_script(&command, &kind, err);
	compile_add_compression(&command, &kind);
	if (has_dropped_lto && kind.links)
		compile_add_plugin(&command, clang, argv);
	for (at = argv; *at; at++)
		arguments_add(&command, *at);
	if (options->is_cxx)
		compile_add_stdcxx(&command, &kind, argv);
	if (result == 0 && options->warns_opaque)
		result = compile_set_for_pass("RADDLE_WARN_OPAQUE", err);
	if (result == 0 && options->has_native)
		result = compile_set_for_pass("RADDLE_NATIVE", err);
	if (result == 0)
		result = execute(command.items, err);
	arguments_release(&command);
	return result;
}

int compile_execute(const struct compile_options *options, char **argv,
	void (*note)(const char *text), struct error *err)
{
	struct arguments opened;
	FREE_SCOPED char **words = NULL;
	int result;

	/* Response files that contain options to be removed are expanded. */
	if (!compile_open_files(argv, &opened))
		return compile_run_clang(options, argv, note, err);
	/* compile_run_clang() removes words from this copy */
	words = array_new(opened.count + 1, sizeof *words);
	memcpy(words, opened.items, opened.count * sizeof *words);
	result = compile_run_clang(options, words, note, err);
	arguments_release(&opened);
	return result;
}
