/*
 * The record of one run in plain memory of the command's: what record.h's area held when the run was over.
 */
#ifndef RADDLE_BRANCHES_RECORD_RUN_RECORD_H
#define RADDLE_BRANCHES_RECORD_RUN_RECORD_H

#include "base/error.h"
#include "branches/record/op_stream.h"

struct run_thread {
	thread_name name;
	uint16_t parent; /* index; UINT16_MAX: none */
	uint16_t ordinal;
	uint8_t *bytes; /* entries, ended by RECORD_END */
	uint64_t size;
	uint64_t digest; /* of all entries, also of those that are not kept */
};

/* A module with sites, numbered as in the record. */
struct run_module {
	uint64_t name;
	uint64_t fingerprint; /* both as contract_memory.h has them */
	uint64_t records;     /* address of its first site record */
	uint32_t first;	      /* number of its first site */
	uint32_t count;
};

struct run_record;

/* Is given the next entries of each thread, which are in `piece`; false: it wants no more of them. */
typedef bool run_taker(void *context, const struct run_record *piece, bool is_last);

/* Makes a run again whose record was not kept. What goes wrong is told elsewhere: then no piece is the last. */
struct run_source {
	void (*perform)(struct run_source *source, const struct run_record *record, run_taker *take,
		void *context);
};

struct run_record {
	struct run_thread *threads;
	uint32_t thread_count;
	struct run_module *modules;
	uint32_t module_count;
	struct record_object *objects;
	uint32_t object_count;
	struct record_image *images; /* offset: in image_bytes */
	uint32_t image_count;
	uint8_t *image_bytes;
	uint64_t image_size;
	struct record_op *ops;
	uint64_t op_count, op_capacity;
	struct op_stream *op_stream; /* while it is taken */
	uint64_t bytes;		     /* of all threads and ops */
	bool is_partial; /* there was no room for the end: threads' entries and nothing else are cut */
	bool is_checked;
	/* A thread crashed at an access there, which no entry tells if it was a write. Not kept in files. */
	bool has_crashed;
	uint16_t crashed_thread;
	uint64_t crash_address;
	uint64_t *
		points; /* bit set over all sites: whose accesses were scheduling points; NULL: nobody's */
	/* Not NULL: threads' entries are not here, but come from there. The owner's of the record. */
	struct run_source *source;
};

void run_record_release(struct run_record *record);
/*
 * Moves what is in the area to the end of the record, and empties it. Modules and the threads' names are the caller's to
 * fill in. While the threads' entries are more than `most` bytes they are not kept, and the record is partial.
 */
void run_record_take(
	struct run_record *record, struct record_area *area, uint32_t threads, uint64_t most);
/* The run is over, and all was taken: ends the threads' entries. */
void run_record_finish(struct run_record *record, const struct record_area *area);
/* The digest of entries that come behind those of `state`; of none: 0. */
uint64_t run_record_digest(uint64_t state, const uint8_t *bytes, uint64_t size);
/* Forgets the entries, and keeps the rest. */
void run_record_forget(struct run_record *record);

#endif
