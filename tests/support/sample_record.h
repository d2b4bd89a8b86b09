/* A small record with something of everything, for tests of what reads and writes records. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "model/op.h"
#include "branches/record/run_record.h"

static inline void *sample_copy(const void *bytes, size_t size)
{
	void *copy = malloc(size + 1);

	BUG_ON(!copy);
	memcpy(copy, bytes, size);
	return copy;
}

/* The caller's to release. */
static inline struct run_record sample_record(void)
{
	static const uint8_t main_entries[] = {0x52, 7, RECORD_LIVE, 0x34, 1, 0, RECORD_END};
	static const uint8_t own_entries[] = {0x80 | RECORD_READ, 9, 1, 2, 3, 4, RECORD_END};
	const struct run_thread threads[] = {{.name = 11,
						     .parent = UINT16_MAX,
						     .bytes = sample_copy(main_entries, 7),
						     .size = 7},
		{.name = UINT32_MAX,
			.parent = 0,
			.ordinal = 3,
			.bytes = sample_copy(own_entries, 7),
			.size = 7}};
	const struct run_module modules[] = {
		{.name = 5, .fingerprint = 6, .records = 0x1000, .count = 20},
		{.name = 7, .fingerprint = 8, .records = 0x9000, .first = 20, .count = 1}};
	const struct record_object objects[] = {
		{.base = 0x1000}, {.base = 0x8000, .path = "/lib/libm.so"}};
	const struct record_image images[] = {
		{.address = 0x4000, .bytes = 4}, {.address = 0x9000, .bytes = 2, .offset = 4}};
	const struct record_op ops[] = {
		{.step = 1, .address = 0x4000, .kind = OP_MUTEX_LOCK, .other = UINT16_MAX},
		{.step = 900,
			.argument = 3,
			.site = 77,
			.thread = 1,
			.other = 0,
			.kind = OP_THREAD_JOIN,
			.flags = RECORD_OP_LAST}};

	return (struct run_record){.threads = sample_copy(threads, sizeof threads),
		.thread_count = 2,
		.modules = sample_copy(modules, sizeof modules),
		.module_count = 2,
		.objects = sample_copy(objects, sizeof objects),
		.object_count = 2,
		.images = sample_copy(images, sizeof images),
		.image_count = 2,
		.image_bytes = sample_copy("abcdef", 6),
		.image_size = 6,
		.ops = sample_copy(ops, sizeof ops),
		.op_count = 2,
		.bytes = 14 + sizeof ops,
		.is_partial = true};
}
