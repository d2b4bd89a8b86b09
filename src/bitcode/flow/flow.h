/*
 * Constraint graph of an inclusion-based points-to analysis (Andersen 1994) with fields (Pearce,
 * Kelly, Hankin 2007), solved in waves (Pereira and Berlin 2009). Each wave collapses cycles,
 * propagates new points in topological order, and applies the rules, which add edges for the next.
 *
 * A *node* holds a set of locations. An *object* is a piece of memory. A *location* is one distance
 * from the start of an object, and is itself a node: its set has the addresses stored there, per
 * granule of eight bytes. A pointer that is copied in halves or bytes is therefore not lost.
 *
 * An object accessed at multiples of a distance (an array) is *folded*: distances count modulo its
 * stride. Stride 1 makes the whole object one location. Nodes that must have equal sets are *united*:
 * all refer to one leader, which holds the sets; in other sets they stay distinct.
 *
 * Life cycle: flow_init(); nodes, objects, edges and rules; flow_solve(); then the sets are read;
 * flow_release().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "bitcode/flow/bitmap.h"

/* An object with more locations is folded to one. This bound ends growth in cyclic structures. */
#define FLOW_LOCATIONS_MOST 192

#define FLOW_GRANULE INT64_C(8) /* stored values are kept per granule of this many bytes */

enum flow_object_kind { FLOW_GLOBAL, FLOW_STACK, FLOW_HEAP, FLOW_FUNCTION, FLOW_FOREIGN };

struct flow_object {
	enum flow_object_kind kind;
	void *value;	     /* the LLVM value that names it; NULL means foreign memory */
	uint32_t *locations; /* its locations */
	uint32_t location_count;
	int64_t stride;	 /* 0: not folded */
	bool is_foreign; /* code without bitcode may touch the object and pass its address on */
};

enum flow_rule_kind {
	FLOW_LOAD,  /* other ⊇ what is stored in the `bytes` at the locations */
	FLOW_STORE, /* the sets stored at the locations ⊇ other */
	FLOW_SHIFT, /* other ⊇ the locations moved by `distance` and any multiple of `stride` */
	FLOW_CALL   /* the functions at the locations are called by `call` */
};

struct flow_rule {
	enum flow_rule_kind kind;
	uint32_t other;
	int64_t distance;
	int64_t stride; /* 0: none */
	uint64_t bytes;
	void *call;
	/* A callback through the call: number for the rule's owner, from 1; 0: a normal call. */
	uint32_t callback;
};

struct flow_node {
	uint32_t leader; /* itself, or a node nearer to the leader */
	struct bitmap points, successors;
	struct bitmap carried; /* points already propagated to the successors */
	struct bitmap ruled;   /* points already seen by the rules */
	struct flow_rule *rules;
	uint32_t rule_count;
	uint32_t object; /* object of a location; UINT32_MAX: the node belongs to a value */
	int64_t distance;
};

struct flow_pair {
	uint32_t first, second;
};

/* A copy of memory: what is stored in the `bytes` from `from` on may be stored from `to` on. */
struct flow_copy {
	uint32_t to, from;
	uint64_t bytes; /* UINT64_MAX: not known */
	uint32_t hub;	/* node through which all copied values pass; 0: none */
	uint64_t seen;	/* number of stored values when the copy was last applied */
};

struct flow {
	struct flow_node *nodes;
	struct flow_object *objects;
	struct flow_copy *copies;
	struct flow_pair *unions; /* applied before the next wave */
	uint32_t node_count, object_count;
	uint32_t copy_count, union_count;
	struct bitmap opened; /* points of the foreign node that were already processed */
	/*
	 * `foreign_locations`: locations known to foreign code, without functions. The location
	 * `anything` stands for all foreign locations and for all memory outside of the program.
	 */
	struct bitmap foreign_locations;
	struct bitmap
		whole; /* locations of objects folded to one location: a shift by any distance leads back to the location itself */
	uint32_t anything;
	uint32_t foreign; /* node: everything that code without bitcode may know */
	bool has_changed; /* a set has changed in this wave */
	time_t deadline;  /* of CLOCK_MONOTONIC, in seconds; 0: none */
	/*
	 * Callbacks: a rule's call reaches this function or foreign code; foreign code knows a
	 * function.
	 */
	void (*on_call)(void *context, const struct flow_rule *rule, uint32_t object);
	void (*on_foreign_function)(void *context, uint32_t object);
	void *context;
};

void flow_init(struct flow *flow);
void flow_release(struct flow *flow);
uint32_t flow_node(struct flow *flow);
uint32_t flow_object(struct flow *flow, enum flow_object_kind kind, void *value);
uint32_t flow_location(struct flow *flow, uint32_t object, int64_t distance);
/* Returns the greatest common divisor of strides, never negative. 0 means no stride. */
int64_t flow_common_divisor(int64_t a, int64_t b);
int64_t flow_distance(const struct flow_object *object, int64_t distance);
/* Returns the location that holds values stored at this distance. */
uint32_t flow_holder(struct flow *flow, uint32_t object, int64_t distance);
void flow_make_foreign(struct flow *flow, uint32_t object);
void flow_fold(struct flow *flow, uint32_t object, int64_t stride);
void flow_point(struct flow *flow, uint32_t node, uint32_t location);
void flow_edge(struct flow *flow, uint32_t from, uint32_t to);
void flow_rule(struct flow *flow, uint32_t node, const struct flow_rule *rule);
void flow_copy(struct flow *flow, uint32_t to, uint32_t from, uint64_t bytes);
uint32_t flow_leader(const struct flow *flow, uint32_t node);
void flow_unite(struct flow *flow, uint32_t first, uint32_t second);
/* Returns false if the deadline has passed before the solution. */
bool flow_solve(struct flow *flow);
