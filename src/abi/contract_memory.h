/*
 * The part of the contract about memory accesses: which sites are on, and which variables threads
 * are known to share. It persists across runs; a run sees the knowledge that was frozen when the
 * run began.
 *
 * A *variable* is eight aligned bytes of memory with a stable name (engine_object_name's rule:
 * static data by module and offset, heap by allocation and offset, stacks by thread and depth). A
 * variable is a *point* when its accesses are scheduling points, at sites that are on.
 *
 * A run notes facts: which threads access which variables, and which sites access shared ones.
 * memory_settle() turns the noted facts into the next *version* of the knowledge
 * (memory_settle.h). Each run is made by one version, run_version. If is_frozen is set, runs note
 * nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bitset.h"
#include "base/hash.h"
#include "model/ids.h"
#include "model/memory/memory_block.h"
#include "abi/instrument_abi.h"
#include "abi/quick_table.h"

#define MEMORY_MODULES_MAX 256
#define MEMORY_SITES_MAX (UINT32_C(1) << 22)
#define MEMORY_VARIABLES_MAX (UINT32_C(1) << 20) /* a power of two: slots of the table */
/* Most variables: keeps searches short, and guarantees a free slot that ends them. */
#define MEMORY_VARIABLES_ROOM (MEMORY_VARIABLES_MAX / 4 * 3)
#define MEMORY_BLOCKS_MAX (UINT32_C(1) << 16)
#define MEMORY_GROUPS_MAX 4096
#define MEMORY_FOCUS_MAX 16
#define MEMORY_VIAS_MAX 4
#define MEMORY_ALLOCATIONS_MAX 16
#define MEMORY_OBJECTS_MAX 16384
#define MEMORY_LOCALS_MAX 64
#define MEMORY_PATTERNS_MAX (UINT32_C(1) << 17)
/* Entries of the list; with more, all variables are examined */
#define MEMORY_NEWS_MAX (UINT32_C(1) << 16)

/* The accesses that are scheduling points. [host] */
enum memory_mode {
	MEMORY_LEARN, /* accesses to shared variables, which profiling runs find */
	MEMORY_NONE,  /* only synchronisation operations */
	MEMORY_ALL,   /* every access of every site */
	/* accesses of sites and to variables that the command chose; learning continues */
	MEMORY_CHOSEN,
	/* Used with the race detector: accesses to shared variables that are atomic or that have
	 * raced. Synchronisation orders all other accesses, so choices at the synchronisation reach
	 * every other order. The detector sees all accesses. */
	MEMORY_RACES,
	/* Accesses to shared variables that are atomic, or at sites that have raced, in campaigns of
	 * long runs. The detector watches the profiling runs only; other runs have few sites on. */
	MEMORY_RACY_SITES,
	MEMORY_MODE_COUNT
};

/* Returns whether plain accesses reach the race detector without being scheduling points. */
static inline bool memory_mode_needs_races(uint32_t mode)
{
	return mode == MEMORY_RACES || mode == MEMORY_RACY_SITES;
}

/* Flags of sites[], one byte each. */
#define SITE_ON 1u     /* its instruction reports in the current run */
#define SITE_SEEN 2u   /* has executed at least once while on */
#define SITE_SHARED 4u /* has accessed a variable that is a point */
/* [host] MEMORY_CHOSEN: the site is on. MEMORY_RACY_SITES: by the version of the run, it has raced */
#define SITE_CHOSEN 8u
#define SITE_WAITED 16u /* a thread has waited here by reading repeatedly */
/* by the version of the run, the site is on in all runs except profiling and partial ones */
#define SITE_KEPT 32u
#define SITE_STANDS 64u /* by the version of the run, a thread has waited here */
/* has rested in this run (runtime/sampling.h): its accesses are no scheduling points */
#define SITE_RESTED 128u

/* Flags of variables[].flags. */
#define VARIABLE_READ 1u /* read by any thread, after the first thread creation */
#define VARIABLE_WRITTEN 2u
#define VARIABLE_MANY 4u    /* accessed by at least two threads */
#define VARIABLE_POINT 8u   /* frozen: its accesses are scheduling points in this run */
#define VARIABLE_CHOSEN 16u /* [host] MEMORY_CHOSEN */
#define VARIABLE_RACED 32u  /* a suppressed race has accessed the variable */
/* Frozen copy of VARIABLE_RACED; with MEMORY_RACES any access is then a scheduling point */
#define VARIABLE_RACY 64u
#define VARIABLE_FOCUSED 128u /* is_filtered: one of the points of this run */
/* Used in struct memory_known only: the allocation site of its allocation was looked up */
#define VARIABLE_PLACED 256u
/* Used in struct memory_known only: the address was in a freed block when the entry was made */
#define VARIABLE_FREED 512u

/* Hash table entry: open addressing by `name`, linear probing, entries are never removed; name 0:
 * free. [guest] */
struct memory_variable {
	variable_name name;
	thread_name thread; /* first thread that accessed it */
	uint16_t flags;
	/* memory_allocation_site(); 0: not determined yet; MEMORY_NOT_ON_HEAP */
	uint16_t allocated_at;
	/* Heap: heap_position.loop. Static data: the engine's number of the module + 1. main's
	 * stack: MEMORY_OF_MAIN. */
	uint16_t loop;
	/* Groups + 1 of sites that have accessed it; 0 ends the list. Two groups overlap when both
	 * may access a common variable. Groups that are not listed overlap a listed one. */
	uint16_t via[MEMORY_VIAS_MAX];
	/* entries of via[] that are settled */
	uint8_t via_known;
	uint8_t news;
	/* Heap: heap_position.block. Static data: granules from the start of the module. main's
	 * stack: granules from its end. */
	object_name block_name;
	uint32_t block; /* index in blocks[] + 1 of a traced run; else 0 */
};

/* Flags of variables[].news. */
#define VARIABLE_NEWS 1u
#define VARIABLE_VIA_LOST 2u /* via[0] must become MEMORY_VIA_UNKNOWN */
#define VARIABLE_ADDED 4u    /* not in the table before */
#define VARIABLE_DROPPED 8u  /* counts as not in the table, whose entries are never removed */

/* Value of variables[].via[0]: too many groups, or a name of different variables in other runs. */
#define MEMORY_VIA_UNKNOWN UINT16_MAX

#define MEMORY_OF_MAIN UINT16_MAX

/* A value that memory_allocation_site() never returns: the variable is not on the heap. */
#define MEMORY_NOT_ON_HEAP 1

/* The groups of all variables of one allocation site: see focus.h. */
struct memory_allocation_groups {
	uint64_t version; /* of the knowledge, plus 1; 0: no entry */
	uint16_t allocation_site;
	uint16_t count; /* 0: unknown, or too many */
	uint16_t groups[MEMORY_FOCUS_MAX];
};

/* The sites that may access an object in static data, or a local of main. patterns[] has one entry
 * per granule and repeats after `period` granules. An entry is the index of a group without sites,
 * which overlaps exactly the groups of the sites that may access the granule. [host] */
struct memory_object {
	/* distance from the module's first record; of a local: its site in sites[] */
	int64_t start;
	uint64_t bytes; /* size of the part that has an address in a file; a multiple of eight */
	uint32_t module;
	uint32_t pattern; /* index in patterns[] */
	uint32_t period;
};

/* An executable or library with sites, in the order of first loading. [guest] */
struct memory_module {
	uint64_t name;	      /* hash of its base name: its identity across runs */
	uint64_t fingerprint; /* hash of its records: another build has another value */
	uint64_t records;     /* address of the first record at the last load */
	uint32_t first;	      /* index of its first site in sites[] */
	uint32_t count;
};

/* Cache from addresses to variables, for heap blocks and static data, which keep their addresses
 * for long. An entry is valid while its epoch equals known_epoch. [guest] */
#define MEMORY_KNOWN_MAX (UINT32_C(1) << 17) /* a power of two; an address has one slot */
#define MEMORY_NO_VARIABLE UINT32_MAX
struct memory_known {
	uint64_t granule : 48;	    /* address / 8 */
	uint64_t allocated_at : 16; /* copy of variables[].allocated_at; 0: not looked up */
	uint32_t epoch;		    /* 0: empty */
	/* Index in variables[]; MEMORY_NO_VARIABLE: not in the table, and will not be added */
	uint32_t slot;
	object_name name;
	thread_name thread;
	uint16_t flags;
	uint16_t group;	 /* Group + 1 of a site already passed to memory_note_group(); 0: none */
	uint32_t shadow; /* the race detector's slot for it, or 0: race_passes_plain() */
};

/* Bits of contract_memory.points. A large program has 10^5 points; 128 KB fit into a second-level cache. */
#define MEMORY_POINT_BITS (UINT32_C(1) << 20)

/* The cost of a profiling run is a class. A run of class 0 has made less than 64 accesses that are no points, one of
 * class 1 less than 128, and so on up to class 6. Class 7 has all longer runs. */
#define PROFILE_COST_ACCESSES 64u
#define PROFILE_COST_MOST 6u

struct contract_memory {
	/* First, because every run uses its last fields and those behind it. */
	struct contract_quick quick;
	uint32_t mode;		/* [host] enum memory_mode */
	uint32_t is_frozen;	/* [host] nothing is learnt; sites[] decides which sites are on */
	uint32_t has_all_sites; /* [host] MEMORY_LEARN, MEMORY_RACES: each run has all sites on */
	uint32_t module_count;
	uint32_t site_count;
	uint32_t variable_count;
	uint32_t profile_runs; /* profiling runs so far */
	/* blocks of the last traced run, including those beyond the capacity */
	uint32_t block_count;
	uint32_t sites_on;
	uint32_t was_profile; /* the current run is a profiling run */
	uint32_t must_switch; /* memory_switch_sites() has work to do */
	/* 1 + the site at which the last run used freed memory, which replays need; 0: none */
	uint32_t failed_site;
	/* Versions of the knowledge, counted from 0: */
	uint64_t version;	   /* the last settled version */
	uint64_t points_version;   /* the version that last made variables points, or racy */
	uint64_t run_version;	   /* the version by which the last run was made */
	uint64_t searched_version; /* points_version when the exhaustive search began */
	/* Facts noted since the last version: */
	uint32_t newly_shared; /* number of variables that the next version makes points, or racy */
	uint32_t news_count;   /* variables with new facts, also those beyond the list news[] */
	uint32_t has_site_news;
	uint32_t newly_racy; /* number of sites that the next version makes racy */
	uint32_t has_lost;   /* the table had no room for a variable */
	uint32_t is_closed;  /* [host] no variable is added to the table any more */
	uint32_t visits;
	/* The cost class of the most expensive run so far decides how many runs are profiled. Runs note
	 * it in noted_cost. The next version of the knowledge copies it to profile_cost, which applies. */
	uint32_t noted_cost;
	uint32_t profile_cost;
	uint32_t
		race_pairs; /* the race detector's suppressed pairs whose sites are in racy_sites[] */
	/* [host] frozen: only sites that may access variables of the groups in focus[] are on
	 * (focus.h) */
	uint32_t is_partial;
	uint32_t has_waited; /* a thread has waited by reading repeatedly */
	uint32_t focus_count;
	uint16_t focus[MEMORY_FOCUS_MAX];
	/* [host] frozen: the points of this run are the variables in focused[] (indices), given
	 * by name, ... */
	uint32_t is_filtered;
	uint32_t focused_count;
	uint32_t focused[MEMORY_FOCUS_MAX];
	/* ... and all variables allocated at these allocation sites (variables[].allocated_at) */
	uint32_t focused_allocation_count;
	uint16_t focused_allocations[MEMORY_FOCUS_MAX];
	struct memory_allocation_groups allocation_sites[MEMORY_ALLOCATIONS_MAX];
	uint32_t knows_waiting; /* by the version of the run, a thread has waited at a site */
	/* [host] number of groups; 0: no analysis */
	uint32_t group_count;
	uint32_t known_epoch;
	uint32_t known_used;		/* epoch of the entry of `known` that was made last */
	uint32_t news[MEMORY_NEWS_MAX]; /* slots */
	char refusal[128];		/* why sites cannot be switched; empty: they can */
	struct memory_module modules[MEMORY_MODULES_MAX];
	uint8_t sites[MEMORY_SITES_MAX];
	uint16_t looks[MEMORY_SITES_MAX]; /* accesses of each site in this run: sampling.c */
	uint64_t racy_sites[MEMORY_SITES_MAX / 64]; /* bit set: a watched run saw a race here */
	/* A bit is set if a variable with VARIABLE_POINT has a name of this hash. */
	uint64_t points[MEMORY_POINT_BITS / 64];
	/* Hash table, whose entries are never removed. It is much larger than the tables of most programs: code that
	 * visits all entries uses memory_entry(). */
	struct memory_variable variables[MEMORY_VARIABLES_MAX];
	/* The used indices of variables[], variable_count of them, in the order in which the variables were added */
	uint32_t entries[MEMORY_VARIABLES_MAX];
	struct memory_block blocks[MEMORY_BLOCKS_MAX];
	struct memory_known known[MEMORY_KNOWN_MAX];
	/* [host] group + 1 of each site; 0: it may access anything */
	uint16_t groups[MEMORY_SITES_MAX];
	/* [host] bit matrix: two groups may access a common variable */
	uint64_t overlaps[MEMORY_GROUPS_MAX][MEMORY_GROUPS_MAX / 64];
	/* [host] sorted by module and start; objects in the same granule are adjacent */
	uint32_t object_count;
	uint32_t local_count;
	struct memory_object objects[MEMORY_OBJECTS_MAX];
	struct memory_object locals[MEMORY_LOCALS_MAX];
	uint16_t patterns
		[MEMORY_PATTERNS_MAX]; /* groups + 1; 0: the sites that access it are unknown */
};

static inline uint64_t memory_module_name(const char *base_name)
{
	return hash_bytes(base_name, strlen(base_name)) | 1;
}

static inline uint64_t memory_module_fingerprint(const struct site_record *first, uint64_t count)
{
	const uint64_t part = count < 64 ? count : 64;

	return hash_pair(hash_bytes(first, part * sizeof *first),
		hash_pair(count, hash_bytes(first + count - part, part * sizeof *first)));
}

static inline bool memory_flags_shared(uint32_t flags)
{
	const uint32_t both = VARIABLE_MANY | VARIABLE_WRITTEN;

	return (flags & both) == both;
}

/* Returns whether runs have points that the exhaustive search has not begun with. */
static inline bool memory_has_unsearched_points(const struct contract_memory *memory)
{
	return memory->newly_shared || memory->searched_version != memory->points_version;
}

static inline uint16_t memory_allocation_site(uint64_t site)
{
	return (uint16_t)(hash_mix(site) | 3);
}

static inline bool memory_is_on_heap(const struct memory_variable *variable)
{
	return variable->allocated_at > MEMORY_NOT_ON_HEAP;
}

/* Returns true if the variable is a point of the run, provided that is_filtered is set. */
static inline bool memory_is_focused(
	const struct contract_memory *memory, const struct memory_variable *variable)
{
	if (variable->flags & VARIABLE_FOCUSED)
		return true;
	for (uint32_t i = 0; i < memory->focused_allocation_count; i++)
		if (memory->focused_allocations[i] == variable->allocated_at)
			return true;
	return false;
}

/* Eight neighbouring granules of a heap block form a group. The hash of a group, not that of each granule, decides
 * where their entries lie in variables[]: they lie side by side. Code that visits all granules of a block therefore
 * touches few pages of that table. */
#define MEMORY_GROUP_GRANULES 8

/* Returns the name of a granule. `group` is a hash that names its group, and the low bits of the result are
 * the granule's allocation site in the group. */
static inline variable_name memory_group_name(uint64_t group, uint64_t granule)
{
	return (group & ~UINT64_C(15)) | granule % MEMORY_GROUP_GRANULES << 1 | 1;
}

static inline uint32_t memory_point_bit(variable_name name)
{
	return (uint32_t)(name >> 1) % MEMORY_POINT_BITS;
}

/* Returns false for most variables that are no points, without a look into the large table. */
static inline bool memory_may_be_point(const struct contract_memory *memory, variable_name name)
{
	return bitset_has(memory->points, memory_point_bit(name));
}

static inline void memory_make_point(
	struct contract_memory *memory, struct memory_variable *variable)
{
	variable->flags |= VARIABLE_POINT;
	bitset_add(memory->points, memory_point_bit(variable->name));
}

/* Returns the index in variables[] at which a search begins, which continues cyclically. Variables
 * that share an object_name begin at the same index. */
static inline uint32_t memory_variable_slot(variable_name name)
{
	const object_name object = (object_name)name;
	const uint64_t group = (uint64_t)(object >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	return ((uint32_t)group * MEMORY_GROUP_GRANULES + (object >> 1) % MEMORY_GROUP_GRANULES) %
	       MEMORY_VARIABLES_MAX;
}

static inline bool memory_has_object(const struct memory_variable *variable, object_name object)
{
	return (object_name)variable->name == object && !(variable->news & VARIABLE_DROPPED);
}

/* Lists the variable among those about which this run has learned facts. memory_settle() makes the facts part
 * of the next version. */
static inline void memory_note_news(
	struct contract_memory *memory, struct memory_variable *variable)
{
	if (variable->news & VARIABLE_NEWS)
		return;
	variable->news |= VARIABLE_NEWS;
	if (memory->news_count < MEMORY_NEWS_MAX)
		memory->news[memory->news_count] = (uint32_t)(variable - memory->variables);
	memory->news_count++;
}

/* Notes that the site has raced. */
static inline void memory_note_racy_site(struct contract_memory *memory, uint32_t site)
{
	if (bitset_has(memory->racy_sites, site))
		return;
	bitset_add(memory->racy_sites, site);
	memory->has_site_news = true;
	memory->newly_racy += memory->mode == MEMORY_RACY_SITES;
}

/* Returns the variable that was inserted into the table as number `i`. */
static inline struct memory_variable *memory_entry(struct contract_memory *memory, uint32_t i)
{
	/* The target may have damaged both numbers. */
	return &memory->variables[memory->entries[i % MEMORY_VARIABLES_MAX] % MEMORY_VARIABLES_MAX];
}

/* Uses a free slot for a new variable. */
static inline struct memory_variable *memory_insert(
	struct contract_memory *memory, uint32_t slot, variable_name name)
{
	memory->entries[memory->variable_count++ % MEMORY_VARIABLES_MAX] = slot;
	memory->variables[slot].name = name;
	return &memory->variables[slot];
}

/* Returns the entry of a variable, and adds it without noting that this run learned it. The table must not be full. */
static inline struct memory_variable *memory_restore_variable(
	struct contract_memory *memory, variable_name name)
{
	uint32_t slot = memory_variable_slot(name);

	while (memory->variables[slot].name && memory->variables[slot].name != name)
		slot = (slot + 1) % MEMORY_VARIABLES_MAX;
	return memory->variables[slot].name ? &memory->variables[slot]
					    : memory_insert(memory, slot, name);
}

/* Returns a variable by its name. Returns NULL if the variable is unknown, and `add` is false or
 * the table is full. */
static inline struct memory_variable *memory_find_variable(
	struct contract_memory *memory, variable_name name, bool add)
{
	uint32_t slot = memory_variable_slot(name);
	struct memory_variable *variable;

	while (memory->variables[slot].name) {
		if (memory->variables[slot].name == name)
			return memory->variables[slot].news & VARIABLE_DROPPED
				       ? NULL
				       : &memory->variables[slot];
		slot = (slot + 1) % MEMORY_VARIABLES_MAX;
	}
	if (!add || memory->is_closed)
		return NULL;
	if (memory->variable_count >= MEMORY_VARIABLES_ROOM) {
		memory->has_lost = true;
		return NULL;
	}
	variable = memory_insert(memory, slot, name);
	variable->news = VARIABLE_ADDED;
	memory_note_news(memory, variable);
	return variable;
}
