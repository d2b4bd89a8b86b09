/*
 * The binary interface between objects that raddle-cc instrumented, the runtime in their process,
 * and the command, which reads the objects with libelf. Plain C, also included by the compiler's
 * pass. Every change of layout raises INSTRUMENT_ABI_VERSION.
 *
 * A *site* is one location in the machine code that is about to access memory, or that enters or
 * leaves a function. Its code is a five-byte no-op (the *point*). To turn the site on, the runtime makes a
 * *stub*, which passes the address of the access (runtime/stubs.h), and a call of it:
 *
 *	point:	nopl 0(%rax,%rax)		-- on: call stub; off again: testl
 *
 * A point that is on changes only %r10, %r11 and the flags. Its call writes the return address below the stack
 * pointer, so functions with sites must not keep data there (they have no red zone).
 *
 * After raddle-cc --native, functions have a second, *native* version without sites: the program runs as fast as
 * without instrumentation unless the runtime is there. The native version has the function's name and address, and the
 * runtime makes it jump to the version with sites.
 *
 * The point of SITE_FUNCTION_EXIT lies at the function's return, or before a tail call. An
 * exception, longjmp or exit() leaves functions without passing a point. A reader that keeps a
 * stack of functions must compare stack pointers.
 *
 * At the point of a range, %rsi holds its length. At a compare-exchange whose record says
 * SITE_EXPECTED, %rsi holds the expected value, zero-extended. At a read with SITE_WAITS, %rsi holds
 * the address of the words of enum site_wait_word. No other thread runs between the
 * point and the access: the value shows at the point whether the exchange will write. The access
 * follows the point: a thread stopped at a site has not yet performed it. Calls that return how
 * much they wrote (read(), fgets(), ...) are the exception: their points lie behind the call.
 *
 * Sections of an instrumented object:
 *	raddle_sites	    struct site_record[], each in the group of its function
 *	raddle_info	    struct site_unit with compressed descriptions of sites, once per unit
 *	.note.raddle	    ELF note per unit: name "raddle", type 1, desc: uint32_t version
 *	.raddle.bitcode	    not loaded: struct bitcode_header and compressed bitcode, once per unit
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define INSTRUMENT_ABI_VERSION 10
#define SITE_POINT_BYTES 5
#define SITE_OPERAND_BYTES 8
/* Some records also refer to a target, a function or a word of the linker's table. Their instruction needs at most four
 * bytes, and the last four bytes of `operand` hold the distance to the target. */
#define SITE_TARGET_OFFSET 4
#define INSTRUMENT_MAGIC UINT32_C(0x63646172) /* "radc" */

enum site_kind {
	SITE_LOAD,
	SITE_STORE,
	SITE_ATOMIC_LOAD,
	SITE_ATOMIC_STORE,
	SITE_ATOMIC_UPDATE,    /* read-modify-write */
	SITE_COMPARE_EXCHANGE, /* may turn out to be a plain load */
	SITE_FENCE,	       /* the site has no address */
	SITE_RANGE_READ,       /* `length` bytes */
	SITE_RANGE_WRITE,
	SITE_STRING_READ,    /* Up to and including the terminating zero, at most `length` bytes */
	SITE_STRING_WRITE,   /* %rsi: the string that is copied to the address, zero included */
	SITE_FUNCTION_ENTRY, /* the site has no address */
	SITE_FUNCTION_EXIT,
	SITE_OPAQUE, /* inline assembly that may access memory: no point */
	/* Values that cannot be recomputed from the bitcode (docs/branches.md), in %r10 at their
	 * points. These sites are no accesses and are on only in recorded runs. `bytes` numbers
	 * the values of one instruction. */
	/* Lies behind a call of code that may have no bitcode; one site per member of a struct */
	SITE_RESULT,
	SITE_RETURNS_TWICE, /* lies behind setjmp() and similar calls */
	/* address of a local or a thread-local variable; bytes > 0: of that parameter */
	SITE_ADDRESS,
	SITE_ARGUMENT, /* argument of a function that code without bitcode may call */
	/* An exception arrives: the object, and in %rsi the number of the handler */
	SITE_LANDING,
	SITE_KIND_COUNT
};

/* Returns false if sites of this kind (enum site_kind) only read memory, and true for all others, also fences. */
static inline bool site_kind_writes(uint8_t kind)
{
	return kind != SITE_LOAD && kind != SITE_ATOMIC_LOAD && kind != SITE_RANGE_READ &&
	       kind != SITE_STRING_READ;
}

/* Memory orders, numbered as in C11; relaxed is 0. */
enum site_order {
	SITE_RELAXED,
	SITE_CONSUME,
	SITE_ACQUIRE,
	SITE_RELEASE,
	SITE_ACQUIRE_RELEASE,
	SITE_SEQUENTIAL
};

/* A compare-exchange stores more in the order: the order of failure, and a flag. */
#define SITE_FAILURE_SHIFT 3
#define SITE_EXPECTED 0x80u /* the expected value is in %rsi */
/* Part of the order of an access by inline assembly that recorded runs do not record. */
#define SITE_UNRECORDED 0x40u

/* The write begins at the terminating zero of the string at the address. */
#define SITE_APPENDS 1u

/* Order of a SITE_FUNCTION_ENTRY: the record's target is the function's native version. It begins with a
 * five-byte no-op, for the jump. The 16 bytes before it are the distance to the version with sites, four bytes
 * of padding, and the mark, if any. */
#define SITE_HAS_NATIVE 1u
#define SITE_VERSION_BYTES 16

/* The function ends by a tail call: the callee reuses its frame. */
#define SITE_TAIL 1u
/* Recorded runs store the bytes read, which go to a local whose address no other code knows. */
#define SITE_COPIED 2u
#define SITE_COPIED_MOST 4096u
/* Marks both ends of a copy between memory that other code may know. Recorded runs store, at the
 * write, the bytes that were read, up to a limit. */
#define SITE_FOLLOWED 4u
#define SITE_FOLLOWED_MOST 512u

/* Reads by a function whose result is recomputed from the bytes: recorded runs store the whole
 * words around them, up to a limit. Bits from SITE_ARGUMENT_SHIFT on: number of the argument. */
#define SITE_CONTENTS 8u
#define SITE_CONTENTS_MOST 256u
#define SITE_RANGE_MOST 65536u /* limit for memory that is not a string */
/* minimum for strings: others may be longer under another schedule */
#define SITE_CONTENTS_LEAST 32u
#define SITE_ARGUMENT_SHIFT 4

/* Order of a SITE_ADDRESS: the local belongs to main. */
#define SITE_OF_MAIN 1u

/* Order of a SITE_RESULT: the address of the called function is in %rsi, or in a word of the
 * linker's table, which is the record's target. The result of a marked function can be recomputed: the
 * site then reports nothing. */
#define SITE_CALLEE_GIVEN 1u
#define SITE_CALLEE_NAMED 2u
#define SITE_CALLEES (SITE_CALLEE_GIVEN | SITE_CALLEE_NAMED)
/* The eight bytes before a marked function: it has sites and does not end by a tail call. */
#define SITE_FUNCTION_MARK UINT64_C(0x9e64616372060bf1)

#define SITE_VOLATILE 1u  /* declared volatile; not atomic */
#define SITE_BIT_FIELD 2u /* the access also touches its neighbours */
#define SITE_UNALIGNED 4u
#define SITE_VECTOR 8u
/* Entry of a function that only functions of its own unit call, by name. */
#define SITE_INSIDE 16u
/* A plain read and the plain write to the same bytes, with no report or context switch between. */
#define SITE_WRITTEN_BACK 32u
#define SITE_WRITES_BACK 64u
/* The read of a loop that only waits for another value (compiler/pass/waits/waits.c). %rsi holds the
 * address of the words below; of a compare-exchange, which waits for it, the expected value. */
#define SITE_WAITS 128u

/* Values that end a waiting loop, compared with the operand. */
enum site_wait_test {
	SITE_WAIT_EQUAL,
	SITE_WAIT_DIFFERENT,
	SITE_WAIT_CLEAR, /* has none of the operand's bits */
	SITE_WAIT_SET,	 /* has one of them */
	SITE_WAIT_ABOVE,
	SITE_WAIT_AT_MOST,
	SITE_WAIT_BELOW,
	SITE_WAIT_AT_LEAST,
	SITE_WAIT_SIGNED_ABOVE,
	SITE_WAIT_SIGNED_AT_MOST,
	SITE_WAIT_SIGNED_BELOW,
	SITE_WAIT_SIGNED_AT_LEAST
};

/* Bit of SITE_WAIT_TEST: the loop ends with a suitable value of either of two locations. */
#define SITE_WAIT_EITHER 64u

/* Words of 64 bits. MASK and KEPT tell an update that fails from one that changes the memory: an
 * exchange of 1 changes nothing while the memory holds 1. The thread waits only while the bits of
 * the memory that MASK selects equal those of KEPT. A load has MASK 0. */
enum site_wait_word {
	SITE_WAIT_TEST, /* enum site_wait_test, with SITE_WAIT_EITHER */
	SITE_WAIT_OPERAND,
	SITE_WAIT_MASK,
	SITE_WAIT_KEPT,
	SITE_WAIT_WORDS_OF_ONE,
	/* Only with SITE_WAIT_EITHER: another location, whose value may end the loop, too. */
	SITE_WAIT_OTHER_ADDRESS = SITE_WAIT_WORDS_OF_ONE,
	SITE_WAIT_OTHER_BYTES,
	SITE_WAIT_OTHER_TEST,
	SITE_WAIT_OTHER_OPERAND,
	SITE_WAIT_WORDS
};

/* `point` and `info` are distances in bytes from the field itself to the code or data that it refers to. A SITE_OPAQUE
 * has no point, and its `point` is 0. */
struct site_record {
	int32_t point;
	int32_t info;  /* the site's byte of flags, behind a struct site_unit */
	uint8_t kind;  /* enum site_kind */
	uint8_t order; /* enum site_order, of atomic kinds and fences; see SITE_FAILURE_SHIFT */
	/* Size of the access; 0 without an address. Ranges and strings: SITE_APPENDS and the
	 * SITE_COPIED group. SITE_FUNCTION_EXIT: SITE_TAIL. */
	uint16_t bytes;
	/* The instruction that loads %r10 with the address, and zeros: leaq, movq or xorl */
	unsigned char operand[SITE_OPERAND_BYTES];
};

/*
 * One per translation unit in raddle_info, aligned to SITE_UNIT_ALIGNMENT: this header, one byte of
 * flags (SITE_VOLATILE, ...) per site, then stored_bytes of zstd. The descriptions repeat much, and only
 * the command reads them.
 *
 * Uncompressed: the number of locations and that of strings; columns of locations, then columns of sites, each
 * with one number per location or site; then the strings, each with a zero at its end. Numbers are LEB128;
 * *differences* to the line before in the same column are zigzag numbers. Locations and strings are numbered
 * from 1; 0: none.
 */
struct site_unit {
	uint32_t magic;
	uint32_t site_count;
	uint32_t plain_bytes;
	uint32_t stored_bytes;
};

#define SITE_UNIT_ALIGNMENT 8u

/* Columns of locations; all are differences. */
enum site_location_column {
	LOCATION_FUNCTION, /* string: function name as linked (mangled) */
	/* String: path as passed to the compiler; relative paths are relative to its working folder */
	LOCATION_FILE,
	LOCATION_OUTER, /* location of the call into which this function was inlined; an earlier one */
	LOCATION_LINE,
	LOCATION_COLUMN,
	LOCATION_COLUMNS
};

/* Columns of sites; all are differences. Instructions are the embedded bitcode's: n-th defined function,
 * n-th instruction in the order of its blocks, from 0. Debug records (#dbg_value, ...) do not count. */
enum site_column {
	SITE_LOCATION,
	SITE_TYPE, /* string: the struct or class that is accessed: "struct account", "Queue<int>" */
	SITE_FIELD, /* string: its member: "balance", "pos.x" */
	SITE_FUNCTION_NUMBER,
	SITE_INSTRUCTION_NUMBER,
	SITE_COLUMNS
};

/* The section .raddle.bitcode has one such header per translation unit. After it come stored_bytes bytes,
 * which liblzma expands to the form of abi/packed_bitcode.h, and padding to a multiple of eight bytes. */
struct bitcode_header {
	uint32_t magic;
	uint32_t version;
	uint64_t plain_bytes;
	uint64_t stored_bytes;
};

/* One per module. A constructor that runs before all others passes it to the runtime. */
struct instrumented_module {
	uint32_t magic;
	uint32_t version;
	const struct site_record *first;
	const struct site_record *end;
};

/* Weak in the objects: null without a runtime; nothing is reported then. */
void raddle_module_loaded(const struct instrumented_module *module);
void raddle_module_unloaded(const struct instrumented_module *module);
/* Ranges of memory, without the address `end`. The runtime must see each access to them in the current run. If a loop
 * (compiler/pass/loops/loops.h) will access no memory in these ranges, it continues in a copy of its code that reports
 * no accesses. The ranges change only while no thread executes such a copy. */
#define WANTED_PARTS 2

struct wanted_memory {
	struct {
		uint64_t start, end;
	} parts[WANTED_PARTS];
};

/* Weak: without a runtime no access is needed. */
extern struct wanted_memory raddle_wanted_v5;

static inline enum site_order site_record_order(const struct site_record *record)
{
	return (enum site_order)(record->order & ((1u << SITE_FAILURE_SHIFT) - 1));
}

static inline enum site_order site_record_order_of_failure(const struct site_record *record)
{
	return (enum site_order)(
		record->order >> SITE_FAILURE_SHIFT & ((1u << SITE_FAILURE_SHIFT) - 1));
}

static inline uint8_t site_record_flags(const struct site_record *record)
{
	return *((const uint8_t *)&record->info + record->info);
}

/* Returns whether the site's read belongs to a loop that only waits for another value. The bit SITE_WAITS has this
 * meaning only in sites that read. */
static inline bool site_record_waits(const struct site_record *record)
{
	return record->kind <= SITE_COMPARE_EXCHANGE && record->kind != SITE_STORE &&
	       record->kind != SITE_ATOMIC_STORE && site_record_flags(record) & SITE_WAITS;
}

/* Returns the address to which the record refers: with SITE_CALLEE_NAMED the word of the linker's table that holds the
 * called function, with SITE_HAS_NATIVE the native version. Other records have none. */
static inline const unsigned char *site_record_target(const struct site_record *record)
{
	const unsigned char *word = record->operand + SITE_TARGET_OFFSET;
	int32_t distance;

	memcpy(&distance, word, sizeof distance);
	return word + distance;
}
