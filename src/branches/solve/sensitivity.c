/* The command's side of sensitivity.h: loads libraddle-branches.so. */
#include "branches/solve/sensitivity.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/files/installed.h"

/* The library stays loaded, as LLVM does not support unloading. */
const struct sensitivity_library *sensitivity;

int sensitivity_load(struct error *err)
{
	static const struct installed_library library = {"libraddle-branches.so",
		"the packages libllvm19 and libz3-4", SENSITIVITY_ENTRY, RTLD_LOCAL};
	sensitivity_entry *entry;
	int status = sensitivity ? 0 : installed_load(&library, &entry, err);

	if (!sensitivity && status == 0)
		sensitivity = entry(bug_report);
	return status;
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
