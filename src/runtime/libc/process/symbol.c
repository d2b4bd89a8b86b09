/*
 * dlsym() and dlvsym(): where a look-up finds libc's definition of an interposed function, the
 * result is the runtime's, as for an allocator's dlsym(RTLD_NEXT, "pthread_create"). The loader's
 * result stays where a library between the runtime and libc also defines the function, because the
 * runtime may call that one.
 *
 * The loader identifies the caller by the return address, so the entries (symbol_thunk.S) jump to
 * the loader's functions unless the runtime has a result. dlopen() and dlmopen() have such entries,
 * too, and are only reported to the command. Runs in any thread, also before set-up.
 */
#include <dlfcn.h>
#include <link.h>

#include "base/bug.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"

#define HIDDEN __attribute__((visibility("hidden")))

typedef void *symbol_dlsym(void *handle, const char *name);
typedef void *symbol_dlvsym(void *handle, const char *name, const char *version);

/* symbol_thunk.S jumps to them. Written once, by the first call. */
extern HIDDEN symbol_dlsym *symbol_behind_dlsym;
extern HIDDEN symbol_dlvsym *symbol_behind_dlvsym;
extern HIDDEN void *symbol_behind_dlopen, *symbol_behind_dlmopen;
symbol_dlsym *symbol_behind_dlsym;
symbol_dlvsym *symbol_behind_dlvsym;
void *symbol_behind_dlopen, *symbol_behind_dlmopen;

static struct {
	struct dl_find_object own, libc;
} symbol_modules;

static bool symbol_is_inside(const struct dl_find_object *module, const void *address)
{
	return address >= module->dlfo_map_start && address < module->dlfo_map_end;
}

static void symbol_find_loader(void)
{
	if (symbol_behind_dlsym)
		return;
	BUG_ON(_dl_find_object((void *)(uintptr_t)symbol_find_loader, &symbol_modules.own));
	BUG_ON(_dl_find_object(runtime_next_symbol("gnu_get_libc_version"), &symbol_modules.libc));
	symbol_behind_dlopen = runtime_next_symbol("dlopen");
	symbol_behind_dlmopen = runtime_next_symbol("dlmopen");
	*(void **)&symbol_behind_dlvsym = runtime_next_symbol("dlvsym");
	*(void **)&symbol_behind_dlsym = runtime_next_symbol("dlsym");
}

/* Returns NULL where the loader looks the name up. `version` NULL: dlsym(). */
static void *symbol_interposed(
	void *handle, const char *name, const char *version, const void *caller)
{
	void *own;
	const void *found;

	symbol_find_loader();
	if (symbol_is_inside(&symbol_modules.own, caller) || handle == RTLD_DEFAULT)
		return NULL; /* the runtime precedes libc in the program's search order */
	own = runtime_own_symbol(name);
	if (!own || !symbol_is_inside(&symbol_modules.libc, runtime_symbol_behind(name)))
		return NULL;
	if (handle == RTLD_NEXT)
		return own;
	found = version ? symbol_behind_dlvsym(handle, name, version)
			: symbol_behind_dlsym(handle, name);
	return symbol_is_inside(&symbol_modules.libc, found) ? own : NULL;
}

HIDDEN void *symbol_answer_dlsym(
	void *handle, const char *name, const char *unused, const void *caller);
void *symbol_answer_dlsym(void *handle, const char *name, const char *unused, const void *caller)
{
	(void)unused;
	return symbol_interposed(handle, name, NULL, caller);
}

HIDDEN void *symbol_answer_dlvsym(
	void *handle, const char *name, const char *version, const void *caller);
void *symbol_answer_dlvsym(void *handle, const char *name, const char *version, const void *caller)
{
	return symbol_interposed(handle, name, version, caller);
}

static void *symbol_note_direct_calls(bool has_them)
{
	symbol_find_loader();
	if (has_them && runtime.contract)
		runtime.contract->unseen |= UNSEEN_CALLS;
	return NULL;
}

HIDDEN void *symbol_answer_dlopen(const char *file, int mode);
void *symbol_answer_dlopen(const char *file, int mode)
{
	return symbol_note_direct_calls(file && mode & RTLD_DEEPBIND);
}

HIDDEN void *symbol_answer_dlmopen(Lmid_t space, const char *file, int mode);
void *symbol_answer_dlmopen(Lmid_t space, const char *file, int mode)
{
	return symbol_note_direct_calls(file && (space != LM_ID_BASE || mode & RTLD_DEEPBIND));
}

/* Address ranges of the libraries that this run has unloaded by dlclose(), and the code addresses of these calls. Only
 * the last 16 are kept. */
static struct {
	struct {
		uintptr_t start, end;
		uint64_t site;
	} libraries[16];
	uint32_t count;
} symbol_unloaded;

uint64_t runtime_unload_site(uintptr_t address)
{
	for (uint32_t i = 0; i < 16; i++)
		if (address >= symbol_unloaded.libraries[i].start &&
			address < symbol_unloaded.libraries[i].end)
			return symbol_unloaded.libraries[i].site;
	return 0;
}

/* In glibc the handle of a library is a pointer to its struct link_map. */
EXPORT int dlclose(void *handle)
{
	const struct link_map *library = handle;
	struct dl_find_object before, after;
	const bool is_found = library && _dl_find_object(library->l_ld, &before) == 0;
	const int result = REAL(dlclose)(handle);

	if (is_found && _dl_find_object(before.dlfo_map_start, &after) != 0) {
		const uint32_t at = symbol_unloaded.count++ % 16;

		symbol_unloaded.libraries[at].start = (uintptr_t)before.dlfo_map_start;
		symbol_unloaded.libraries[at].end = (uintptr_t)before.dlfo_map_end;
		symbol_unloaded.libraries[at].site = CALL_SITE;
		runtime_trace_call(CALL_UNLOAD, CALL_SITE);
	}
	return result;
}
