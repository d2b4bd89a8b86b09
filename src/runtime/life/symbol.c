/* Finds the definitions that the runtime's interposed functions replace. Runs in any thread of the
 * target, and in set-up, where an allocation would enter the runtime. The loader's tables are read
 * directly: a failed dlsym() allocates, and replaces the program's dlerror(). */
#include <elf.h>
#include <link.h>

#include "base/bug.h"
#include "runtime/interpose.h"

/* DT_VERSYM: not the default version. */
#define VERSION_HIDDEN 0x8000

/* The array of slots; defined by the linker. */
extern struct symbol_slot __start_raddle_symbols[] __attribute__((visibility("hidden")));
extern struct symbol_slot __stop_raddle_symbols[] __attribute__((visibility("hidden")));

/* Dynamic symbols of a module, by the GNU hash table. */
struct symbol_table {
	const struct link_map *module;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint16_t *versions;
	const uint32_t
		*hash; /* buckets, first hashed symbol, words and shift of the filter, the filter */
	const ElfW(Rela) *
		calls; /* slots of the calls of other modules, which the loader may bind late */
	size_t call_bytes;
};

static struct symbol_table symbol_table_of(const struct link_map *module)
{
	struct symbol_table table = {.module = module};

	for (const ElfW(Dyn) *entry = module->l_ld; entry->d_tag != DT_NULL; entry++) {
		uintptr_t address = entry->d_un.d_ptr;

		if (address < module->l_addr)
			address += module->l_addr; /* the loader does not relocate the vDSO's */
		if (entry->d_tag == DT_SYMTAB)
			table.symbols = (const ElfW(Sym) *)address;
		else if (entry->d_tag == DT_STRTAB)
			table.names = (const char *)address;
		else if (entry->d_tag == DT_VERSYM)
			table.versions = (const uint16_t *)address;
		else if (entry->d_tag == DT_GNU_HASH)
			table.hash = (const uint32_t *)address;
		else if (entry->d_tag == DT_JMPREL)
			table.calls = (const ElfW(Rela) *)address;
		else if (entry->d_tag == DT_PLTRELSZ)
			table.call_bytes = entry->d_un.d_val;
	}
	return table;
}

static uint32_t symbol_hash(const char *name)
{
	uint32_t hash = 5381;

	for (const char *at = name; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	return hash;
}

/* Compares names without strcmp(): a sanitizer's looks itself up by dlsym(), which calls this
 * function. */
static bool symbol_is_named(const char *symbol, const char *name)
{
	while (*symbol && *symbol == *name) {
		symbol++;
		name++;
	}
	return *symbol == *name;
}

static bool symbol_is_default(const struct symbol_table *table, uint32_t index)
{
	return table->symbols[index].st_shndx != SHN_UNDEF &&
	       !(table->versions && table->versions[index] & VERSION_HIDDEN);
}

static void *symbol_value(const struct symbol_table *table, const ElfW(Sym) * symbol)
{
	const uintptr_t value = table->module->l_addr + symbol->st_value;

	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))value)();
	return (void *)value;
}

/* Returns the definition of the table's module; NULL if there is none. */
static void *symbol_in_table(const struct symbol_table *table, const char *name)
{
	const uint32_t hash = symbol_hash(name);
	const uint32_t *buckets, *chains;
	uint32_t index;

	if (!table->hash || !table->symbols || !table->names || !table->hash[0])
		return NULL;
	buckets = table->hash + 4 + table->hash[2] * (sizeof(ElfW(Addr)) / sizeof *table->hash);
	chains = buckets + table->hash[0] - table->hash[1];
	index = buckets[hash % table->hash[0]];
	if (index < table->hash[1])
		return NULL;
	do {
		const ElfW(Sym) *symbol = &table->symbols[index];

		if ((chains[index] | 1) == (hash | 1) && symbol_is_default(table, index) &&
			symbol_is_named(table->names + symbol->st_name, name))
			return symbol_value(table, symbol);
	} while (!(chains[index++] & 1));
	return NULL;
}

static void *symbol_in_module(const struct link_map *module, const char *name)
{
	const struct symbol_table table = symbol_table_of(module);

	return symbol_in_table(&table, name);
}

static const struct link_map *symbol_own_module(void)
{
	struct dl_find_object object;

	BUG_ON(_dl_find_object((void *)(uintptr_t)symbol_own_module, &object));
	return object.dlfo_link_map;
}

void *runtime_own_symbol(const char *name)
{
	return symbol_in_module(symbol_own_module(), name);
}

/* Tests linked with libraddle-check.so contain the interposed functions a second time: that library
 * becomes inactive, and the look-up continues behind it. */
static bool symbol_is_passed_over(const struct symbol_table *table)
{
	return symbol_in_table(table, "raddle_check_next_symbol");
}

void *runtime_symbol_behind(const char *name)
{
	void *found = NULL;

	for (const struct link_map *module = symbol_own_module()->l_next; module && !found;
		module = module->l_next) {
		const struct symbol_table table = symbol_table_of(module);

		if (!symbol_is_passed_over(&table))
			found = symbol_in_table(&table, name);
	}
	return found;
}

void *runtime_next_symbol(const char *name)
{
	void *symbol = runtime_symbol_behind(name);

	BUG_ON(!symbol);
	return symbol;
}

void *runtime_symbol(const char *name)
{
	const struct link_map *module = symbol_own_module();
	void *found = NULL;

	while (module->l_prev)
		module = module->l_prev;
	for (; module && !found; module = module->l_next)
		found = symbol_in_module(module, name);
	return found;
}

/* A slot without a definition keeps NULL, as those of libstdc++ where it is not loaded. */
void runtime_find_symbols(void)
{
	for (const struct link_map *module = symbol_own_module()->l_next; module;
		module = module->l_next) {
		const struct symbol_table table = symbol_table_of(module);

		if (symbol_is_passed_over(&table))
			continue;
		for (struct symbol_slot *slot = __start_raddle_symbols;
			slot < __stop_raddle_symbols; slot++)
			if (!slot->function)
				slot->function = symbol_in_table(&table, slot->name);
	}
}

static void symbol_bind_module(const struct symbol_table *module, const struct symbol_table *own)
{
	const ElfW(Rela) *end = module->calls + module->call_bytes / sizeof *module->calls;
	struct dl_find_object object;

	for (const ElfW(Rela) *call = module->calls; call < end; call++) {
		const ElfW(Sym) *symbol = &module->symbols[ELF64_R_SYM(call->r_info)];
		const char *name = module->names + symbol->st_name;
		void *found = symbol_in_table(own, name);
		void **slot = (void **)(module->module->l_addr + call->r_offset);

		/* An unbound slot has an address inside its own module. */
		if (found && ELF64_R_TYPE(call->r_info) == R_X86_64_JUMP_SLOT &&
			!symbol_in_table(module, name) && found == runtime_symbol(name) &&
			_dl_find_object(*slot, &object) == 0 &&
			object.dlfo_link_map == module->module)
			*slot = found;
	}
}

/* Binds the program's calls of the runtime's functions, as the loader would at the first call of each. Otherwise
 * every run that begins behind the starting point would bind them again. Runs by exec bind them here, too: binding
 * leaves values on the stack, which a faulty program might read. */
void runtime_bind_calls(void)
{
	const struct symbol_table own = symbol_table_of(symbol_own_module());

	for (const struct link_map *at = _r_debug.r_map; at; at = at->l_next) {
		const struct symbol_table module = symbol_table_of(at);

		if (at != own.module && module.calls && module.symbols && module.names)
			symbol_bind_module(&module, &own);
	}
}
