/* The command's side of sensitivity.h: loads libraddle-branches.so. */
#include "branches/solve/sensitivity.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/installed.h"

#define LIBRARY "libraddle-branches.so"

/* The library stays loaded, as LLVM does not support unloading. */
static const struct sensitivity_library *loaded;

static int sensitivity_load(struct error *err)
{
	sensitivity_entry *entry;
	char *path;
	void *library;

	if (loaded)
		return 0;
	if (installed_find(LIBRARY, &path, err))
		return err ? err->code : ERROR_MISSING;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	free(path);
	if (!library)
		return error_set(err, ERROR_MISSING,
			"cannot load %s (%s); install the packages libllvm19 and libz3-4", LIBRARY,
			dlerror());
	/* POSIX, unlike ISO C, allows this conversion to a function pointer. */
	*(void **)&entry = dlsym(library, SENSITIVITY_ENTRY);
	if (!entry)
		return error_set(err, ERROR_VERSION,
			"%s is of another raddle; install raddle again", LIBRARY);
	loaded = entry(bug_report);
	return 0;
}

int sensitivity_open(struct sensitivity **out, const struct run_record *record, const char *program,
	const struct sensitivity_options *options, struct error *err)
{
	const int status = sensitivity_load(err);

	*out = NULL;
	return status < 0 ? status : loaded->open(out, record, program, options, err);
}

bool sensitivity_next(struct sensitivity *analysis, struct sensitive_candidate *out)
{
	return loaded->next(analysis, out);
}

enum sensitivity_verdict sensitivity_check(
	struct sensitivity *analysis, const struct run_record *run)
{
	return loaded->check(analysis, run);
}

void sensitivity_interleavings(struct sensitivity *analysis, const struct run_record *run,
	struct sensitive_interleaving out[SENSITIVE_RUNS])
{
	loaded->interleavings(analysis, run, out);
}

void sensitive_interleaving_release(struct sensitive_interleaving *interleaving)
{
	for (uint32_t i = 0; i < interleaving->count; i++) {
		free(interleaving->steps[i].object);
		free(interleaving->steps[i].value);
		free(interleaving->steps[i].function);
		free(interleaving->steps[i].file);
		free(interleaving->steps[i].directory);
	}
	free(interleaving->steps);
	*interleaving = (struct sensitive_interleaving){0};
}

void sensitivity_settle(struct sensitivity *analysis, enum sensitivity_verdict verdict)
{
	loaded->settle(analysis, verdict);
}

void sensitivity_hurry(struct sensitivity *analysis, uint64_t time_ns)
{
	loaded->hurry(analysis, time_ns);
}

void sensitivity_figures(struct sensitivity *analysis, struct sensitivity_figures *out)
{
	loaded->figures(analysis, out);
}

bool sensitivity_plan_run(struct sensitivity *analysis, struct sensitive_trial *out)
{
	return loaded->plan_run(analysis, out);
}

void sensitivity_take_run(struct sensitivity *analysis, const struct sensitive_run *run)
{
	loaded->take_run(analysis, run);
}

const uint64_t *sensitivity_accesses(struct sensitivity *analysis)
{
	return loaded->accesses(analysis);
}

bool sensitivity_observe(struct sensitivity *analysis, const struct run_record *run)
{
	return loaded->observe(analysis, run);
}

bool sensitivity_observed(
	struct sensitivity *analysis, uint32_t number, struct sensitive_observation *out)
{
	return loaded->observed(analysis, number, out);
}

bool sensitivity_close(struct sensitivity *analysis)
{
	return !analysis || loaded->close(analysis);
}
