/*
 * Short names of heap blocks in tables: "node#1" for "(struct node *)malloc at list.c:9 by main.1,
 * #1". The full name takes three lines of a narrow column, and its number counts only the blocks
 * of one location and thread.
 */
#pragma once

#include <stdint.h>

#include "base/strbuf.h"
#include "report/text/text.h"

struct block_name {
	char *block; /* "(struct node *)malloc at list.c:9 by main.1, #1"; owned */
	char *type;  /* "node"; owned */
	unsigned number;
};

/* The blocks named so far, in the order of their first appearance. All zero: none. */
struct block_names {
	struct block_name *names; /* owned */
	uint32_t count;
};

void block_names_release(struct block_names *names);

/* Appends the text, which names objects in full, with short names for its blocks: "reads
 * ((struct node *)malloc at list.c:9, #1).next" becomes "reads node#1.next". */
void block_names_add_text(struct block_names *names, const char *text, struct strbuf *out);

/* Appends a line for each name: "node#1 is (struct node *)malloc at list.c:9 by main.1, #1". */
void block_names_add_legend(
	const struct block_names *names, const struct report_style *style, struct strbuf *out);
