/*
 * Operations (ops): the actions of a thread that other threads can observe. ops.def lists the
 * kinds.
 *
 * A thread announces an op before performing it; in between the op is *pending*, and the strategy
 * sees it as a struct pending_op. A thread whose pending op cannot happen now is disabled.
 * op_dependent() defines which ops may not be exchanged; op_class() groups objects of one
 * allocation site.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/memory_model.h"

enum op_flag {
	OP_READ = 1,	  /* commutes with other READ ops on the same object */
	OP_ACQUIRE = 2,	  /* acquires a lock */
	OP_RELEASE = 4,	  /* releases a lock */
	OP_PAUSE = 8,	  /* the thread cannot make progress by itself: it yields */
	OP_MAYBLOCK = 16, /* can be disabled: another thread must run first */
	/*
	 * set by the engine, not in ops.def: an access to more than the eight bytes of its object
	 */
	OP_WIDE = 32,
	/* set by the engine under c11: a sequentially consistent access or fence */
	OP_SEQUENTIAL = 64,
	/*
	 * Only part of the runs have such steps: decision 30. The engine also sets the flag where a signal or a
	 * cancellation interrupts the op: the thread runs its handlers in this step.
	 */
	OP_INTERRUPTION = 128
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
 * Reports name a file descriptor by a noun and its number ("socket 5"). A 16-bit value holds both; 0
 * means an unknown descriptor. Strategies do not see the value.
 */
enum descriptor_noun {
	DESCRIPTOR_FILE = 1,
	DESCRIPTOR_PIPE,
	DESCRIPTOR_SOCKET,
	DESCRIPTOR_CHARACTER,
	DESCRIPTOR_QUEUE, /* message queue */
	DESCRIPTOR_EVENTFD,
	DESCRIPTOR_EPOLL,
	DESCRIPTOR_TIMERFD,
	DESCRIPTOR_NOUN_COUNT
};

#define DESCRIPTOR_BITS 12 /* bits for the descriptor's number; all set: the number does not fit */

static inline uint16_t descriptor_number(enum descriptor_noun noun, int fd)
{
	const unsigned most = (1u << DESCRIPTOR_BITS) - 1;

	return (uint16_t)((unsigned)noun << DESCRIPTOR_BITS |
			  (fd >= 0 && (unsigned)fd < most ? (unsigned)fd : most));
}

/* Returns the noun, such as "socket"; "file descriptor" if the kind of descriptor is not known. */
const char *descriptor_noun_text(uint16_t number);
/* Returns the number of the descriptor; -1: not known. */
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

/* The struct has only sixteen bytes, because strategies read pending ops at every scheduling
 * point. */
struct pending_op {
	uint8_t kind;  /* enum op_kind; OP_NONE for a thread without an op (it has ended) */
	uint8_t flags; /* enum op_flag, from ops.def */
	/* COND_WAIT: op_second() of the mutex that the wait releases. Calls on a futex:
	 * op_second() of the variable that the kernel reads or changes. Calls on files and
	 * descriptors: op_second() of what they also depend on (file_point.c). Memory on the heap: number of the
	 * allocation site. SIGNAL_SEND, THREAD_CANCEL: index of the receiving thread plus 1. 0: none. */
	uint16_t second;
	object_name object; /* 0: no object */
	uint64_t site : 56; /* return address in the target of the call that announced the op */
	/* bit i: the op does not touch byte i of its object, eight bytes of memory, or part i of another object. 0: the op
	 * touches all of the object. */
	uint64_t untouched : 8;
};

struct op_description {
	const char *name; /* "MUTEX_LOCK" */
	const char *verb; /* "locks" */
	uint8_t object;	  /* enum object_class */
	uint8_t flags;
};

extern const struct op_description op_descriptions[OP_KIND_COUNT];

/* Returns "mutex", "condition variable", ...; never NULL. */
const char *object_class_text(enum object_class class);

/* Returns a hash of a second object of an op, 16 bits, never 0. Different objects rarely have the
 * same value. */
static inline uint16_t op_second(object_name object)
{
	return (uint16_t)((object ^ object >> 16) | 1);
}

/* The largest number of an allocation site. Nearly all object names are larger than this number. */
#define OP_ALLOCATION_SITE_MOST UINT16_MAX

/* Returns the class of the op's object: one number for all memory allocated at one site, else the
 * object's name. */
static inline uint32_t op_class(const struct pending_op *op)
{
	const bool is_heap =
		op->second && (op->kind == OP_LOAD || op->kind == OP_STORE ||
				      (op->kind >= OP_ATOMIC_LOAD && op->kind <= OP_ATOMIC_UPDATE));

	return is_heap ? op->second : op->object;
}

/* Returns `untouched` of an access that does not reach beyond eight aligned bytes. */
static inline uint8_t op_untouched(uint64_t address, uint32_t bytes)
{
	return (uint8_t) ~(((1u << bytes) - 1) << (address & 7));
}

/* Returns whether one byte of an object is touched by two ops with these values of `untouched`. */
static inline bool op_overlaps(uint8_t untouched, uint8_t other)
{
	return (untouched | other) != UINT8_MAX;
}

/* Returns whether exchanging two adjacent ops of different threads can change the result. Ops on
 * one object that are not both reads are dependent if they overlap; an op without object is
 * independent. */
static inline bool op_dependent(const struct pending_op *a, const struct pending_op *b)
{
	return a->object && a->object == b->object && !(a->flags & b->flags & OP_READ) &&
	       op_overlaps(a->untouched, b->untouched);
}

/*
 * c11: what an access releases and acquires. A store with a release, or behind a release fence, has a
 * *message* for the acquiring loads that read it. Messages have numbers from 1; 0: none.
 */
struct store_messages {
	bool is_known;	/* the access has a history; else the numbers mean nothing */
	bool is_of_all; /* an acquiring load receives all messages: the store's own one is lost */
	uint16_t read;	/* of the store that is read */
	uint16_t continued; /* of the store whose release sequence this store continues */
	uint16_t written;
	struct missed_store missed;
};
#define STORE_MESSAGES_MOST 1024
