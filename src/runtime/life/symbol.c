/* Finds the definitions that the runtime's interposed functions replace. Runs in any thread of the
 * target, and in set-up, where an allocation would enter the runtime. The loader's tables are read
 * directly: a failed dlsym() allocates, and replaces the program's dlerror(). */
#include <elf.h>
#include <link.h>

#include "base/bug.h"
#include "base/hash.h"
#include "runtime/interpose.h"
#include "runtime/known_modules.h"

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

/* Returns false if the module has no symbol with this hash. Most look-ups end here, at one word of the module. */
static bool symbol_may_be_in(const struct symbol_table *table, uint32_t hash)
{
	const uint64_t *filter = (const uint64_t *)(table->hash + 4);
	const uint64_t word = filter[hash / 64 % table->hash[2]];

	return word >> hash % 64 & word >> (hash >> table->hash[3]) % 64 & 1;
}

/* Returns the definition of the table's module; NULL if there is none. `hash`: of the name. */
static void *symbol_find(const struct symbol_table *table, const char *name, uint32_t hash)
{
	const uint32_t *buckets, *chains;
	uint32_t index;

	if (!table->hash || !table->symbols || !table->names || !table->hash[0] ||
		!table->hash[2] || !symbol_may_be_in(table, hash))
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

static void *symbol_in_table(const struct symbol_table *table, const char *name)
{
	return symbol_find(table, name, symbol_hash(name));
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

static void symbol_search_all(void)
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

static uint64_t symbol_hash_functions(const struct contract_modules *known)
{
	uint64_t hash = known->key;

	for (uint32_t i = 0; i < known->function_count; i++)
		hash = hash_pair(hash, (uint64_t)(uintptr_t)known->functions[i]);
	return hash;
}

/* A slot without a definition keeps NULL, as those of libstdc++ where it is not loaded. */
void runtime_find_symbols(void)
{
	struct contract_modules *known = known_modules();
	const uint32_t count = (uint32_t)(__stop_raddle_symbols - __start_raddle_symbols);

	if (known_modules_have(known, FACT_FUNCTIONS) && known->function_count == count &&
		known->functions_hash == symbol_hash_functions(known)) {
		for (uint32_t i = 0; i < count; i++)
			__start_raddle_symbols[i].function = known->functions[i];
		return;
	}
	symbol_search_all();
	if (!known || count > CONTRACT_FUNCTIONS_MOST)
		return;
	known->function_count = count;
	for (uint32_t i = 0; i < count; i++)
		known->functions[i] = __start_raddle_symbols[i].function;
	known->functions_hash = symbol_hash_functions(known);
	known->facts |= FACT_FUNCTIONS;
}

static void symbol_bind_module(const struct symbol_table *module, const struct symbol_table *own)
{
	const ElfW(Rela) *end = module->calls + module->call_bytes / sizeof *module->calls;
	struct dl_find_object object;

	if (_dl_find_object(module->module->l_ld, &object))
		return;
	for (const ElfW(Rela) *call = module->calls; call < end; call++) {
		const ElfW(Sym) *symbol = &module->symbols[ELF64_R_SYM(call->r_info)];
		const char *name = module->names + symbol->st_name;
		void **slot = (void **)(module->module->l_addr + call->r_offset);
		void *found;

		/* An unbound slot has an address inside its own module. */
		if (ELF64_R_TYPE(call->r_info) != R_X86_64_JUMP_SLOT ||
			*slot < object.dlfo_map_start || *slot >= object.dlfo_map_end)
			continue;
		found = symbol_in_table(own, name);
		if (found && !symbol_in_table(module, name) && found == runtime_symbol(name))
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
