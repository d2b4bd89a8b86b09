/*
 * Source places of code addresses. What was found is kept by address: a trace of thousands of
 * events has a few dozen different sites.
 */
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/bug.h"
#include "base/hash.h"
#include "symbols/symbols_internal.h"

/* Deeper inlining is cut; the outermost frame then is not the function itself. */
#define LOOKUP_FRAMES_MAX 16

struct lookup {
	uint64_t key; /* the address looked up; for return addresses that of the call */
	unsigned count;
	struct symbols_frame frames[LOOKUP_FRAMES_MAX];
	UT_hash_handle hh;
};

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* Code that the compiler or a sanitizer brought into the user's own object file. */
static bool is_system_function(const char *function)
{
	static const char *const prefixes[] = {
		"__asan_", "__tsan_", "__ubsan_", "__lsan_", "__interceptor_", "__sanitizer"};

	if (!strcmp(function, "_start"))
		return true;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (starts_with(function, prefixes[i]))
			return true;
	return false;
}

/* Headers of the C++ library and of the compiler, inlined into the user's code. */
static bool is_system_file(const char *file)
{
	static const char *const prefixes[] = {"/usr/include/", "/usr/lib/gcc/", "/usr/lib/llvm"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (starts_with(file, prefixes[i]))
			return true;
	return false;
}

static struct symbols_frame *add_frame(struct lookup *lookup, uint64_t address)
{
	struct symbols_frame *frame;

	if (lookup->count == LOOKUP_FRAMES_MAX)
		return NULL;
	frame = &lookup->frames[lookup->count++];
	frame->address = address;
	return frame;
}

static void set_function(struct symbols *symbols, struct symbols_frame *frame, const char *raw)
{
	char *name = raw ? symbols_readable_name(raw) : NULL;

	frame->function = symbols_keep(symbols, name);
	free(name);
}

static void set_source(struct symbols *symbols, struct symbols_frame *frame, Dwfl_Module *module)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, frame->address);
	int number = 0;
	const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;

	if (!file)
		return;
	frame->file = symbols_shown_path(symbols, dwfl_line_comp_dir(line), file);
	frame->line = (unsigned)number;
}

/* The symbol that covers the address, if it says that it does. */
static const char *symbol_at(Dwfl_Module *module, uint64_t address)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name =
		dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);

	return name && (!symbol.st_size || offset < symbol.st_size) ? name : NULL;
}

/*
 * Raw name of a scope. The mangled name has namespace and class in it; static functions have none in
 * the debug information, but their symbol has, where they were not inlined.
 */
static const char *scope_name(Dwarf_Die *scope, Dwfl_Module *module, uint64_t address)
{
	const char *name = symbols_die_linkage_name(scope);

	if (!name && dwarf_tag(scope) == DW_TAG_subprogram)
		name = symbol_at(module, address);
	return name ? name : dwarf_diename(scope);
}

/*
 * Names the first frame and adds those that it was inlined into. The innermost scope is a lexical
 * block, an inlined function or a function; walking outwards from there in the order of the debug
 * information (not through abstract origins) meets every function the code was inlined into, and
 * each inlined one says where it was called.
 */
static void add_scopes(struct symbols *symbols, struct lookup *lookup, Dwfl_Module *module)
{
	struct symbols_frame *frame = &lookup->frames[0];
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(module, frame->address, &bias);
	Dwarf_Die innermost, *scopes = NULL;
	int count = unit ? dwarf_getscopes(unit, frame->address - bias, &scopes) : 0;

	if (count <= 0)
		return;
	innermost = scopes[0];
	free(scopes);
	scopes = NULL;
	count = dwarf_getscopes_die(&innermost, &scopes);
	for (int i = 0; i < count && frame; i++) {
		const int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		set_function(symbols, frame, scope_name(&scopes[i], module, frame->address));
		if (tag == DW_TAG_subprogram)
			break;
		frame->is_inlined = true;
		frame = add_frame(lookup, frame->address);
		if (!frame)
			break;
		frame->file = symbols_die_file(symbols, unit, &scopes[i], DW_AT_call_file);
		frame->line = symbols_die_number(&scopes[i], DW_AT_call_line);
	}
	free(scopes);
}

static void fill(struct symbols *symbols, struct lookup *lookup)
{
	Dwfl_Module *module = dwfl_addrmodule(symbols->dwfl, lookup->key);
	struct symbols_frame *first = add_frame(lookup, lookup->key);

	if (!module)
		return;
	set_source(symbols, first, module);
	add_scopes(symbols, lookup, module);
	if (!first->function)
		set_function(symbols, first, symbol_at(module, first->address));
	for (unsigned i = 0; i < lookup->count; i++) {
		struct symbols_frame *frame = &lookup->frames[i];

		frame->module = symbols_module_name(module);
		frame->is_system = symbols_module_is_system(module) ||
				   (frame->function && is_system_function(frame->function)) ||
				   (frame->file && is_system_file(frame->file));
	}
}

static const struct lookup *look_up(struct symbols *symbols, uint64_t address)
{
	struct lookup *lookup;

	HASH_FIND(hh, symbols->lookups, &address, sizeof address, lookup);
	if (lookup)
		return lookup;
	lookup = calloc(1, sizeof *lookup);
	BUG_ON(!lookup);
	lookup->key = address;
	fill(symbols, lookup);
	HASH_ADD(hh, symbols->lookups, key, sizeof lookup->key, lookup);
	return lookup;
}

void symbols_forget_lookups(struct symbols *symbols)
{
	struct lookup *lookup, *next;

	HASH_ITER(hh, symbols->lookups, lookup, next)
	{
		HASH_DEL(symbols->lookups, lookup);
		free(lookup);
	}
}

unsigned symbols_lookup(struct symbols *symbols, uint64_t address, bool is_return_address,
	struct symbols_frame *frames, unsigned capacity)
{
	const struct lookup *lookup =
		look_up(symbols, address - (is_return_address && address ? 1 : 0));
	const unsigned count = lookup->count < capacity ? lookup->count : capacity;

	for (unsigned i = 0; i < count; i++) {
		frames[i] = lookup->frames[i];
		frames[i].address = address;
	}
	return count;
}

void symbols_describe_code(
	struct symbols *symbols, uint64_t address, bool is_return_address, struct strbuf *out)
{
	const struct lookup *lookup =
		look_up(symbols, address - (is_return_address && address ? 1 : 0));
	const struct symbols_frame *frame = &lookup->frames[0];
	const char *slash;

	for (unsigned i = 0; i < lookup->count; i++) {
		if (lookup->frames[i].is_system || !lookup->frames[i].file)
			continue;
		frame = &lookup->frames[i];
		break;
	}
	if (frame->function)
		strbuf_adds(out, frame->function);
	else
		strbuf_addf(out, "0x%llx", (unsigned long long)address);
	if (frame->file) {
		slash = strrchr(frame->file, '/');
		strbuf_addf(out, " (%s:%u)", slash ? slash + 1 : frame->file, frame->line);
	} else if (frame->module) {
		strbuf_addf(out, " in %s", frame->module);
	}
}

uint64_t symbols_stable_code(struct symbols *symbols, uint64_t address)
{
	const char *module = "";
	const uint64_t offset = symbols_module_offset(symbols, address, &module);

	return hash_pair(hash_bytes(module, strlen(module)), *module ? offset : address);
}
