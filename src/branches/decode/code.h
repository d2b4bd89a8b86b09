/*
 * The functions of a program in a form that is fast to interpret. decode*.c translate a function
 * from LLVM bitcode at its first call, into an array of `struct code`. A parallel array of `struct
 * op` holds the fields that the inner loop of the walk needs.
 *
 * Each scalar value has one 64-bit register. A vector or struct has one register per lane or
 * member, and an integer over 64 bits or an 80-bit float has two. Constants have registers too,
 * after those of all values. Operand fields (to, a, b, c) are register numbers.
 *
 * A *site* is a location where instrumented code reports to the recorder (branches/record/record.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "branches/decode/image.h"

enum code_op {
	CODE_BINARY,  /* sub: LLVMOpcode */
	CODE_COMPARE, /* sub: LLVMIntPredicate */
	CODE_FLOAT,   /* sub: LLVMOpcode; width 32 or 64 */
	CODE_FLOAT_COMPARE,
	CODE_FLOAT_NEGATE,
	CODE_ZERO_EXTEND, /* sub: source width, as in all conversions */
	CODE_SIGN_EXTEND,
	CODE_TRUNCATE,
	CODE_FROM_SIGNED, /* integer to floating point */
	CODE_FROM_UNSIGNED,
	CODE_TO_SIGNED,
	CODE_TO_UNSIGNED,
	CODE_FLOAT_CONVERT, /* between float and double */
	CODE_MOVE,
	CODE_ADDRESS, /* a + immediate + terms */
	CODE_LOAD,
	CODE_STORE, /* stores a at address b */
	CODE_LOCAL, /* alloca */
	CODE_SELECT,
	CODE_PICK,     /* extractelement: lane b of the `count` lanes from register a on */
	CODE_LOCATION, /* insertelement: b into lane c of the `count` lanes from register `to` on */
	CODE_GO,
	CODE_BRANCH,
	CODE_SWITCH,
	CODE_RETURN,
	CODE_CALL,
	CODE_UPDATE,	/* memcpy and memmove: c bytes from b to a */
	CODE_EXCHANGE,	/* a: address, b: expected, c: new */
	CODE_COPY,	/* memcpy and memmove: c bytes from b to a */
	CODE_FILL,	/* memset */
	CODE_INTRINSIC, /* sub: enum intrinsic */
	CODE_VALUE,	/* an instruction that is not computed: takes the recorded result */
	CODE_REPORT,	/* a site that reports no value: fences */
	CODE_LANDING,
	CODE_STOP, /* control never continues here: unreachable, resume */
	/*
	 * Bit cast: `count` lanes of `sub` bits from register a become `bytes` lanes of `width`
	 * bits
	 */
	CODE_RESHAPE,
	CODE_NOTHING,
	CODE_UNKNOWN /* unsupported instruction; `text` says which */
};

enum intrinsic {
	INTRINSIC_UNSIGNED_MIN,
	INTRINSIC_UNSIGNED_MAX,
	INTRINSIC_SIGNED_MIN,
	INTRINSIC_SIGNED_MAX,
	INTRINSIC_ABSOLUTE,
	INTRINSIC_SWAP_BYTES,
	INTRINSIC_COUNT_ONES,
	INTRINSIC_LEADING_ZEROS,
	INTRINSIC_TRAILING_ZEROS,
	INTRINSIC_FUNNEL_LEFT,
	INTRINSIC_FUNNEL_RIGHT,
	INTRINSIC_UNSIGNED_ADD_OVERFLOW, /* these six set a second register: the overflow flag */
	INTRINSIC_UNSIGNED_SUB_OVERFLOW,
	INTRINSIC_UNSIGNED_MUL_OVERFLOW,
	INTRINSIC_SIGNED_ADD_OVERFLOW,
	INTRINSIC_SIGNED_SUB_OVERFLOW,
	INTRINSIC_SIGNED_MUL_OVERFLOW,
	INTRINSIC_UNSIGNED_ADD_SATURATING,
	INTRINSIC_UNSIGNED_SUB_SATURATING,
	INTRINSIC_BIT_REVERSE,
	INTRINSIC_FUSED, /* a * b + c */
	INTRINSIC_FLOAT_ABSOLUTE,
	INTRINSIC_SQUARE_ROOT,
	INTRINSIC_COPY,	  /* copy of the first argument; decoded as CODE_MOVE */
	INTRINSIC_REDUCE, /* reduction of the lanes of a vector; decoded as a chain of codes */
	INTRINSIC_UNKNOWN
};

enum code_location {
	LOCATION_SITE,	  /* any memory; the record holds the values */
	LOCATION_LOCAL,	  /* a local variable whose address does not escape */
	LOCATION_CONSTANT /* a constant global */
};

enum allocation {
	ALLOCATION_NONE,
	ALLOCATION_FIRST,   /* size is the first argument */
	ALLOCATION_SECOND,  /* size is the second argument */
	ALLOCATION_PRODUCT, /* size is the product of both arguments */
	ALLOCATION_MOVE,    /* realloc(): frees the first argument; size is the second */
	ALLOCATION_END	    /* frees the first argument */
};

/* Calls with the outcome of an operation, which another schedule may change (walk_outcome.c). */
enum outcome {
	OUTCOME_NONE,
	OUTCOME_TRY,	 /* try-lock: 0 or EBUSY */
	OUTCOME_TRY_C11, /* C11 try-lock: 0 or thrd_busy */
	OUTCOME_TAKE,	 /* sem_trywait: 0 or -1 */
	OUTCOME_BARRIER, /* barrier wait: -1 for the last arrival, 0 for the others */
	/* pthread_once: no result; an operation only if the routine has not completed */
	OUTCOME_ONCE,
	OUTCOME_BEGINNING /* sem_init: the third argument is the initial count */
};

struct function;

/* Maximum bytes of an access. Vectorised loops without a remainder have up to a hundred lanes. */
#define ACCESS_BYTES_MOST 512u

/* Unit: bits. */
#define RESHAPED_BITS 1024u

struct move {
	int32_t to, from;
};

/* A control-flow edge. Its moves (from phi nodes) take place simultaneously. */
struct edge {
	uint32_t target; /* index of the target code */
	uint32_t count;
	struct move *moves;
	bool is_entangled; /* the moves must not be executed one after the other */
	uint64_t value;	   /* case value of a switch */
};

struct address_term {
	int32_t operand;
	uint8_t width;
	int64_t scale;
};

/* The part of an object that an access must stay inside. */
struct object_part {
	/* Operand that holds the base pointer; -1: the address is not computed by indexing */
	int32_t base;
	int64_t offset;
	uint64_t bytes; /* 0: the size of the object that begins at `base`, if known */
};

struct constant_block {
	LLVMValueRef global;
	uint64_t address, size;
	uint8_t *bytes;
};

/* Library functions whose result the walk computes from the bytes that they read. */
enum library_kind {
	LIBRARY_COMPARE,
	LIBRARY_DIFFER,
	LIBRARY_LENGTH,
	LIBRARY_FIND /* the address of a byte */
};

struct library_operand {
	uint8_t location; /* enum code_location */
	bool is_known;	  /* false if the location of its bytes is unknown */
	uint32_t site;	  /* LOCATION_SITE: the site that reports its bytes */
	const struct constant_block *constant;
};

struct library_read {
	uint8_t kind;	/* enum library_kind */
	uint8_t count;	/* number of arguments that are read; they are the first ones */
	int8_t limit;	/* argument that limits the number of bytes; -1: none */
	bool is_string; /* a NUL ends the input */
	bool is_used;	/* the program uses the result */
	struct library_operand operands[2];
};

struct code {
	uint8_t op; /* enum code_op */
	uint8_t sub;
	uint8_t width;
	uint8_t location;      /* enum code_location */
	uint8_t location_from; /* the same for the source of a COPY */
	bool is_noreturn;
	bool is_blind; /* CALL of inline assembly that writes unknown memory */
	bool is_used;  /* CALL: the program uses the result */
	/* CALL of a library function whose result or effect depends on the memory that it reads */
	bool reads_bytes;
	/* CALL of a library function: the record reports the written memory as one range */
	bool writes_bytes;
	/* LOAD, STORE: vector of `count` lanes of `width` bits; CALL, VALUE: `b` lanes */
	bool is_vector;
	int32_t to, a, b, c;
	uint32_t bytes;
	/* number of lanes, of operands, or of successors */
	uint32_t count;
	uint32_t site_to;      /* COPY, FILL: site of the written range */
	uint32_t site;	       /* the relevant site of the instruction; SITE_NONE: none */
	uint32_t instructions; /* ends of blocks: number of instructions in the block */
	uint32_t branch;       /* BRANCH, SWITCH, SELECT: program-wide branch number */
	uint8_t allocates;     /* CALL: enum allocation */
	uint8_t outcome;       /* CALL: enum outcome */
	int64_t immediate;
	struct object_part object; /* LOAD, STORE, UPDATE, EXCHANGE */
	union {
		struct edge *edges;
		int32_t *operands;
		struct address_term *terms;
		const char *text;
		const struct constant_block *constant;
	};
	struct edge *normal, *unwind; /* CALL of an invoke instruction: the two edges */
	/* CALL: cached callee of the last execution; NULL means code without bitcode */
	struct function *callee;
	uint64_t callee_address;    /* CALL: address of the callee; 0: unknown */
	struct library_read *reads; /* CALL of a function of enum library_kind; else NULL */
	LLVMValueRef value;
};

/* Returns whether the code sets a second register, the overflow flag. */
static inline bool code_reports_overflow(const struct code *code)
{
	return code->op == CODE_INTRINSIC && code->sub >= INTRINSIC_UNSIGNED_ADD_OVERFLOW &&
	       code->sub <= INTRINSIC_SIGNED_MUL_OVERFLOW;
}

enum run {
#define RUN(name, symbolic, body) RUN_##name,
#define SPECIAL(name, symbolic) RUN_##name,
#include "branches/decode/runs.def"
#undef SPECIAL
#undef RUN
	RUN_COUNT
};

/* The fields of a code that the inner loop needs. */
struct op {
	uint16_t run; /* enum run */
	uint8_t width, scale;
	int32_t to, a, b;
	union {
		int64_t immediate;
		/* BRANCH, GO: `b` is the branch number, `to` the block's instructions */
		const struct edge *edges;
		struct {
			int32_t c;
			uint32_t number; /* number of a site; SELECT: number of a branch */
		};
	};
};

struct function {
	LLVMValueRef value;
	uint32_t unit;
	uint32_t entry; /* site; SITE_NONE: not instrumented */
	uint64_t address;
	uint32_t parameter_registers;
	uint32_t value_count;	 /* registers of values */
	uint32_t register_count; /* registers of values and constants */
	struct code *codes;
	struct op *ops; /* parallel to `codes` */
	uint32_t code_count;
	uint64_t *constants; /* contents of the constant registers */
	uint32_t constant_count, constant_capacity;
	uint32_t *
		argument_sites; /* registers of the parameters that SITE_ARGUMENTs report, in site order */
	uint32_t argument_count;
	uint32_t address_count; /* number of SITE_ADDRESSes of parameters */
	uint32_t *address_registers;
	bool is_decoded;
	bool is_marked; /* the code begins with SITE_FUNCTION_MARK; set by decoding */
	/* Excluded by the user: the values that it computes are treated as constant */
	bool is_excluded;
};

/* All functions with sites. */
struct code_book {
	struct image *image;
	struct function *functions;
	uint32_t function_count;
	struct number_map by_address; /* index of the function */
	struct number_map by_value;
	struct constant_block **constants;
	uint32_t constant_count;
	LLVMValueRef *branches;
	uint32_t branch_count;
	/* Nonzero: walks end early, and their results are incomplete. NULL: walks are complete */
	const volatile int *is_interrupted;
};

static inline bool code_book_is_interrupted(const struct code_book *book)
{
	return book->is_interrupted && *book->is_interrupted;
}

void code_book_open(struct code_book *book, struct image *image);
void code_book_close(struct code_book *book);

/*
 * Treats the values that functions compute as constant. The pattern (such as "log_*" or "libz.so*")
 * is matched against the function name (linker name or demangled), the source file, and the
 * executable or library. Returns false if nothing matches.
 */
bool code_book_exclude(struct code_book *book, const char *pattern);
/* Matches the whole path or its last component. */
bool code_book_matches(const char *pattern, const char *path);

/* Returns the function at the address, perhaps not decoded yet; NULL for code without bitcode. */
struct function *code_book_at(const struct code_book *book, uint64_t address);
struct function *code_book_of_site(const struct code_book *book, uint32_t site);
void code_decode(struct code_book *book, struct function *function);
/* Returns whether the call, or the function that it calls, has the attribute noreturn. */
bool decode_never_returns(LLVMValueRef call);
/* Fills `ops` from `codes`. Called by code_decode(). */
void code_make_ops(struct function *function);

/* Shared by decode*.c. */

struct decoder {
	struct code_book *book;
	struct image *image;
	struct function *function;
	const struct unit *unit;
	struct number_map registers; /* LLVM value to its first register; constants as ~number */
	struct number_map blocks;    /* basic block to the index of its first code */
};

int32_t decode_operand(struct decoder *decoder, LLVMValueRef value);
static inline int32_t decode_operand_at(
	struct decoder *decoder, LLVMValueRef instruction, unsigned index)
{
	return decode_operand(decoder, LLVMGetOperand(instruction, index));
}
static inline int32_t decode_lane(int32_t operand, uint32_t lane)
{
	return operand + (int32_t)lane;
}
/* Returns the type of a vector's elements; any other type itself. */
static inline LLVMTypeRef decode_lane_type(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}
struct code *decode_add(struct decoder *decoder, enum code_op op, LLVMValueRef instruction);
/* Returns the number of registers for a value of the type; 0: void or unsupported. */
uint32_t decode_registers(const struct decoder *decoder, LLVMTypeRef type);
/* Returns whether the type needs two registers: integers of 65 to 128 bits and 80-bit floats. Their
 * arithmetic is recorded. */
bool decode_is_wide(LLVMTypeRef type);
/* Returns the width in bits of a one-register type; 0: the type needs more registers. */
uint32_t decode_width(LLVMTypeRef type);
void decode_unknown(struct decoder *decoder, LLVMValueRef instruction, const char *text);
/* Returns the first site of the instruction whose kind is in [first, last]; SITE_NONE: none. */
uint32_t decode_site(const struct decoder *decoder, LLVMValueRef instruction, int first, int last);
uint32_t decode_branch_number(struct decoder *decoder, LLVMValueRef instruction);
void decode_end(struct decoder *decoder, LLVMValueRef instruction);
void decode_return(struct decoder *decoder, LLVMValueRef instruction);
/* Returns the part of an object that an access through `pointer` must stay in. */
struct object_part decode_object(struct decoder *decoder, LLVMValueRef pointer);
/* Returns the memory that the call reads, freed by the caller; NULL if the result is not
 * computed. */
struct library_read *decode_library_read(struct decoder *decoder, LLVMValueRef call);
enum outcome decode_outcome(LLVMValueRef call);
void decode_lanes(struct decoder *decoder, LLVMValueRef instruction);
void decode_select(struct decoder *decoder, LLVMValueRef instruction);
void decode_member(struct decoder *decoder, LLVMValueRef instruction);
void decode_shuffle(struct decoder *decoder, LLVMValueRef instruction);
void decode_element(struct decoder *decoder, LLVMValueRef instruction);
/* Returns the object that the address is based on, by the rule of the compiler pass. */
LLVMValueRef decode_object_behind(LLVMValueRef pointer);
/* Finds where the memory behind a pointer without a site lies. Returns false if unknown. */
bool decode_location(struct decoder *decoder, LLVMValueRef pointer, uint8_t *location,
	const struct constant_block **constant);
void decode_local(struct decoder *decoder, LLVMValueRef instruction);
void decode_access(struct decoder *decoder, LLVMValueRef instruction);
void decode_address(struct decoder *decoder, LLVMValueRef instruction);
void decode_call(struct decoder *decoder, LLVMValueRef instruction);
/* Decodes an instruction that is not computed: its result is recorded. */
void decode_recorded(struct decoder *decoder, LLVMValueRef instruction);
struct edge *decode_edge(struct decoder *decoder, LLVMValueRef from, LLVMBasicBlockRef to);
/* Returns false if unsupported. */
bool decode_constant(
	struct image *image, uint32_t unit, LLVMValueRef constant, uint64_t *registers);
const struct constant_block *decode_constant_block(struct decoder *decoder, LLVMValueRef global);
