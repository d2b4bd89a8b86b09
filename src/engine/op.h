/* An operation of a thread: what an interposed function asks of the engine, how the wait for its turn ends,
 * and what the host learns of the performed operation. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/op.h"

#define ENGINE_FOREVER UINT64_MAX

struct engine_op;
struct engine_thread;

/* Returns whether the op is ready. A pure function; called again after each
 * engine_changed(op->address). */
typedef bool engine_ready(const struct engine_op *op, const struct engine_thread *thread);

/* Events, besides the deadline, that may end a wait early. */
enum engine_interruption {
	INTERRUPT_SIGNAL = 1, /* a signal handler ran: engine_perform returns WAIT_INTERRUPTED */
	INTERRUPT_CANCEL = 2, /* the op is a cancellation point */
	/* neither synchronous nor asynchronous cancellation: the lock must be reacquired */
	INTERRUPT_NEVER = 4
};

/* The condition under which an atomic update writes. */
enum engine_exchange {
	EXCHANGE_NONE,
	EXCHANGE_UNKNOWN,
	EXCHANGE_OF_EXPECTED /* the update writes if the old value equals `argument` */
};

struct engine_op {
	uint8_t kind; /* enum op_kind */
	uint8_t interruptions;
	bool is_timeout_only; /* a sleep: only the deadline makes the op ready */
	bool is_shared;	      /* other processes may make the op ready: shared.h */
	bool awaits_value; /* the read of a waiting loop: memory that may change without a notice */
	bool awaits_either; /* awaits_value, and another location may end the loop, too */
	bool is_wide;	    /* accesses memory elsewhere than at its object, too */
	bool is_read; /* commutes with other reads of its object, unlike other ops of its kind */
	uint8_t untouched; /* of an op on another object than memory; same as in struct pending_op */
	/* readiness means only that a retry may succeed; a signal interrupts even a ready op */
	bool is_guess;
	/* ready() gives one result for all pending ops of this kind on the object (wait_group.c) */
	bool has_common_result;
	uint8_t call;	      /* enum call_kind; like `number`, only for reports */
	uint16_t number;      /* same as in struct trace_event */
	const void *address;  /* how the engine finds its waiters; NULL if none */
	uint64_t site;	      /* return address in the target */
	engine_ready *ready;  /* NULL if always ready */
	uint64_t deadline_ns; /* virtual time; ENGINE_FOREVER: none; 0 has already passed */
	uint64_t argument;    /* argument of ready(): a file descriptor, an expected value, ... */
	uint64_t argument2;
	object_name object; /* name of the object; 0: engine_object_name() */
	/* the next eight-byte word's name; 0: not known */
	object_name next_object;
	uint32_t bytes;
	uint8_t order; /* enum site_order of atomic accesses and fences */
	/* same as in struct pending_op; the engine sets this field for COND_WAIT */
	uint16_t second;
	uint8_t exchange;	  /* enum engine_exchange, of OP_ATOMIC_UPDATE */
	uint8_t order_of_failure; /* memory order of an exchange that writes nothing */
	/* engine_perform() leaves the report to host.performed to engine_note_point() */
	bool is_reported_later;
};

struct engine_performed {
	uint64_t step;
	uint64_t site;
	const void *address; /* NULL if none */
	/* OP_COND_WAIT: the mutex. OP_BARRIER_*: the round. OP_FUTEX_WAIT: the values of
	 * engine_note_comparison(). Others: the op's argument. */
	uint64_t argument;
	object_name object; /* same as in the op, therefore 0 for most ops */
	object_name next_object;
	uint32_t bytes;
	struct thread_id thread;
	/* the created, joined, cancelled or signalled thread; THREAD_NONE: none */
	struct thread_id other;
	uint8_t kind; /* enum op_kind */
	uint8_t order;
	uint8_t exchange;
	uint8_t order_of_failure;
	bool has_failed; /* a try that failed, or a wait that did not end with WAIT_DONE */
	bool is_last;	 /* OP_BARRIER_ARRIVE: the last thread of the round has arrived */
	bool is_point;	 /* memory accesses: the access was a scheduling point */
	struct store_messages messages;
};

enum engine_result {
	WAIT_DONE,	  /* the op is ready: perform it */
	WAIT_TIMED_OUT,	  /* the deadline passed first */
	WAIT_INTERRUPTED, /* a signal handler ran during the wait (only with INTERRUPT_SIGNAL) */
	/* cancellation is due (only with INTERRUPT_CANCEL): undo, then act on the cancellation */
	WAIT_CANCELLED
};
