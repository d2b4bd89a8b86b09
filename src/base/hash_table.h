/* The tables of uthash, and how they are freed. */
#pragma once

#include <stdlib.h>

#include <uthash.h>

/* Removes all items of a table and frees them. The statement `release` comes before, and refers to
 * an item by the name `item`. */
#define HASH_FREE_EACH(table, item, release)                                                       \
	for (__typeof__(table) item = (table), next_##item; item; item = next_##item) {            \
		next_##item = item->hh.next;                                                       \
		HASH_DEL(table, item);                                                             \
		release;                                                                           \
		free(item);                                                                        \
	}
#define HASH_FREE(table) HASH_FREE_EACH(table, each, (void)0)
