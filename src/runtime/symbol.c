/* Looking up what lies behind our interposition. Runs in any thread of the target. */
#include <dlfcn.h>
#include <sys/syscall.h>

#include "base/bug.h"
#include "runtime/interpose.h"

void *runtime_next_symbol(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	BUG_ON(!symbol);
	return symbol;
}

void *runtime_symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}
