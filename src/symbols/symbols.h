/*
 * Translates addresses of a target to names: function, file and line (inlined frames expanded),
 * names of data, and call stacks of stopped threads. Built on elfutils (libdw, libdwfl).
 *
 * A `struct symbols` describes one address space layout. ASLR is off under raddle, so a layout read
 * from one process is valid for every later run of the same program.
 *
 * Life cycle: symbols_from_process(); symbols_note_access() for all accesses of a run, which gives
 * heap blocks their types; any number of queries; symbols_free(). Returned strings live as long as
 * the struct. The functions are not thread-safe, because queries fill caches.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "model/memory/memory_block.h"

struct symbols;

/* Reads the modules of a live process (its /proc/PID/maps). The process may end afterwards. */
int symbols_from_process(struct symbols **out, pid_t pid, struct error *err);
void symbols_free(struct symbols *symbols);

/* A source frame. Its strings live as long as the struct symbols; unknown parts are NULL or 0. */
struct symbols_frame {
	uint64_t address;
	const char *function; /* demangled */
	const char *file;     /* path relative to the working folder if below it, else absolute */
	unsigned line;
	const char *module;   /* base name of the object file */
	unsigned short_lines; /* lines of statements of a function that has at most three; else 0 */
	bool is_system;	      /* libc, libstdc++, the loader or raddle itself */
};

/* Finds the frames of a code address, innermost first; at least one. `is_return_address`: looks up
 * the call before it. */
unsigned symbols_lookup(struct symbols *symbols, uint64_t address, bool is_return_address,
	struct symbols_frame *frames, unsigned capacity);

/* Appends "lock_both (bank.c:41)", the innermost frame of the user's code, or "0x7f.. in
 * libfoo.so". */
void symbols_describe_code(
	struct symbols *symbols, uint64_t address, bool is_return_address, struct strbuf *out);

/* Adds "accounts[1].lock (bank.c:7)", or "accounts+40". Returns false if no symbol covers the
 * address. */
bool symbols_describe_static_data(struct symbols *symbols, uint64_t address, struct strbuf *out);

/* A thread of a stopped process, possibly already ended. */
struct symbols_thread {
	thread_name name;
	const char *path; /* "main.0" */
	/* argument of symbols_unwind(); 0: ended, or the stack cannot be read */
	uint64_t stack_pointer;
	uint64_t thread_base; /* 0: unknown */
	uint64_t last_step;   /* last step of the thread; UINT64_MAX: it ran to the end */
};

struct symbols_memory {
	pid_t pid;			      /* the stopped process, 0: none */
	const struct symbols_thread *threads; /* index 0 is the main thread */
	uint32_t thread_count;
	const struct memory_block *blocks; /* blocks in the order of allocation */
	uint32_t block_count;
};

struct symbols_access {
	uint64_t address;
	uint64_t bytes; /* 0: unknown */
	/* code address of the instrumentation point, or a return address; 0: unknown */
	uint64_t site;
	uint64_t step; /* step of the run; UINT64_MAX: the end */
	bool is_brief; /* omit the declaration location of static data and the function of a local */
	/* Size of the synchronisation object at the address; 0: plain memory. */
	uint64_t object_bytes;
};

/*
 * Adds a readable name of any address, equal in every run:
 * bank::accounts[1].balance (bank.c:7) - static data
 * ((struct account *)malloc at bank.c:41, #3).balance - heap: the third block allocated there
 * local 'done' of main - stacks, while the call is active
 * thread-local errors of main.1 (log.c:12)
 * bank+0x4010 - no symbols
 *
 * Returns false for unknown memory, and adds nothing then.
 */
bool symbols_describe_data(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct strbuf *out);

/* A location in a frame that may no longer exist. */
struct symbols_frame_location {
	uint64_t code;	       /* return address in the function */
	int64_t offset;	       /* offset from the frame's address */
	uint64_t object_bytes; /* same as in symbols_access */
};

/* Adds the local variable there, such as "pool.cv_". Returns false if unknown, and nothing is
 * added. */
bool symbols_describe_local(
	struct symbols *symbols, const struct symbols_frame_location *location, struct strbuf *out);

/* Returns the thread whose stack contains the address; NULL if there is none. */
const struct symbols_thread *symbols_stack_owner(
	const struct symbols_memory *memory, uint64_t address);

/* Returns the number, from 1, of the heap block that contains the address at that step. A freed block counts until its
 * memory is allocated again. Returns 0 if there is none. */
uint32_t symbols_block_number(struct symbols *symbols, const struct symbols_memory *memory,
	uint64_t address, uint64_t step);

/* Forgets what is known of the heap blocks of another run, which may lie at the same addresses. */
void symbols_forget_blocks(struct symbols *symbols);

/* Infers the type of a heap block. Note all accesses of a run before the first description. */
void symbols_note_access(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access);

/* Returns whether the site is an instrumentation point of raddle-cc: the location of an access, not a
 * return address. */
bool symbols_is_point(struct symbols *symbols, uint64_t address);

/* Adds the struct and the field that an instrumentation point accesses, such as "account.balance". Returns false if
 * the compiler did not know them; nothing is added then. */
bool symbols_describe_field(struct symbols *symbols, uint64_t address, struct strbuf *out);

/* Returns the offset in the module, whose name `symbols` owns; 0: no module contains the
 * address. */
uint64_t symbols_module_offset(struct symbols *symbols, uint64_t address, const char **module);

/* Returns the number of shared libraries whose accesses to memory raddle-cc has not instrumented. Fills `names`, which
 * `symbols` owns, with up to `names_most` of them: first those outside the system's folders, then those that the program
 * is linked with. Libraries of the compiler and of libc do not count. */
unsigned symbols_opaque_libraries(struct symbols *symbols, const char **names, unsigned names_most);

/* Returns the name of the user's module at the address if it lacks debug information, else NULL. */
const char *symbols_lacks_debug_information(
	struct symbols *symbols, uint64_t address, bool *has_symbols);

/* Returns the identity of code in every run and layout: a hash of the module's base name and the
 * offset. */
uint64_t symbols_stable_code(struct symbols *symbols, uint64_t address);

/* Unwinds the stack of a suspended fiber or thread, innermost frame first. `stack_pointer`: as
 * saved by context_switch_* (platform/context.S). */
unsigned symbols_unwind(struct symbols *symbols, pid_t pid, uint64_t stack_pointer,
	uint64_t thread_base, uint64_t *addresses, unsigned capacity);

/* Adds glibc's or GLib's message about the abort as one line. Returns false if there is no message. */
bool symbols_abort_message(struct symbols *symbols, pid_t pid, struct strbuf *out);

/* Returns a demangled name without parameters, suffixes and long template arguments. The caller
 * frees it. */
char *symbols_readable_name(const char *raw);
/* Returns whether the last component of the first `length` bytes of a readable name denotes a
 * lambda. */
bool symbols_is_lambda(const char *name, size_t length);
/* Shortens a name that is readable but too long. The caller frees it. */
char *symbols_short_name(const char *name);
/* Does for a type what symbols_readable_name() does, also for its type information
 * ("_ZTS7account"). */
char *symbols_readable_type(const char *raw);
/* Simplifies the path in place. */
void symbols_simplify_path(char *path);
