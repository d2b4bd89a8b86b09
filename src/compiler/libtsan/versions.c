/*
 * Functions of which libc has several versions. ThreadSanitizer's library exports them without a
 * version, so a program linked with it refers to no version, for which the loader takes libc's oldest
 * one: a realpath() that allocates nothing, a sched_getaffinity() with two arguments. These functions
 * call the version that a program gets without ThreadSanitizer. What the runtime interposes never
 * arrives here.
 */
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

/* Defines function `name`, which calls the function of that name and `version` in libc. If libc has no such
 * version, the function returns `failure`. */
#define VERSION(type, name, version, failure, parameters, arguments)                               \
	__attribute__((visibility("default"))) type name parameters                                \
	{                                                                                          \
		static __typeof__(&name) next;                                                     \
                                                                                                   \
		if (!next)                                                                         \
			next = (__typeof__(&name))dlvsym(RTLD_NEXT, #name, version);               \
		return next ? next arguments : failure;                                            \
	}

VERSION(char *, realpath, "GLIBC_2.3", NULL, (const char *restrict path, char *restrict resolved),
	(path, resolved))
VERSION(int, glob, "GLIBC_2.27", GLOB_ABORTED,
	(const char *restrict pattern, int flags, int (*on_error)(const char *, int),
		glob_t *restrict found),
	(pattern, flags, on_error, found))
VERSION(int, glob64, "GLIBC_2.27", GLOB_ABORTED,
	(const char *restrict pattern, int flags, int (*on_error)(const char *, int),
		glob64_t *restrict found),
	(pattern, flags, on_error, found))
VERSION(FILE *, fmemopen, "GLIBC_2.22", NULL, (void *buffer, size_t size, const char *mode),
	(buffer, size, mode))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvla" /* <regex.h> declares regexec() with such an array */
VERSION(int, regexec, "GLIBC_2.3.4", REG_ESPACE,
	(const regex_t *restrict pattern, const char *restrict text, size_t count,
		regmatch_t matches[restrict count], int flags),
	(pattern, text, count, matches, flags))
#pragma GCC diagnostic pop
VERSION(int, sched_getaffinity, "GLIBC_2.3.4", -1, (pid_t process, size_t size, cpu_set_t *set),
	(process, size, set))
VERSION(int, pthread_attr_getaffinity_np, "GLIBC_2.3.4", -1,
	(const pthread_attr_t *attributes, size_t size, cpu_set_t *set), (attributes, size, set))
VERSION(int, posix_spawn, "GLIBC_2.15", -1,
	(pid_t *restrict process, const char *restrict path,
		const posix_spawn_file_actions_t *restrict actions,
		const posix_spawnattr_t *restrict attributes, char *const *restrict arguments,
		char *const *restrict environment),
	(process, path, actions, attributes, arguments, environment))
VERSION(int, posix_spawnp, "GLIBC_2.15", -1,
	(pid_t *restrict process, const char *restrict file,
		const posix_spawn_file_actions_t *restrict actions,
		const posix_spawnattr_t *restrict attributes, char *const *restrict arguments,
		char *const *restrict environment),
	(process, file, actions, attributes, arguments, environment))
