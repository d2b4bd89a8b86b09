/*
 * Examines the program under test before its start. Raddle can control an executable, dynamically
 * linked x86-64 ELF file without special rights. The traits name libraries that need special
 * settings. The ELF reader accepts arbitrary bytes and is fuzzed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* How the program calls ThreadSanitizer's functions. */
enum target_tsan {
	TSAN_NONE,
	TSAN_SERVED,   /* raddle's definitions take the place of the runtime */
	TSAN_NO_NAMES, /* contains a runtime, and no symbols that name its functions */
	TSAN_OTHER,    /* needs a shared library other than libtsan.so.2 */
};

struct target_traits {
	char loader[256]; /* the program interpreter, such as /lib64/ld-linux-x86-64.so.2 */
	bool has_address_sanitizer; /* linked with ASan, statically or not */
	enum target_tsan tsan;
	bool has_fixed_address; /* not position-independent */
	bool has_gnu_openmp;	/* linked with libgomp, which spins unless configured */
	bool has_sites;		/* compiled by raddle-cc of this release */
	bool has_debug;		/* contains debug information, or the name of a file with it */
};

struct target {
	char *path; /* path for execve */
	struct target_traits traits;
};

/* Finds the program like execvp. Errors: ERROR_TARGET, ERROR_NOTFOUND. Release with
 * target_release. */
int target_find(struct target *target, const char *name, struct error *err);
void target_release(struct target *target);
/* Returns whether the program, found like execvp, is a script with an interpreter line. */
bool target_is_script(const char *name);

/* Computes a hash of the file's bytes, never 0: it differs between builds. Shared libraries are not
 * included. */
int target_fingerprint(const struct target *target, uint64_t *fingerprint, struct error *err);

/* Checks the bytes of an executable file, and fills the traits. `path` is for messages. */
int target_read_elf(const void *bytes, size_t size, const char *path, struct target_traits *traits,
	struct error *err);
