/*
 * Replaces runtime/life/attach.c: this library is linked with the program, and no command drives
 * it. If the command's runtime is loaded too, that one precedes and controls the process; then this
 * library does nothing.
 */
#include "runtime/attach.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

struct contract *attach_contract(void)
{
	return NULL;
}

void attach_clean_environment(char **environment)
{
	(void)environment; /* contains no variables of ours */
}

/* Called by the command's runtime: src/runtime/life/symbol.c. */
__attribute__((visibility("default"))) void *raddle_check_next_symbol(const char *name);
void *raddle_check_next_symbol(const char *name)
{
	/* The volatile variable prevents a tail call: dlsym(RTLD_NEXT) uses its return address. */
	void *volatile symbol = dlsym(RTLD_NEXT, name);

	return symbol;
}

bool attach_is_first(void)
{
	/* RTLD_DEFAULT does not serve: a library that is linked with -Bsymbolic finds itself first. */
	void *program = dlopen(NULL, RTLD_LAZY);
	Dl_info first, own;
	bool is_first;

	is_first = !program || !dladdr(dlsym(program, "pthread_mutex_lock"), &first) ||
		   !dladdr((void *)(uintptr_t)attach_contract, &own) ||
		   first.dli_fbase == own.dli_fbase;
	if (program)
		(void)dlclose(program); /* the call only decrements a count */
	return is_first;
}
