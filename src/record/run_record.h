/*
 * The record of one run in plain memory of the command's: what record.h's area held when the run was over.
 */
#ifndef RADDLE_RECORD_RUN_RECORD_H
#define RADDLE_RECORD_RUN_RECORD_H

#include "base/error.h"
#include "record/record.h"

struct run_thread {
	thread_name name;
	uint16_t parent; /* index; UINT16_MAX: none */
	uint16_t ordinal;
	uint8_t *bytes; /* entries, ended by RECORD_END */
	uint64_t size;
};

/* A module with sites, numbered as in the record. */
struct run_module {
	uint64_t name;
	uint64_t fingerprint; /* both as contract_memory.h has them */
	uint64_t records;     /* address of its first site record */
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
	uint64_t bytes;	 /* of all threads and ops */
	bool is_partial; /* there was no room for the end */
	bool is_checked;
};

void run_record_release(struct run_record *record);
/* Copies the threads and ops out of an area; modules and the threads' names are the caller's to fill in. */
void run_record_take(struct run_record *record, const struct record_area *area, uint32_t threads);

#endif
