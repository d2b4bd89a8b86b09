/* The record of a run as a file (docs/record-format.md). A damaged or foreign file is an error. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "branches/record/run_record.h"

#define RECORD_FILE_MAGIC "raddlrec"

/* The header before the compressed contents; little-endian. */
struct record_file_head {
	char magic[8];
	uint32_t version; /* RECORD_VERSION */
	uint32_t reserved;
	uint64_t plain_bytes;
	uint64_t stored_bytes;
};

/* Removes the file again if it cannot be completed. */
int record_file_write(const struct run_record *record, const char *path, struct error *err);
/* Reads a record, which the caller releases after success. */
int record_file_read(struct run_record *record, const char *path, struct error *err);

/* Returns the contents of a record; the caller frees the bytes. */
uint8_t *record_contents(const struct run_record *record, size_t *size);
/* Reads a record; `name` is used in messages. */
int record_contents_read(struct run_record *record, const uint8_t *bytes, size_t size,
	const char *name, struct error *err);
