/*
 * The agreement between objects that raddle-cc instrumented, the runtime in their process, and the
 * command that reads them with libelf. Plain C, includable from the compiler's pass; every layout
 * change raises INSTRUMENT_ABI_VERSION.
 *
 * A *site* is one place in the machine code that is about to access memory, or that enters or
 * leaves a function. In the code it is a five-byte no-op (the *point*). Out of line lies its *stub*,
 * which hands the address of the access to the runtime and jumps back:
 *
 *	point:	nopl 0(%rax,%rax)		-- on: call stub
 *	...
 *		.long RECORD-HERE		-- the distance to the record
 *	stub:	popq %r11			-- operands may be relative to the stack pointer
 *		leaq OPERAND, %r10		-- function entry and exit: movl $0, %r10d
 *		pushq %r11
 *		jmp *raddle_site_v3@GOTPCREL(%rip)
 *
 * raddle_site_v3 returns behind the point and restores all but %r10, %r11 and the flags. The function has no
 * red zone, as the call writes there. The way of most accesses is short in branches that are taken, which is what
 * it is limited by.
 *
 * Plain loads and stores of 1, 2, 4, 8 or 16 bytes call raddle_site_load1_v3, ..., raddle_site_store16_v3 in its
 * place, which may do no more than that one would.
 *
 * A function is left (SITE_FUNCTION_EXIT) at its return, or before a call in the place of the return.
 * An exception, longjmp or exit() leaves functions without passing a point: who keeps a stack of them
 * compares stack pointers.
 *
 * A range's length is in %rsi at its point, and so is the value that a compare-exchange expects (zero-
 * extended), where its record says SITE_EXPECTED: as nobody else moves between the point and the access,
 * it is known there whether it will write. The access happens behind the point, so a thread that is
 * stopped at a site has not yet done it. Writes of calls that return how much they wrote (read(), fgets(),
 * ...) are the exception: their points lie behind the call, where that is known.
 *
 * Sections of an instrumented object:
 *	raddle_sites	    struct site_record[], each in the group of its function
 *	raddle_info	    struct site_info[] and struct site_place[] (read only, not touched while off)
 *	raddle_strings	    the strings they refer to
 *	.note.raddle	    one ELF note per translation unit: name "raddle", type 1, desc: uint32_t version
 *	.raddle.bitcode	    not loaded: struct bitcode_header and compressed bitcode, once per unit
 */
#ifndef RADDLE_ABI_INSTRUMENT_ABI_H
#define RADDLE_ABI_INSTRUMENT_ABI_H

#include <stdbool.h>
#include <stdint.h>

#define INSTRUMENT_ABI_VERSION 5
#define SITE_POINT_BYTES 5		      /* of the no-op or jump in the code */
#define INSTRUMENT_MAGIC UINT32_C(0x63646172) /* "radc" */

enum site_kind {
	SITE_LOAD,
	SITE_STORE,
	SITE_ATOMIC_LOAD,
	SITE_ATOMIC_STORE,
	SITE_ATOMIC_UPDATE,    /* read-modify-write */
	SITE_COMPARE_EXCHANGE, /* may turn out to be a mere load */
	SITE_FENCE,	       /* no address */
	SITE_RANGE_READ,       /* `length` bytes */
	SITE_RANGE_WRITE,
	SITE_STRING_READ,    /* up to and with the terminating zero, at most `length` bytes */
	SITE_STRING_WRITE,   /* %rsi: the string that is copied there, zero included */
	SITE_FUNCTION_ENTRY, /* no address */
	SITE_FUNCTION_EXIT,
	SITE_OPAQUE, /* inline assembly that may access memory: a record without a point */
	/*
	 * Values that cannot be recomputed from the bitcode (docs/branches.md), in %r10 at their points.
	 * They are no accesses, and on only in runs that are recorded. `bytes` says which of several.
	 */
	SITE_RESULT, /* behind a call of code that may have no bitcode; of structs, one for each member */
	SITE_RETURNS_TWICE, /* behind setjmp() and the like */
	SITE_ADDRESS,  /* of a local, or of a thread-local variable; bytes > 0: of that parameter */
	SITE_ARGUMENT, /* of a function that code without bitcode may call */
	SITE_LANDING,  /* an exception arrives: the object, and in %rsi which handler */
	SITE_KIND_COUNT
};

/* Memory orders as C11 numbers them; relaxed is 0. */
enum site_order {
	SITE_RELAXED,
	SITE_CONSUME,
	SITE_ACQUIRE,
	SITE_RELEASE,
	SITE_ACQUIRE_RELEASE,
	SITE_SEQUENTIAL
};

/* What the order of a compare-exchange holds besides its order of success: that of failure, and a flag. */
#define SITE_FAILURE_SHIFT 3
#define SITE_EXPECTED 0x80u /* the expected value is in %rsi */
/* What the order of an access by inline assembly holds besides: who recomputes a run is told nothing of it. */
#define SITE_UNTOLD 0x40u

/* The write begins where the string ends that is at its address: its terminating zero is overwritten. */
#define SITE_APPENDS 1u

/* The function is left for another one that is called in the place of the return, with its frame. */
#define SITE_TAIL 1u
/* The bytes read go to a local of which nobody else knows: recorded runs keep them, up to a limit. */
#define SITE_COPIED 2u
#define SITE_COPIED_MOST 4096u
/*
 * Both ends of a copy between memory that others may know: at the write recorded runs keep what was read, up to a
 * limit.
 */
#define SITE_FOLLOWED 4u
#define SITE_FOLLOWED_MOST 512u

/*
 * Reads of ranges and strings by a function whose result is recomputed from the bytes: recorded runs keep the whole words
 * that they lie in, up to a limit. Which argument it is stands behind.
 */
#define SITE_TOLD 8u
#define SITE_TOLD_MOST 256u
#define SITE_TOLD_RANGE_MOST 65536u /* of ranges that are compared */
#define SITE_TOLD_LEAST 32u	    /* of strings: others may be longer under another schedule */
#define SITE_ARGUMENT_SHIFT 4
/* Nobody says that there are as many bytes: those that are told lie in one page. */
#define SITE_TOLD_NEAR 0x80u

static inline uint64_t site_told_most(uint64_t length, bool is_string, bool is_near)
{
	const uint64_t most = is_string || is_near ? SITE_TOLD_MOST : SITE_TOLD_RANGE_MOST;

	return length < most ? length : most;
}

/* The order of a SITE_ADDRESS: the local is one of main's. */
#define SITE_OF_MAIN 1u

/*
 * The order of a SITE_RESULT says where the function stands that was called: in %rsi, or in a word of the linker's table,
 * whose distance from itself lies SITE_CALLEE_BYTES in front of the stub. If that function is a marked one, what it returns
 * can be recomputed, and the site reports nothing.
 */
#define SITE_CALLEE_GIVEN 1u
#define SITE_CALLEE_NAMED 2u
#define SITE_CALLEES (SITE_CALLEE_GIVEN | SITE_CALLEE_NAMED)
#define SITE_CALLEE_BYTES 8
/* The eight bytes in front of a marked function: one with sites that does not end by a call that hands its frame on. */
#define SITE_FUNCTION_MARK UINT64_C(0x9e64616372060bf1)

#define SITE_VOLATILE 1u  /* declared so; not atomic */
#define SITE_BIT_FIELD 2u /* reads or writes its neighbours, too */
#define SITE_UNALIGNED 4u
#define SITE_VECTOR 8u
/* The entry of a function that only functions of its own unit call, by its name. */
#define SITE_INSIDE 16u
/* A plain read, and the plain write to the same bytes, with nothing between them that reports or could be another thread's turn. */
#define SITE_WRITTEN_BACK 32u
#define SITE_WRITES_BACK 64u

/* Offsets are from the field itself; `point` and `stub` are 0 for SITE_OPAQUE. */
struct site_record {
	int32_t point;
	int32_t stub;
	int32_t info;  /* struct site_info */
	uint8_t kind;  /* enum site_kind */
	uint8_t order; /* enum site_order, of atomic kinds and fences; see SITE_FAILURE_SHIFT */
	uint16_t
		bytes; /* of the access; 0 for those without an address; of ranges and strings: SITE_APPENDS;
			  of SITE_FUNCTION_EXIT: SITE_TAIL */
};

/* Offsets are from the field itself; 0: none. Strings end with a zero. */
struct site_place {
	int32_t function;   /* as linked (mangled) */
	int32_t file;	    /* as the compiler was told, relative ones to its working folder */
	int32_t inlined_at; /* struct site_place of the call, where this function was inlined */
	uint32_t line;
	uint16_t column;
	uint16_t reserved;
};

struct site_info {
	struct site_place place;
	int32_t type;  /* of the struct or class that is accessed: "struct account", "Queue<int>" */
	int32_t field; /* in it: "balance", "pos.x" */
	uint32_t flags; /* SITE_VOLATILE, ... */
	/* The same access in the embedded bitcode: n-th defined function of its module, n-th
	 * instruction of that in the order of its blocks, both from 0. The records that tell where
	 * variables are (#dbg_value, ...) are no instructions and do not count. */
	uint32_t function_number;
	uint32_t instruction_number;
};

/* One per translation unit in .raddle.bitcode, followed by stored_bytes of zstd; padded to 8. */
struct bitcode_header {
	uint32_t magic; /* INSTRUMENT_MAGIC */
	uint32_t version;
	uint64_t plain_bytes;
	uint64_t stored_bytes;
};

/* One per executable or shared library, told to the runtime by a constructor, before all others. */
struct instrumented_module {
	uint32_t magic;
	uint32_t version;
	const struct site_record *first;
	const struct site_record *end;
};

/* Weak in the objects: without a runtime they are null and nothing happens. */
void raddle_module_loaded(const struct instrumented_module *module);
void raddle_module_unloaded(const struct instrumented_module *module);
void raddle_site_v3(void);

/*
 * Where the memory lies that a run wants to see accesses to: in one of these parts, `end` not included. A loop
 * (compiler/pass/loops.h) that finds that it will touch none of it goes on in a copy of its code without points. What is
 * wanted changes only while no thread is in such a copy.
 */
#define WANTED_PARTS 2

struct wanted_memory {
	struct {
		uint64_t start, end;
	} parts[WANTED_PARTS];
};

/* Weak, too: without a runtime nothing is wanted. */
extern struct wanted_memory raddle_wanted_v5;

static inline enum site_order site_record_order(const struct site_record *record)
{
	return (enum site_order)(record->order & ((1u << SITE_FAILURE_SHIFT) - 1));
}

/* Of a compare-exchange that fails. */
static inline enum site_order site_record_order_of_failure(const struct site_record *record)
{
	return (enum site_order)(
		record->order >> SITE_FAILURE_SHIFT & ((1u << SITE_FAILURE_SHIFT) - 1));
}

static inline const struct site_info *site_record_info(const struct site_record *record)
{
	return (const struct site_info *)((const char *)&record->info + record->info);
}

#endif
