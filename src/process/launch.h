/*
 * Starting a target: one process per call, as cheap as exec allows. The child gets a process group
 * of its own, dies with the command, has no address space randomisation and leaves no core file.
 */
#ifndef RADDLE_PROCESS_LAUNCH_H
#define RADDLE_PROCESS_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "process/target.h"

struct launch {
	const char *path;
	char *const *argv;
	char *const *environment;
	const char *directory;		 /* working folder; NULL: the command's */
	int input, output, error_output; /* become descriptors 0, 1 and 2 */
};

/* Returns the process id, or a negative error code. */
pid_t launch_process(const struct launch *launch, struct error *err);

/*
 * The environment of a target: the command's own, with the runtime first in LD_PRELOAD and
 * RADDLE_CONTRACT set. `runtime` NULL: nothing is preloaded. To be freed with
 * launch_environment_free.
 */
char **launch_environment(
	const struct target_traits *traits, const char *runtime, const char *contract_path);
void launch_environment_free(char **environment);

/*
 * The exit status of a target that says that its sanitizer has reported an error: TSan's own; ASan,
 * which would end with 1 like anything else, is told to use it as well. 0: it has no sanitizer.
 */
int launch_sanitizer_status(const struct target_traits *traits);

/* Path of libraddle.so: next to the command as built or as installed. To be freed. */
int launch_find_runtime(char **path, struct error *err);

#endif
