/*
 * The record of one run in private memory of the command, which moves data out of the shared area
 * (record.h) during the run.
 *
 * Life cycle: zero-initialised; run_record_take() any number of times; run_record_finish() once;
 * run_record_release().
 */
#pragma once

#include "base/error.h"
#include "branches/record/op_stream.h"

struct run_thread {
	thread_name name;
	uint16_t parent; /* index; UINT16_MAX: none */
	uint16_t ordinal;
	uint8_t *bytes; /* entries, ended by RECORD_END */
	uint64_t size, capacity;
	uint64_t mapped; /* nonzero: `bytes` is a mapping of this length of `file` */
	int file;	 /* unlinked */
};

/* A module with sites, which are numbered as in the record. */
struct run_module {
	uint64_t name;
	uint64_t fingerprint; /* name and fingerprint as in contract_memory.h */
	uint64_t records;     /* address of its first site record in the target */
	uint32_t first;	      /* number of its first site */
	uint32_t count;
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
	uint64_t op_count;
	struct op_stream *op_stream; /* decoder state while data is taken */
	uint64_t bytes;		     /* bytes of all threads and ops */
	bool is_partial; /* entries at the end are missing; ops, images and all else are complete */
	bool is_checked;
	/* The record does not say whether the crashing access was a write. Files do not contain
	 * these fields. */
	bool has_crashed;
	uint16_t crashed_thread;
	uint64_t crash_address;
	/* Bit set over all sites: accesses that were scheduling points; NULL: none. */
	uint64_t *points;
};

void run_record_release(struct run_record *record);
/*
 * Moves the contents of the area to the end of the record. The caller fills in modules and thread
 * names. Above `most` bytes, or without space in /var/tmp for long entries, the record drops new
 * entries and becomes partial. Returns false if the target wrote over the area, of size `bytes`.
 */
bool run_record_take(struct run_record *record, struct record_area *area, uint64_t bytes,
	uint32_t threads, uint64_t most);
/*
 * Ends the threads' entries, when the run is over and everything was taken. Returns false if the
 * target wrote over the area.
 */
bool run_record_finish(struct run_record *record, const struct record_area *area);
