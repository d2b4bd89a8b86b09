/*
 * The constraint graph of an inclusion-based points-to analysis (Andersen 1994) with fields (Pearce,
 * Kelly, Hankin 2007), solved in waves (Pereira and Berlin 2009): cycles of the graph are collapsed,
 * what is new is carried on in topological order, then the rules add edges for the next wave.
 *
 * A *node* holds a set of locations. An *object* is a piece of memory; a *location* is one distance
 * from its start, and a node as well: it holds what is stored there. What is stored is kept by the
 * eight bytes it begins in, so that a pointer which is copied by halves or bytes is still seen.
 * An object that is entered at distances of which only a multiple is known (an array) is *folded*:
 * distances in it count modulo its stride. Stride 1 makes all of it one place.
 *
 * Nodes that must hold the same are *united*: the sets are their leader's. As locations they stay apart.
 */
#ifndef RADDLE_BITCODE_FLOW_H
#define RADDLE_BITCODE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "bitcode/bitmap.h"

/* Beyond so many places an object is folded to one: what grows in circles ends. */
#define FLOW_PLACES_MOST 192

#define FLOW_GRANULE INT64_C(8) /* what is stored is kept by so many bytes */

enum flow_object_kind { FLOW_GLOBAL, FLOW_STACK, FLOW_HEAP, FLOW_FUNCTION, FLOW_FOREIGN };

struct flow_object {
	enum flow_object_kind kind;
	void *value;	  /* what it is named after; NULL: foreign memory */
	uint32_t *places; /* locations */
	uint32_t place_count, place_capacity;
	int64_t stride;	 /* 0: not folded */
	bool is_foreign; /* code without bitcode may touch it and hand it around */
};

enum flow_rule_kind {
	FLOW_LOAD,  /* other ⊇ what is stored in the `bytes` at the locations */
	FLOW_STORE, /* what is stored there ⊇ other */
	FLOW_SHIFT, /* other ⊇ the locations, `distance` and any multiple of `stride` further */
	FLOW_CALL   /* the functions at the locations are called: `call` */
};

struct flow_rule {
	enum flow_rule_kind kind;
	uint32_t other;
	int64_t distance;
	int64_t stride; /* 0: none */
	uint64_t bytes;
	void *call;
	uint32_t callback; /* the call itself passes them on: number for its owner, from 1 */
};

struct flow_node {
	uint32_t leader; /* itself, or who leads nearer to it */
	struct bitmap points, successors;
	struct bitmap carried; /* points that the successors have */
	struct bitmap ruled;   /* points that the rules have seen */
	struct flow_rule *rules;
	uint32_t rule_count, rule_capacity;
	uint32_t object; /* of locations; UINT32_MAX: a node of a value */
	int64_t distance;
};

struct flow_pair {
	uint32_t first, second;
};

/* A copy of memory: what is stored in the `bytes` behind `from` may be stored behind `to`. */
struct flow_copy {
	uint32_t to, from;
	uint64_t bytes; /* UINT64_MAX: not known */
	uint32_t hub;	/* node that all of it goes through; 0: none */
	uint64_t seen;	/* how much there was to copy when it was last done */
};

struct flow {
	struct flow_node *nodes;
	struct flow_object *objects;
	struct flow_copy *copies;
	struct flow_pair *unions; /* to be done before the next wave */
	uint32_t node_count, node_capacity, object_count, object_capacity;
	uint32_t copy_count, copy_capacity, union_count, union_capacity;
	struct bitmap opened; /* of the foreign node: those that have been looked at */
	/* Locations that foreign code is known to know, functions left out; and the one that means them all,
	 * with whatever is not the program's own. */
	struct bitmap foreign_places;
	struct bitmap
		whole; /* locations that stand for all of their object: any distance leads back */
	uint32_t anything;
	uint32_t foreign; /* node: everything that code without bitcode may know */
	uint32_t waves;
	bool has_changed; /* in this wave */
	/* A function or foreign code has turned out to be called there; to be known to foreign code. */
	void (*on_call)(void *context, const struct flow_rule *rule, uint32_t object);
	void (*on_foreign_function)(void *context, uint32_t object);
	void *context;
};

void flow_init(struct flow *flow);
void flow_release(struct flow *flow);
uint32_t flow_node(struct flow *flow);
uint32_t flow_object(struct flow *flow, enum flow_object_kind kind, void *value);
uint32_t flow_location(struct flow *flow, uint32_t object, int64_t distance);
/* Of strides; 0 is none and divides nothing. Never negative. */
int64_t flow_common_divisor(int64_t a, int64_t b);
/* What a distance in the object comes to. */
int64_t flow_distance(const struct flow_object *object, int64_t distance);
/* The location that holds what is stored at that distance. */
uint32_t flow_holder(struct flow *flow, uint32_t object, int64_t distance);
void flow_make_foreign(struct flow *flow, uint32_t object);
void flow_fold(struct flow *flow, uint32_t object, int64_t stride);
void flow_point(struct flow *flow, uint32_t node, uint32_t location);
void flow_edge(struct flow *flow, uint32_t from, uint32_t to);
void flow_rule(struct flow *flow, uint32_t node, const struct flow_rule *rule);
void flow_copy(struct flow *flow, uint32_t to, uint32_t from, uint64_t bytes);
uint32_t flow_leader(const struct flow *flow, uint32_t node);
void flow_unite(struct flow *flow, uint32_t first, uint32_t second);
/* To the fixpoint (solve.c). */
void flow_solve(struct flow *flow);

#endif
