/*
 * Link-time optimisation (-flto). Source files are compiled without it. The pass works on one unit.
 * Optimisations at link time would inline functions across units and merge variables, and the
 * program would no longer match the bitcode in it. There is also little to gain, because the
 * instrumentation points must stay.
 *
 * Objects from elsewhere may still be bitcode. Linkers of clang's version can read such objects:
 * clang's own lld, or another linker with clang's plugin.
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "compiler/driver/arguments.h"
#include "compiler/driver/compile.h"

bool compile_is_lld(const char *option)
{
	return strcmp(option, "-fuse-ld=lld") == 0;
}

/* Returns the path of a file of clang's installation, which the caller frees; NULL if not found. */
static char *lto_file_beside(const char *clang, const char *name)
{
	FREE_SCOPED char *real = realpath(clang, NULL);
	STRBUF_SCOPED path = STRBUF_EMPTY;

	if (!real)
		return NULL;
	strbuf_addf(&path, "%s/%s", dirname(real), name);
	return access(path.text, R_OK) == 0 ? strbuf_detach(&path) : NULL;
}

/* Returns the version of the lld that clang uses: its own, or the one in PATH. 0: none, which clang
 * reports. */
static int lto_lld_version(const char *clang)
{
	FREE_SCOPED char *lld = lto_file_beside(clang, "ld.lld");
	int version = 0;

	if (!lld)
		lld = compile_find_program("ld.lld");
	if (lld)
		version = compile_ask_version(lld, "LLD ");
	return version;
}

static bool lto_needs(const char *option)
{
	return strncmp(option, "-fsanitize=cfi", 14) == 0 || strstr(option, ",cfi") ||
	       strcmp(option, "-fwhole-program-vtables") == 0 ||
	       strcmp(option, "-fvirtual-function-elimination") == 0 ||
	       strncmp(option, "-fthinlto-index=", 16) == 0;
}

bool compile_drop_lto(char **argv)
{
	char **to = argv;
	bool is_dropped = false;

	for (char **from = argv; *from; from++)
		if (lto_needs(*from))
			return false;
	for (char **from = argv; *from; from++) {
		const bool takes_next = arguments_takes_next(*from) && from[1];

		if (strncmp(*from, "-flto", 5) == 0 || strcmp(*from, "-funified-lto") == 0) {
			is_dropped = true;
			continue;
		}
		*to++ = *from;
		if (takes_next)
			*to++ = *++from;
	}
	*to = NULL;
	return is_dropped;
}

char *compile_find_plugin(const char *clang)
{
	return lto_file_beside(clang, "../lib/LLVMgold.so");
}

enum compile_lto compile_judge_lto(const char *clang, char *const *argv, int *version)
{
	bool is_lto = false;
	bool is_lld = false;
	bool is_named = false;
	bool has_plugin;
	FREE_SCOPED char *plugin = NULL;

	for (; *argv; argv++) {
		if (strcmp(*argv, "-flto") == 0 || strncmp(*argv, "-flto=", 6) == 0)
			is_lto = true;
		else if (strcmp(*argv, "-fno-lto") == 0)
			is_lto = false;
		else if (strncmp(*argv, "-fuse-ld=", 9) == 0)
			is_lld = compile_is_lld(*argv);
		is_named |= strncmp(*argv, "--ld-path=", 10) == 0;
	}
	*version = 0;
	if (!is_lto || is_named) /* --ld-path: the user has chosen the linker deliberately */
		return LTO_FITS;
	plugin = compile_find_plugin(clang);
	has_plugin = plugin != NULL;
	if (!is_lld)
		return has_plugin ? LTO_FITS : LTO_NO_PLUGIN;
	*version = lto_lld_version(clang);
	if (*version == 0 || *version >= COMPILE_CLANG_VERSION)
		return LTO_FITS;
	return has_plugin ? LTO_OLD_LLD : LTO_OLD_LLD_ONLY;
}
