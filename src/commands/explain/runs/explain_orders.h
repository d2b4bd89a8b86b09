/*
 * Which stronger memory orders prevent a failure of --memory-model tso or c11. Candidates are the
 * weak accesses of the finding's run. Each change of orders is tried in runs of the program as
 * built: the runtime gives the accesses the other order (struct strengthened).
 *
 * The least changes are reported: single accesses, else pairs, else a set from which no access can
 * be left out; each with the weakest orders. Fences are tried where orders of accesses do not
 * suffice. A stronger order permits fewer executions, so an access that does not suffice with
 * memory_order_seq_cst is not tried with weaker orders.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "commands/explain/runs/explain.h"
#include "model/memory_model.h"

#define ORDERS_LOCATIONS_MOST 24u
#define ORDERS_COPIES_MOST 4u /* sites of one access in copies of its function */
#define ORDERS_REPAIRS_MOST 3u

/* An access of the program's text. */
struct orders_location {
	uint64_t sites[ORDERS_COPIES_MOST];
	uint32_t site_count;
	uint8_t kind;  /* enum op_kind: an atomic or a plain access */
	uint8_t order; /* enum memory_order_number in the program */
};

/* Another order for an access, or a fence directly before it. */
struct orders_change {
	uint8_t location; /* index in locations[] */
	uint8_t order;
	bool is_fence;
};

struct orders_repair {
	struct orders_change changes[ORDERS_LOCATIONS_MOST];
	uint32_t count;
	uint64_t runs;	    /* none of which failed */
	bool is_exhaustive; /* these are all executions */
	uint32_t features;  /* those of the runs (model/feature.h) */
};

struct explain_orders {
	enum memory_model model; /* MEMORY_MODEL_SC: the finding's run needs no other model */
	struct orders_location locations[ORDERS_LOCATIONS_MOST];
	uint32_t location_count;
	bool is_repeatable; /* runs without a change fail */
	bool is_unfinished; /* the time was up */
	bool is_hopeless;   /* runs fail although every access is sequentially consistent */
	/* sufficient changes of the least strength */
	struct orders_repair repairs[ORDERS_REPAIRS_MOST];
	uint32_t repair_count;
	/* single accesses that do not suffice with memory_order_seq_cst */
	struct orders_change failing[ORDERS_LOCATIONS_MOST];
	uint32_t failing_count;
};

/* Makes the runs until `until_ns` of explain_elapsed_ns(). Called after explain_learn(). */
int explain_find_orders(
	struct explain *explain, uint64_t until_ns, struct explain_orders *out, struct error *err);
