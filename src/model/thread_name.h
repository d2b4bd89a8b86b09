/* Computes stable thread names: one formula for the engine, the files and the reports. */
#pragma once

#include "base/hash.h"
#include "model/ids.h"

#define THREAD_NAME_MAIN ((thread_name)1)

/* Ordinal of the drainer of a thread's store buffer (engine/store_buffer.h) among its children. */
#define THREAD_ORDINAL_DRAINER UINT16_MAX
/* Written in paths instead of that ordinal: "main.0.buf". */
#define THREAD_PATH_DRAINER "buf"

/* Returns the name of the thread that `parent` created as number `ordinal` (from 0). Never 0, never
 * THREAD_NAME_MAIN. */
static inline thread_name thread_name_child(thread_name parent, uint32_t ordinal)
{
	thread_name name = (thread_name)hash_pair(parent, ordinal);

	return name > THREAD_NAME_MAIN ? name : name + 2;
}
