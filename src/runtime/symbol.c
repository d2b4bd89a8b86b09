/* Looking up what lies behind our interposition. Runs in any thread of the target. */
#include <dlfcn.h>
#include <sys/syscall.h>

#include "base/bug.h"
#include "runtime/interpose.h"

/*
 * Tests that are linked with libraddle-check.so have the functions that we interpose a second time, behind us.
 * That library then stands back, and says what lies behind it. Written once, by the first look-up.
 */
typedef void *symbol_behind(const char *name);
static struct {
	bool is_known;
	symbol_behind *behind_check; /* NULL: it is not there */
} symbols;

/* First slot, and behind the last one, from the linker. */
extern struct symbol_slot __start_raddle_symbols[] __attribute__((visibility("hidden")));
extern struct symbol_slot __stop_raddle_symbols[] __attribute__((visibility("hidden")));

static void *symbol_look_up(const char *name)
{
	if (!symbols.is_known) {
		symbols.is_known =
			true; /* a look-up that fails may allocate, and come here again */
		*(void **)&symbols.behind_check = dlsym(RTLD_NEXT, "raddle_check_next_symbol");
	}
	return symbols.behind_check ? symbols.behind_check(name) : dlsym(RTLD_NEXT, name);
}

void *runtime_next_symbol(const char *name)
{
	void *symbol = symbol_look_up(name);

	BUG_ON(!symbol);
	return symbol;
}

void *runtime_symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

void runtime_find_symbols(void)
{
	for (struct symbol_slot *slot = __start_raddle_symbols; slot < __stop_raddle_symbols;
		slot++)
		if (!slot->function)
			slot->function =
				symbol_look_up(slot->name); /* NULL: libstdc++ is not there */
	/* A look-up that succeeds clears the error of those that failed. */
	(void)symbol_look_up("free");
}
