/*
 * In place of runtime/attach.c: this library is linked with the program, no command drives it. Where the
 * command's runtime is loaded, too, that one comes first and has taken control: this one then stands back.
 */
#include "runtime/attach.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "check/check_internal.h"

struct contract *attach_contract(void)
{
	return NULL;
}

void attach_clean_environment(char **environment)
{
	(void)environment; /* nothing of ours is in it */
}

bool attach_is_first(void)
{
	Dl_info first, own;

	return !dladdr(dlsym(RTLD_DEFAULT, "pthread_mutex_lock"), &first) ||
	       !dladdr((void *)(uintptr_t)attach_contract, &own) ||
	       first.dli_fbase == own.dli_fbase;
}
