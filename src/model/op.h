/*
 * Operations: what a thread is about to do that other threads could notice. The kinds stand in
 * ops.def. A *pending op* is an op that has been announced and not yet performed.
 */
#ifndef RADDLE_MODEL_OP_H
#define RADDLE_MODEL_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

enum op_flag {
	OP_READ = 1,	  /* commutes with other READ ops on the same object */
	OP_ACQUIRE = 2,	  /* takes a lock */
	OP_RELEASE = 4,	  /* gives up a lock */
	OP_PAUSE = 8,	  /* the thread cannot get on by itself: it yields */
	OP_MAYBLOCK = 16, /* can be disabled: somebody else must move first */
	OP_WIDE = 32 /* not in ops.def: an access to more memory than its object's eight bytes */
};

enum op_kind {
#define OP(name, verb, object, flags) OP_##name,
#include "model/ops.def"
#undef OP
	OP_KIND_COUNT
};

/* The function that the program called, where ops.def has no verb for that function (calls.def). */
enum call_kind {
#define CALL(name, verb) CALL_##name,
#include "model/calls.def"
#undef CALL
	CALL_KIND_COUNT
};

/* Verbs such as "accepts on", indexed by enum call_kind. */
extern const char *const call_verbs[CALL_KIND_COUNT];

/*
 * Encodes a descriptor for reports: the noun and, if it fits into DESCRIPTOR_BITS, the descriptor's number. 0: not
 * known. Strategies must not depend on this value, so they do not get it.
 */
enum descriptor_noun {
	DESCRIPTOR_FILE = 1,
	DESCRIPTOR_PIPE,
	DESCRIPTOR_SOCKET,
	DESCRIPTOR_TERMINAL,
	DESCRIPTOR_QUEUE, /* message queue */
	DESCRIPTOR_NOUN_COUNT
};

#define DESCRIPTOR_BITS 12 /* bits for the descriptor's number; all set: the number does not fit */

static inline uint16_t descriptor_number(enum descriptor_noun noun, int fd)
{
	const unsigned most = (1u << DESCRIPTOR_BITS) - 1;

	return (uint16_t)((unsigned)noun << DESCRIPTOR_BITS |
			  (fd >= 0 && (unsigned)fd < most ? (unsigned)fd : most));
}

/* The noun, such as "socket"; "file descriptor" where the kind is not known. */
const char *descriptor_noun_text(uint16_t number);
/* The descriptor; -1: not known. */
int descriptor_of(uint16_t number);

/* How a performed operation ended, in traces. */
enum op_result { RESULT_DONE, RESULT_TIMED_OUT, RESULT_INTERRUPTED, RESULT_CANCELLED };

enum object_class {
	OBJECT_NOTHING,
	OBJECT_THREAD,
	OBJECT_MUTEX,
	OBJECT_COND,
	OBJECT_RWLOCK,
	OBJECT_SPIN,
	OBJECT_BARRIER,
	OBJECT_SEM,
	OBJECT_ONCE,
	OBJECT_FUTEX,
	OBJECT_FILE,
	OBJECT_FD,
	OBJECT_CHILD,
	OBJECT_SIGNAL,
	OBJECT_MEMORY,
	OBJECT_CLASS_COUNT
};

/* Sixteen bytes, read by strategies at every scheduling point. */
struct pending_op {
	uint8_t kind;  /* enum op_kind; OP_NONE where the thread has none (it has ended) */
	uint8_t flags; /* enum op_flag, from ops.def */
	/* COND_WAIT: op_second() of the mutex it gives up. Memory on the heap: of the site that
	 * allocated it. 0: none. */
	uint16_t second;
	object_name object; /* 0: no object */
	uint64_t site;	    /* return address in the target of the call that announced it */
};

/* Row of ops.def, for whoever prints. */
struct op_description {
	const char *name; /* "MUTEX_LOCK" */
	const char *verb; /* "locks" */
	uint8_t object;	  /* enum object_class */
	uint8_t flags;
};

extern const struct op_description op_descriptions[OP_KIND_COUNT];

/* "mutex", "condition variable", ...; never NULL. */
const char *object_class_text(enum object_class class);

/* A second object of an op, by what fits into it: equal for equal objects, and rarely for others. */
static inline uint16_t op_second(object_name object)
{
	return (uint16_t)((object ^ object >> 16) | 1);
}

/* Numbers of kinds up to here are of places that allocate: names of objects are larger, but for very few. */
#define OP_PLACE_MOST UINT16_MAX

/* A number for the object's kind: one for all memory that is allocated at one site. */
static inline uint32_t op_class(const struct pending_op *op)
{
	const bool is_heap =
		op->second && (op->kind == OP_LOAD || op->kind == OP_STORE ||
				      (op->kind >= OP_ATOMIC_LOAD && op->kind <= OP_ATOMIC_UPDATE));

	return is_heap ? op->second : op->object;
}

/*
 * Dependence: may exchanging two adjacent ops of different threads change what happens? Same
 * object, and not both mere reads. Ops without an object are independent of everything. This is the
 * relation of partial-order sampling and of partial-order reduction.
 */
static inline bool op_dependent(const struct pending_op *a, const struct pending_op *b)
{
	return a->object && a->object == b->object && !(a->flags & b->flags & OP_READ);
}

/* What a run has met that an option of `raddle run` explores further. */
enum op_met {
	MET_CONDITION = 1,    /* a condition variable: spurious wake-ups */
	MET_TIME = 2,	      /* a deadline, alone or as the limit of a wait: early time-outs */
	MET_CHILD_THREADS = 4 /* threads of a forked child */
};

#endif
