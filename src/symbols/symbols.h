/*
 * From addresses in a target to words: function, file and line (inlined frames expanded), names of
 * global objects, and call stacks of threads that stand still. Built on elfutils (libdw, libdwfl).
 *
 * A `struct symbols` describes one address space layout. ASLR is off under raddle, so a layout read
 * from one process is valid for every later run of the same program.
 */
#ifndef RADDLE_SYMBOLS_SYMBOLS_H
#define RADDLE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "model/memory_block.h"

struct symbols;

/* Reads the modules of a live process (its /proc/PID/maps). The process may end afterwards. */
int symbols_from_process(struct symbols **out, pid_t pid, struct error *err);
void symbols_free(struct symbols *symbols);

/* One frame of source; strings live as long as the struct symbols. Unknown parts are NULL or 0. */
struct symbols_frame {
	uint64_t address;
	const char *function; /* demangled */
	const char *file; /* as short as it stays clear: the path relative to the working folder */
	unsigned line;
	const char *module; /* base name of the object file */
	bool is_inlined;
	bool is_short;	/* the function has at most three lines of statements */
	bool is_system; /* libc, libstdc++, the loader or raddle itself: not the user's code */
};

/*
 * The source of a code address. `is_return_address` looks up the call before it. Innermost frame
 * first; returns the number of frames written, at least 1 (module and address only, if need be).
 */
unsigned symbols_lookup(struct symbols *symbols, uint64_t address, bool is_return_address,
	struct symbols_frame *frames, unsigned capacity);

/* "lock_both (bank.c:41)", or "0x7f.. in libfoo.so". Prefers the innermost frame of the user's
 * code. */
void symbols_describe_code(
	struct symbols *symbols, uint64_t address, bool is_return_address, struct strbuf *out);

/*
 * "accounts[1].lock (bank.c:7)" for static data with debug information, "accounts+40" without;
 * false and nothing written when no symbol covers it.
 */
bool symbols_describe_static_data(struct symbols *symbols, uint64_t address, struct strbuf *out);

/* A thread of a process that stands still; also one that has ended. */
struct symbols_thread {
	thread_name name;
	const char *path;	/* "main.0" */
	uint64_t stack_pointer; /* as for symbols_unwind(); 0: it has ended or cannot be walked */
	uint64_t thread_base;	/* 0: not known */
	uint64_t last_step;	/* after which it did not move; UINT64_MAX: it moved to the end */
};

/* What is known of the memory of a run besides its modules. */
struct symbols_memory {
	pid_t pid;			      /* the process that stands still, 0: none */
	const struct symbols_thread *threads; /* main is the first */
	uint32_t thread_count;
	const struct memory_block *blocks; /* in the order in which they were made */
	uint32_t block_count;
};

/* An access whose place is to be named. */
struct symbols_access {
	uint64_t address;
	uint64_t bytes; /* 0: not known */
	uint64_t site;	/* code address of the point, or a return address; 0: not known */
	uint64_t step;	/* of the run; UINT64_MAX: its end */
	bool is_brief;	/* omit the declaration place of static data and the function of a local */
	/* Size of the synchronisation object at the address; 0: plain memory. */
	uint64_t object_bytes;
};

/*
 * Any address as text that a person knows:
 *	bank::accounts[1].balance (bank.c:7)			static data
 *	((struct account *)malloc at bank.c:41, #3).balance	heap: the third block made there
 *	local 'done' of main					stacks, where the call is still there
 *	thread-local errors of main.1 (log.c:12)
 *	bank+0x4010						no symbols
 * The text is equal in every run. False and nothing written: nothing is known of this memory.
 */
bool symbols_describe_data(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct strbuf *out);

/* A place in the frame of a call that may have returned since. */
struct symbols_frame_place {
	uint64_t code;	       /* in the function: a return address */
	int64_t offset;	       /* from the frame's address */
	uint64_t object_bytes; /* as in symbols_access */
};

/* The local variable there, such as "pool.cv_". False and nothing written: none is known. */
bool symbols_describe_local(
	struct symbols *symbols, const struct symbols_frame_place *place, struct strbuf *out);

/* The thread on whose stack the address is; NULL: it is on none. */
const struct symbols_thread *symbols_stack_owner(
	const struct symbols_memory *memory, uint64_t address);

/*
 * Learns from an access what its block of the heap is. All accesses of a run that are known come
 * before the first description, so that a block has one type in all of them.
 */
void symbols_note_access(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access);

/*
 * Is there a point of raddle-cc at this code address? Then it is the place of an access itself, and
 * no return address.
 */
bool symbols_is_point(struct symbols *symbols, uint64_t address);

/* Distance from the start of the module that holds the address, and its name (kept with symbols).
 * 0 and *module untouched where no module does. */
uint64_t symbols_module_offset(struct symbols *symbols, uint64_t address, const char **module);

/*
 * The module that holds the address of static data if it has no debug information (kept with
 * symbols), and whether it has symbols at least; NULL: nothing is missing, or no module is there.
 */
const char *symbols_lacks_debug_information(
	struct symbols *symbols, uint64_t address, bool *has_symbols);

/*
 * Position-independent identity of a code address: hash of module base name and offset. Equal in
 * every run, also under another layout.
 */
uint64_t symbols_stable_code(struct symbols *symbols, uint64_t address);

/*
 * The call stack of a suspended fiber of a process that stands still, or of the thread that stopped
 * it. `stack_pointer` is what context_switch_* saved (see platform/context.S for the frame it
 * points to). Returns the number of return addresses written, innermost first.
 */
unsigned symbols_unwind(struct symbols *symbols, pid_t pid, uint64_t stack_pointer,
	uint64_t thread_base, uint64_t *addresses, unsigned capacity);

/*
 * What glibc said before it aborted the process that stands still: a failed assertion, a damaged
 * heap, a smashed stack; one line. False and nothing written when it said nothing.
 */
bool symbols_abort_message(struct symbols *symbols, pid_t pid, struct strbuf *out);

/* ---- readable.c ---- */

/*
 * A name as people write it: demangled, without the list of parameters and without the compiler's
 * suffixes (.part.0, .1234, @@VERSION). Long ones have "..." for the arguments of templates. To be freed.
 */
char *symbols_readable_name(const char *raw);
/* Is the last part of the first `length` bytes of a readable name what compilers call a lambda? */
bool symbols_is_lambda(const char *name, size_t length);
/* The same of a name that is readable but for its length. To be freed. */
char *symbols_short_name(const char *name);
/* Likewise of a type, which may be there as the name of its description ("_ZTS7account"). */
char *symbols_readable_type(const char *raw);
/* Takes out "." and ".." of an absolute path, in place. */
void symbols_simplify_path(char *path);

#endif
