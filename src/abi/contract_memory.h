/*
 * The part of the contract about accesses to memory: which sites are on, and which variables are
 * known to be shared. It lives as long as the block, across runs; a run only ever sees what was
 * frozen when it began.
 *
 * A *variable* here is eight aligned bytes of memory under a stable name (engine_object_name's rule:
 * static data by module and offset, heap by allocation and offset, stacks by thread and depth). An
 * access is a scheduling point if its site is on and its variable is a point. What is learnt in a
 * run (which threads touch what, which sites touch shared variables) becomes effective at the start
 * of the next: memory_prepare_run(). Where runs are made in rounds (strategy.h), it becomes effective with
 * the next round, in which all processes know the same: the host has joined what each of them has learnt
 * (plan/memory_join.h). With is_frozen nothing is learnt.
 */
#ifndef RADDLE_ABI_CONTRACT_MEMORY_H
#define RADDLE_ABI_CONTRACT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "model/ids.h"
#include "model/memory_block.h"
#include "abi/instrument_abi.h"
#include "abi/quick_table.h"

#define MEMORY_MODULES_MAX 256
#define MEMORY_SITES_MAX (UINT32_C(1) << 22)
#define MEMORY_VARIABLES_MAX (UINT32_C(1) << 20) /* a power of two: slots of the table */
#define MEMORY_BLOCKS_MAX (UINT32_C(1) << 16)
#define MEMORY_GROUPS_MAX 4096
#define MEMORY_FOCUS_MAX 16
#define MEMORY_VIAS_MAX 4
#define MEMORY_PLACES_MAX 16
#define MEMORY_OBJECTS_MAX 16384
#define MEMORY_LOCALS_MAX 64
#define MEMORY_PATTERNS_MAX (UINT32_C(1) << 17)
#define MEMORY_NEWLY_SHARED_MAX 1024 /* that are listed; of more, all variables are looked at */
#define MEMORY_NEWS_MAX (UINT32_C(1) << 16) /* likewise */

/* Which accesses are scheduling points. [host] */
enum memory_mode {
	MEMORY_LEARN,  /* shared ones: learnt from profiling runs */
	MEMORY_NONE,   /* none: only synchronisation operations are */
	MEMORY_ALL,    /* every access of every site */
	MEMORY_CHOSEN, /* sites and variables as the host set them; learning goes on beside it */
	/*
	 * With the detector of races: of shared ones those that are atomic, and those that have raced. The
	 * others are ordered by synchronisation, so where that can happen in another order, a choice
	 * there is enough; the detector is told of them all the same.
	 */
	MEMORY_RACES,
	MEMORY_MODE_COUNT
};

/* sites[]: one byte each. */
#define SITE_ON 1u	/* patched in for the current run */
#define SITE_SEEN 2u	/* has run at least once while on */
#define SITE_SHARED 4u	/* has touched a variable that is a point */
#define SITE_CHOSEN 8u	/* [host] MEMORY_CHOSEN: on */
#define SITE_WAITED 16u /* a thread has waited there, reading again and again */
#define SITE_KEPT 32u	/* on in the round's runs, but for those that are special */
#define SITE_STANDS 64u /* SITE_WAITED when the round began */

/* variables[].flags */
#define VARIABLE_READ 1u /* by any thread, once threads exist */
#define VARIABLE_WRITTEN 2u
#define VARIABLE_MANY 4u    /* by two threads at least */
#define VARIABLE_POINT 8u   /* frozen: its accesses are scheduling points in this run */
#define VARIABLE_CHOSEN 16u /* [host] MEMORY_CHOSEN */
#define VARIABLE_RACED 32u  /* in a race that was let pass */
#define VARIABLE_RACY 64u /* frozen: likewise; a point with MEMORY_RACES, however it is accessed */
#define VARIABLE_FOCUSED 128u /* is_filtered: of those that are points in this run */
#define VARIABLE_PLACED 256u  /* of struct memory_known only: it is known where it was allocated */

/* Open addressing by `name`, linear probing, nothing is ever removed; name 0: free. [guest] */
struct memory_variable {
	variable_name name;
	thread_name thread; /* that touched it first */
	uint16_t flags;
	/* memory_allocating_place() of what allocated it; 0: not yet asked for; MEMORY_NOT_ON_HEAP. */
	uint16_t allocated_at;
	uint16_t
		loop; /* and of its block: struct object_place; static data: the engine's number of its module + 1;
			 main's stack: MEMORY_OF_MAIN */
	/* Groups + 1 of sites that have touched it; all others that have meet one of these. 0: no more. */
	uint16_t via[MEMORY_VIAS_MAX];
	uint8_t via_known; /* of these, in this round; the others were learnt in it */
	uint8_t news;
	object_name
		block_name; /* static data: how many variables into its module; main's stack: below its end */
	uint32_t block; /* index in blocks[] + 1 of a traced run; else 0 */
};

/* variables[].news */
#define VARIABLE_NEWS 1u     /* it is listed in news[] */
#define VARIABLE_VIA_LOST 2u /* via[0] is to be MEMORY_VIA_UNKNOWN */

/* variables[].via[0]: there are too many, or its name may be another's in another run. */
#define MEMORY_VIA_UNKNOWN UINT16_MAX

#define MEMORY_OF_MAIN UINT16_MAX

/* 1 is the number of no place. */
#define MEMORY_NOT_ON_HEAP 1

/* The groups of all variables that were allocated at a place: see focus.h. */
struct memory_place_groups {
	uint64_t round; /* 0: free */
	uint16_t place;
	uint16_t count; /* 0: they are not known, or too many */
	uint16_t groups[MEMORY_FOCUS_MAX];
};

/*
 * Which sites may touch static data, or a local of main: the groups of sites that may touch each eight bytes of it are
 * met by a group without sites, the same again after so many. [host]
 */
struct memory_object {
	int64_t start;	/* from the module's first record; of a local: its site in sites[] */
	uint64_t bytes; /* of what has an address in a file: whole eights */
	uint32_t module;
	uint32_t pattern; /* in patterns[] */
	uint32_t period;
};

/* An executable or library with sites, in the order in which they were first loaded. [guest] */
struct memory_module {
	uint64_t name;	      /* hash of its base name: the identity across runs */
	uint64_t fingerprint; /* of its records: another build has another */
	uint64_t records;     /* address of the first record; that of the last load */
	uint32_t first;	      /* index of its first site in sites[] */
	uint32_t count;
};

/*
 * What lies at an address, so that names need not be made at every access: of blocks of the heap and static
 * data, which keep their place for long. Holds while the epochs are equal. [guest]
 */
#define MEMORY_KNOWN_MAX (UINT32_C(1) << 17) /* a power of two; an address has one place */
#define MEMORY_NO_VARIABLE UINT32_MAX
struct memory_known {
	uint64_t granule; /* address / 8 */
	uint32_t epoch;	  /* 0: empty */
	uint32_t slot;	  /* in variables[]; MEMORY_NO_VARIABLE: it is not there, and will not be */
	object_name name; /* its short name */
	thread_name thread; /* as in variables[] */
	uint16_t flags;	    /* as there; 0: absent */
	uint16_t group;	    /* + 1, of a site of which memory_note_group() has been told; 0: none */
	uint32_t shadow;    /* the detector's place for it, or 0: race_passes_plain() */
};

struct contract_memory {
	uint32_t mode;	    /* [host] enum memory_mode */
	uint32_t is_frozen; /* [host] nothing is learnt; sites are as sites[] says */
	uint32_t module_count;
	uint32_t site_count;	 /* of all modules */
	uint32_t variable_count; /* slots in use */
	uint32_t variables_lost; /* did not fit */
	uint32_t profile_runs;	 /* done so far */
	uint32_t block_count;	 /* of the last traced run, also those beyond the capacity */
	uint32_t sites_on;	 /* in the current run */
	uint32_t points_known;	 /* variables that are points */
	uint32_t was_profile;	 /* the current run is a profiling run */
	uint32_t must_switch;	 /* memory_switch_sites() has something to do */
	uint32_t newly_shared; /* variables that become points, or racy, when the next run begins */
	uint32_t points_changed; /* there are points that no run has had yet */
	uint32_t has_changed;	 /* learnt since the last memory_prepare_run() */
	/* Learnt in this round: which variables there is something new of, and whether of sites. */
	uint32_t news_count; /* also those that are not listed */
	uint32_t has_site_news;
	uint32_t round_has_points; /* that the rounds before it did not have */
	uint64_t round;		   /* plan.round of the last run */
	uint32_t visits;	   /* accesses at sites that were on, in the last run */
	/* In this run only sites that may touch what these groups touch are on (focus.h); [host] frozen. */
	uint32_t is_partial;
	uint32_t has_waited; /* a thread has been taken for one that waits by reading */
	uint32_t focus_count;
	uint16_t focus[MEMORY_FOCUS_MAX];
	uint32_t
		is_filtered; /* and only these variables, by slot, are points in it; [host] frozen: their names are */
	uint32_t focused_count;
	uint32_t focused[MEMORY_FOCUS_MAX];
	/* Likewise all that was allocated at these places (variables[].allocated_at). */
	uint32_t focused_place_count;
	uint16_t focused_places[MEMORY_FOCUS_MAX];
	/* What was asked for in this round. [guest] */
	struct memory_place_groups places[MEMORY_PLACES_MAX];
	uint32_t round_has_waited; /* as has_waited, when the round began */
	uint32_t
		group_count; /* [host] of sites that may touch the same variables; 0: nobody knows */
	uint32_t known_epoch; /* never 0 in a run */
	uint32_t known_used;  /* the epoch of the entry of `known` that was made last */
	uint32_t newly_shared_slots[MEMORY_NEWLY_SHARED_MAX];
	uint32_t news[MEMORY_NEWS_MAX]; /* slots */
	char refusal[128];		/* why sites cannot be switched; empty: they can */
	struct memory_module modules[MEMORY_MODULES_MAX];
	uint8_t sites[MEMORY_SITES_MAX];
	struct memory_variable variables[MEMORY_VARIABLES_MAX];
	struct memory_block blocks[MEMORY_BLOCKS_MAX];
	struct memory_known known[MEMORY_KNOWN_MAX];
	struct contract_quick quick;
	uint16_t groups[MEMORY_SITES_MAX]; /* [host] by site, + 1; 0: it may touch anything */
	/* [host] may two groups touch one variable? */
	uint64_t meets[MEMORY_GROUPS_MAX][MEMORY_GROUPS_MAX / 64];
	/* [host] static data, by module and start: what lies in the same eight bytes stands together. */
	uint32_t object_count;
	uint32_t local_count;
	struct memory_object objects[MEMORY_OBJECTS_MAX];
	struct memory_object locals[MEMORY_LOCALS_MAX];
	uint16_t patterns
		[MEMORY_PATTERNS_MAX]; /* groups + 1; 0: which sites touch it is not known */
};

/* A module's identity: by its base name (the executable's is empty), and by its records. */
static inline uint64_t memory_module_name(const char *base_name)
{
	return hash_bytes(base_name, strlen(base_name)) | 1;
}

static inline uint64_t memory_module_fingerprint(const struct site_record *first, uint64_t count)
{
	/* The first and the last are enough to tell builds apart. */
	const uint64_t part = count < 64 ? count : 64;

	return hash_pair(hash_bytes(first, part * sizeof *first),
		hash_pair(count, hash_bytes(first + count - part, part * sizeof *first)));
}

/* Two threads at least have touched the variable, and one has written. */
static inline bool memory_flags_shared(uint32_t flags)
{
	const uint32_t both = VARIABLE_MANY | VARIABLE_WRITTEN;

	return (flags & both) == both;
}

static inline uint16_t memory_allocating_place(uint64_t site)
{
	return (uint16_t)(hash_mix(site) | 3);
}

static inline bool memory_is_on_heap(const struct memory_variable *variable)
{
	return variable->allocated_at > MEMORY_NOT_ON_HEAP;
}

/* is_filtered: is it one of the run's? */
static inline bool memory_is_focused(
	const struct contract_memory *memory, const struct memory_variable *variable)
{
	if (variable->flags & VARIABLE_FOCUSED)
		return true;
	for (uint32_t i = 0; i < memory->focused_place_count; i++)
		if (memory->focused_places[i] == variable->allocated_at)
			return true;
	return false;
}

/*
 * Where the search for a variable begins in variables[]; it goes on to the next slot, cyclically. Variables of
 * one object_name begin at the same slot.
 */
static inline uint32_t memory_variable_slot(variable_name name)
{
	return (uint32_t)((uint64_t)(object_name)name * UINT64_C(0x9e3779b97f4a7c15) >> 32) %
	       MEMORY_VARIABLES_MAX;
}

#endif
