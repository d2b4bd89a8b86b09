/* Links C++ programs with raddle's parts of libstdc++ (src/compiler/libstdcxx). */
#include <string.h>

#include "base/array.h"
#include "base/files/installed.h"
#include "compiler/driver/arguments.h"
#include "compiler/driver/compile.h"

/* Returns whether the option excludes raddle's parts: another or no standard library, another
 * architecture, a relocatable link. */
static bool stdcxx_is_against(const char *option)
{
	static const char *const options[] = {"-stdlib=libc++", "-nostdlib", "-nostdlib++",
		"-nodefaultlibs", "-r", "--relocatable", "-Wl,-r", "-Wl,--relocatable", "-m32",
		"-mx32", "-", "--", NULL};

	for (const char *const *at = options; *at; at++)
		if (strcmp(option, *at) == 0)
			return true;
	return strncmp(option, "--target=", 9) == 0;
}

void compile_add_stdcxx(
	struct arguments *command, const struct arguments_kind *kind, char *const *argv)
{
	struct error err;
	FREE_SCOPED char *library = NULL;

	if (!kind->links || !kind->has_inputs)
		return;
	for (char *const *at = argv; *at; at++)
		if (stdcxx_is_against(*at))
			return;
	/* raddle may have been built without the library: then the program uses libstdc++ unchanged. */
	if (installed_find("libraddle-stdcxx.a", &library, &err) < 0)
		return;
	arguments_add(command, "--start-no-unused-arguments");
	arguments_add(command, "-Xlinker"); /* -Xlinker, so that -x does not apply to the library */
	arguments_add(command, library);
	arguments_add(command, "--end-no-unused-arguments");
}
