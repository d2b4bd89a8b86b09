/* Source locations of code addresses, cached: thousands of events have a few dozen sites. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/bug.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/starts_with.h"
#include "symbols/symbols_internal.h"

/* Maximum number of inlined frames. Deeper inlining is cut; the outermost frame is then not the
 * function itself. */
#define LOOKUP_FRAMES_MAX CHAIN_MAX

struct lookup {
	uint64_t key; /* the address looked up: for a return address, that of the call */
	unsigned count;
	struct symbols_frame frames[LOOKUP_FRAMES_MAX];
	struct chain chain;
	UT_hash_handle hh;
};

/* Returns whether the compiler or a sanitizer added the code to the user's object file. */
static bool lookup_is_system_function(const char *function)
{
	static const char *const prefixes[] = {
		"__asan_", "__tsan_", "__ubsan_", "__lsan_", "__interceptor_", "__sanitizer"};

	return !strcmp(function, "_start") || STARTS_WITH_ANY(function, prefixes);
}

/* Returns whether the file is a header of the C++ library or of the compiler, whose code is inlined
 * into the user's. */
bool symbols_is_system_file(const char *file)
{
	static const char *const prefixes[] = {
		"/usr/include/", "/usr/lib/gcc/", "/usr/lib/llvm", "raddle/stdcxx/"};

	/* raddle's replacements for parts of libstdc++, which raddle-c++ links. */
	return STARTS_WITH_ANY(file, prefixes) || strstr(file, "/raddle/stdcxx/");
}

static struct symbols_frame *lookup_add_frame(struct lookup *lookup, uint64_t address)
{
	struct symbols_frame *frame;

	if (lookup->count == LOOKUP_FRAMES_MAX)
		return NULL;
	frame = &lookup->frames[lookup->count++];
	frame->address = address;
	return frame;
}

static void lookup_set_function(
	struct symbols *symbols, struct symbols_frame *frame, const char *raw)
{
	FREE_SCOPED char *name = raw ? symbols_readable_name(raw) : NULL;

	frame->function = symbols_keep(symbols, name);
}

/* Returns the file's nearest line before the address, else the first behind it in the same sequence of
 * rows, for code with line 0; 0: none. */
static unsigned lookup_line_near(Dwarf_Die *unit, Dwarf_Addr address, const char *file)
{
	unsigned near = 0;
	Dwarf_Lines *lines;
	size_t count;

	if (!file || dwarf_getsrclines(unit, &lines, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *own = dwarf_linesrc(line, NULL, NULL);
		Dwarf_Addr start;
		bool ends = false;
		int number;

		if (dwarf_lineaddr(line, &start) || (near && start > address))
			break;
		(void)dwarf_lineendsequence(line, &ends);
		if (ends && start > address)
			break;
		if (ends)
			near = 0;
		else if (!dwarf_lineno(line, &number) && number && own && !strcmp(own, file))
			near = (unsigned)number;
	}
	return near;
}

/* Returns the line of an inlined call. Code that the compiler has merged from several calls has line 0. */
static unsigned lookup_call_line(Dwarf_Die *function, Dwarf_Die *unit, Dwarf_Addr address)
{
	const unsigned line = symbols_die_number(function, DW_AT_call_line);
	Dwarf_Die caller;

	return line ? line
		    : lookup_line_near(
			      unit, address, symbols_die_path(function, DW_AT_call_file, &caller));
}

/* A function with at most this many lines of statements counts as short. */
#define SHORT_LINES 3
/* SHORT_LINES plus the line of the beginning and the line of the end. */
#define SHORT_LINES_ALL (SHORT_LINES + 2)

/* Returns false if the list of distinct lines is full. */
static bool lookup_note_line(int *lines, unsigned *count, int line)
{
	for (unsigned i = 0; i < *count; i++)
		if (lines[i] == line)
			return true;
	if (*count == SHORT_LINES_ALL)
		return false;
	lines[(*count)++] = line;
	return true;
}

/* Returns the index of the first row at the address or behind it. libdw sorts the rows by address. */
static size_t lookup_first_row(Dwarf_Lines *lines, size_t total, Dwarf_Addr start)
{
	size_t first = 0, end = total;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;
		Dwarf_Addr address;

		if (!dwarf_lineaddr(dwarf_onesrcline(lines, middle), &address) && address < start)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Returns whether no instruction belongs to the row: the next one has the same address. Where a function is inlined,
 * such rows have lines of its caller. */
static bool lookup_is_empty_row(Dwarf_Lines *lines, size_t total, size_t row, Dwarf_Addr address)
{
	Dwarf_Addr next;

	return row + 1 < total && !dwarf_lineaddr(dwarf_onesrcline(lines, row + 1), &next) &&
	       next == address;
}

/* Notes lines in the function's own file. Returns false if there are too many for a short
 * function. */
static bool lookup_note_range(Dwarf_Die *unit, Dwarf_Addr start, Dwarf_Addr end, const char *file,
	int *numbers, unsigned *count)
{
	Dwarf_Lines *lines;
	size_t total;

	if (dwarf_getsrclines(unit, &lines, &total))
		return false;
	for (size_t i = lookup_first_row(lines, total, start); i < total; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *own = dwarf_linesrc(line, NULL, NULL);
		Dwarf_Addr address;
		int number;

		if (dwarf_lineaddr(line, &address) || address >= end)
			break;
		if (dwarf_lineno(line, &number) || !number || !own || strcmp(own, file) != 0 ||
			lookup_is_empty_row(lines, total, i, address))
			continue;
		if (!lookup_note_line(numbers, count, number))
			return false;
	}
	return true;
}

/* Returns the number of lines of statements if the function is short, else 0. A function that was not inlined also has
 * a line for its end. */
static unsigned lookup_short_lines(Dwarf_Die *unit, Dwarf_Die *function)
{
	Dwarf_Die declaring_unit;
	const char *file = symbols_die_path(function, DW_AT_decl_file, &declaring_unit);
	const unsigned frame_lines = dwarf_tag(function) == DW_TAG_subprogram ? 2 : 1;
	int numbers[SHORT_LINES_ALL], declared = 0;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	unsigned count = 0;

	if (!file || dwarf_decl_line(function, &declared))
		return 0;
	/* The first row of a function that was not inlined has the line of its beginning, such as that of the brace. */
	if (dwarf_tag(function) != DW_TAG_subprogram)
		(void)lookup_note_line(numbers, &count, declared);
	while ((at = dwarf_ranges(function, at, &base, &start, &end)) > 0)
		if (!lookup_note_range(unit, start, end, file, numbers, &count))
			return 0;
	count -= count > frame_lines ? frame_lines : count - 1;
	return count <= SHORT_LINES ? count : 0;
}

/* Returns whether the function is a lambda. gcc gives those in functions no linkage name. */
static bool lookup_is_lambda(const char *name)
{
	static const char call[] = "::operator()";
	const size_t length = strlen(name), end = sizeof call - 1;

	return !strcmp(name, call + 2) || (length > end && !strcmp(name + length - end, call) &&
						  symbols_is_lambda(name, length - end));
}

/* Finds the class of a lambda, which is the type of its object. Of gcc's lambdas only the class has a line. */
static bool lookup_closure(Dwarf_Die *function, Dwarf_Die *closure)
{
	Dwarf_Attribute attribute;
	Dwarf_Die parameter, pointer;

	return dwarf_attr_integrate(function, DW_AT_object_pointer, &attribute) &&
	       dwarf_formref_die(&attribute, &parameter) && types_of(&parameter, &pointer) &&
	       types_of(&pointer, closure);
}

/* Names a lambda. "main::{lambda()#1}::operator()" does not lead to the source, but file and line
 * do. */
static void lookup_name_lambda(
	struct symbols *symbols, struct symbols_frame *frame, Dwarf_Die *function)
{
	const char *file;
	unsigned line;
	Dwarf_Die closure;
	FREE_SCOPED char *text = NULL;

	if (!frame->function || !lookup_is_lambda(frame->function))
		return;
	if (!symbols_die_number(function, DW_AT_decl_line) && lookup_closure(function, &closure))
		function = &closure;
	file = symbols_die_file(symbols, function, DW_AT_decl_file);
	line = symbols_die_number(function, DW_AT_decl_line);
	if (!file || !line)
		return;
	BUG_ON(asprintf(&text, "lambda at %s:%u", base_name(file), line) < 0);
	frame->function = symbols_keep(symbols, text);
}

static void lookup_set_source(
	struct symbols *symbols, struct symbols_frame *frame, Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	Dwarf_Attribute folder;
	int number = 0;

	if (!file)
		return;
	frame->file = symbols_shown_path(
		symbols, dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &folder)), file);
	if (!dwarf_lineno(line, &number))
		frame->line = number ? (unsigned)number : lookup_line_near(unit, address, file);
}

static const char *lookup_symbol_at(Dwfl_Module *module, uint64_t address)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name =
		dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);

	return name && (!symbol.st_size || offset < symbol.st_size) ? name : NULL;
}

/* Returns the name of a function. A mangled name includes namespace and class; for static functions
 * only the symbol has it. */
static const char *lookup_scope_name(Dwarf_Die *scope, Dwfl_Module *module, uint64_t address)
{
	const char *name = symbols_die_linkage_name(scope);

	if (!name && dwarf_tag(scope) == DW_TAG_subprogram)
		name = lookup_symbol_at(module, address);
	return name ? name : dwarf_diename(scope);
}

/* Names the first frame and those it was inlined into, outwards, with their calls. */
static void lookup_add_scopes(struct symbols *symbols, struct lookup *lookup, Dwfl_Module *module,
	Dwarf_Die *unit, Dwarf_Addr address)
{
	struct symbols_frame *frame = &lookup->frames[0];

	symbols_fill_chain(symbols, unit, address, &lookup->chain);
	for (unsigned i = lookup->chain.count; i-- && frame;) {
		Dwarf_Die *function = &lookup->chain.functions[i];

		lookup_set_function(
			symbols, frame, lookup_scope_name(function, module, frame->address));
		lookup_name_lambda(symbols, frame, function);
		frame->short_lines = lookup_short_lines(unit, function);
		if (dwarf_tag(function) == DW_TAG_subprogram)
			break;
		frame = lookup_add_frame(lookup, frame->address);
		if (!frame)
			break;
		frame->file = symbols_die_file(symbols, function, DW_AT_call_file);
		frame->line = lookup_call_line(function, unit, address);
	}
}

static void lookup_fill(struct symbols *symbols, struct lookup *lookup)
{
	Dwfl_Module *module = symbols_module_at(symbols, lookup->key);
	struct symbols_frame *first = lookup_add_frame(lookup, lookup->key);
	Dwarf_Addr bias;
	Dwarf_Die unit;

	if (!module)
		return;
	if (symbols_unit_at(symbols, module, lookup->key, &unit) &&
		dwfl_module_getdwarf(module, &bias)) {
		lookup_set_source(symbols, first, &unit, lookup->key - bias);
		lookup_add_scopes(symbols, lookup, module, &unit, lookup->key - bias);
	}
	if (!first->function)
		lookup_set_function(symbols, first, lookup_symbol_at(module, first->address));
	for (unsigned i = 0; i < lookup->count; i++) {
		struct symbols_frame *frame = &lookup->frames[i];

		frame->module = symbols_keep(symbols, symbols_module_name(module));
		frame->is_system =
			symbols_module_is_system(module) ||
			(frame->function && lookup_is_system_function(frame->function)) ||
			(frame->file && symbols_is_system_file(frame->file));
	}
}

static const struct lookup *lookup_look_up(struct symbols *symbols, uint64_t address)
{
	struct lookup *lookup;

	HASH_FIND(hh, symbols->lookups, &address, sizeof address, lookup);
	if (lookup)
		return lookup;
	lookup = array_new(1, sizeof *lookup);
	lookup->key = address;
	lookup_fill(symbols, lookup);
	HASH_ADD(hh, symbols->lookups, key, sizeof lookup->key, lookup);
	return lookup;
}

void symbols_forget_lookups(struct symbols *symbols)
{
	HASH_FREE(symbols->lookups);
}

struct chain symbols_chain_at(struct symbols *symbols, uint64_t address)
{
	return lookup_look_up(symbols, address)->chain;
}

unsigned symbols_lookup(struct symbols *symbols, uint64_t address, bool is_return_address,
	struct symbols_frame *frames, unsigned capacity)
{
	const struct lookup *lookup =
		lookup_look_up(symbols, address - (is_return_address && address ? 1 : 0));
	const unsigned count = lookup->count < capacity ? lookup->count : capacity;

	for (unsigned i = 0; i < count; i++) {
		frames[i] = lookup->frames[i];
		frames[i].address = address;
	}
	return count;
}

static bool lookup_ends_with(const struct strbuf *text, const struct strbuf *end)
{
	return text->length >= end->length &&
	       !strcmp(text->text + text->length - end->length, end->text);
}

void symbols_describe_code(
	struct symbols *symbols, uint64_t address, bool is_return_address, struct strbuf *out)
{
	const struct lookup *lookup =
		lookup_look_up(symbols, address - (is_return_address && address ? 1 : 0));
	const struct symbols_frame *frame = &lookup->frames[0];
	STRBUF_SCOPED line = STRBUF_EMPTY;

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
		strbuf_addf(&line, "%s:%u", base_name(frame->file), frame->line);
		/* A lambda is named after its file and line, which then need not follow the name. */
		if (!lookup_ends_with(out, &line))
			strbuf_addf(out, " (%s)", line.text);
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
