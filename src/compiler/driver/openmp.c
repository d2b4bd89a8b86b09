/* -fopenmp: clang's omp.h and library are a separate package, installable in one version only. */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "compiler/driver/compile.h"

static bool openmp_has_header(const char *folder)
{
	STRBUF_SCOPED path = STRBUF_EMPTY;

	strbuf_addf(&path, "%s/omp.h", folder);
	return access(path.text, R_OK) == 0;
}

static bool openmp_clang_has_header(const char *clang)
{
	FREE_SCOPED char *real = realpath(clang, NULL);
	STRBUF_SCOPED folder = STRBUF_EMPTY;

	if (!real)
		return true; /* unknown: no warning */
	strbuf_addf(&folder, "%s/../lib/clang/19/include", dirname(real));
	return openmp_has_header(folder.text);
}

/* Returns the folder of -Ifolder or -I folder; NULL for another option. */
static const char *openmp_folder_of(char *const *option)
{
	static const char *const options[] = {"-I", "-isystem", "-idirafter"};

	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		const size_t length = strlen(options[i]);

		if (strncmp(*option, options[i], length) == 0)
			return (*option)[length] ? *option + length : option[1];
	}
	return NULL;
}

bool compile_lacks_openmp(const char *clang, char *const *argv)
{
	bool is_wanted = false;

	for (; *argv; argv++) {
		const char *folder = openmp_folder_of(argv);

		if (strcmp(*argv, "-fopenmp") == 0 || strcmp(*argv, "-fopenmp=libomp") == 0)
			is_wanted = true;
		else if (strcmp(*argv, "-fno-openmp") == 0)
			is_wanted = false;
		else if (folder && openmp_has_header(folder))
			return false;
	}
	return is_wanted && !openmp_clang_has_header(clang);
}
