/*
 * The functions of a program in a form that is quick to walk: an array of `struct code` each, which tells
 * all, and beside it one of `struct op`, which tells what the inner loop of the walk needs of it. A value has
 * one register of 64 bits, vectors and structs one for each lane or member; so have constants, behind all
 * values.
 */
#ifndef RADDLE_BRANCHES_INTERPRET_CODE_H
#define RADDLE_BRANCHES_INTERPRET_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "branches/interpret/image.h"

enum code_op {
	CODE_BINARY,  /* sub: LLVMOpcode */
	CODE_COMPARE, /* sub: LLVMIntPredicate */
	CODE_FLOAT,   /* sub: LLVMOpcode; width 32 or 64 */
	CODE_FLOAT_COMPARE,
	CODE_FLOAT_NEGATE,
	CODE_ZERO_EXTEND, /* sub: width before, as of all conversions */
	CODE_SIGN_EXTEND,
	CODE_TRUNCATE,
	CODE_FROM_SIGNED, /* to floating point */
	CODE_FROM_UNSIGNED,
	CODE_TO_SIGNED,
	CODE_TO_UNSIGNED,
	CODE_FLOAT_CONVERT, /* between float and double */
	CODE_MOVE,
	CODE_ADDRESS, /* a + immediate + terms */
	CODE_LOAD,
	CODE_STORE, /* a at b */
	CODE_LOCAL, /* alloca */
	CODE_SELECT,
	CODE_PICK,  /* extractelement: lane b of `count` from a on */
	CODE_PLACE, /* insertelement: b into lane c of `count` from `to` on */
	CODE_GO,
	CODE_BRANCH,
	CODE_SWITCH,
	CODE_RETURN,
	CODE_CALL,
	CODE_UPDATE,	/* sub: LLVMAtomicRMWBinOp */
	CODE_EXCHANGE,	/* a: address, b: expected, c: new */
	CODE_COPY,	/* memcpy and memmove: a from b, c bytes */
	CODE_FILL,	/* memset */
	CODE_INTRINSIC, /* sub: enum intrinsic */
	CODE_VALUE,	/* what a site tells, nothing else */
	CODE_REPORT,	/* a site that tells nothing: fences */
	CODE_LANDING,
	CODE_STOP, /* control does not come here, or not back: unreachable, resume */
	CODE_RESHAPE, /* `count` lanes of `sub` bits from a on, taken for `bytes` lanes of `width` bits */
	CODE_WIDE, /* sub: LLVMOpcode; of `bytes` bits to `width`, one of them more than 64; count: predicate */
	CODE_EXTENDED, /* likewise, one of them floating point of 80 bits */
	CODE_EXTENDED_INTRINSIC,
	CODE_NOTHING,
	CODE_UNKNOWN /* not handled; `text` says what */
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
	INTRINSIC_UNSIGNED_ADD_OVERFLOW, /* two registers */
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
	INTRINSIC_FLOAT_MIN,
	INTRINSIC_FLOAT_MAX,
	INTRINSIC_COPY_SIGN,
	INTRINSIC_FLOOR,
	INTRINSIC_CEILING,
	INTRINSIC_TRUNCATE,
	INTRINSIC_ROUND_EVEN,
	INTRINSIC_ROUND,
	INTRINSIC_LIBRARY, /* of libm: `library` */
	INTRINSIC_LIBRARY_OF_TWO,
	INTRINSIC_UNKNOWN
};

/* Where memory without sites is. */
enum code_place {
	PLACE_SITE,    /* anywhere: the record tells */
	PLACE_LOCAL,   /* a local that nobody else knows */
	PLACE_CONSTANT /* a constant global */
};

/* Functions that give or take memory. Those that give it return its address. */
enum allocation {
	ALLOCATION_NONE,
	ALLOCATION_FIRST,   /* as many bytes as the first argument says */
	ALLOCATION_SECOND,  /* ... the second */
	ALLOCATION_PRODUCT, /* ... both, multiplied */
	ALLOCATION_MOVE,    /* realloc(): the first argument is given back */
	ALLOCATION_END	    /* the first argument is given back */
};

/* Calls whose result says what came of an operation that may come out otherwise under another schedule (walk_outcome.c). */
enum outcome {
	OUTCOME_NONE,
	OUTCOME_TRY,	  /* to lock: 0 or EBUSY */
	OUTCOME_TRY_C11,  /* likewise: 0 or thrd_busy */
	OUTCOME_TAKE,	  /* from a semaphore: 0 or -1 */
	OUTCOME_BARRIER,  /* -1 for who comes last, 0 for the others */
	OUTCOME_ONCE,	  /* no result: whether it takes a step depends on whether all is done */
	OUTCOME_BEGINNING /* of a semaphore: how often it can be taken is the third argument */
};

struct function;

/* Of a vector that is read or written at once: those of loops without a rest have a hundred lanes. */
#define ACCESS_BYTES_MOST 512u

/* Of a value that is taken for one of another kind, at most. */
#define RESHAPED_BITS 1024u

struct move {
	int32_t to, from;
};

/* Values move along an edge, all at once. */
struct edge {
	uint32_t target; /* number of the code */
	uint32_t count;
	struct move *moves;
	bool is_entangled; /* the moves cannot be made one after the other */
	uint64_t value;	   /* of a switch */
};

struct address_term {
	int32_t operand;
	uint8_t width;
	int64_t scale;
};

/* What an access may not leave. */
struct object_part {
	int32_t base; /* an operand; -1: its address is no index */
	int64_t offset;
	uint64_t bytes; /* 0: those of the object that begins at `base`, if that is known */
};

struct constant_block {
	LLVMValueRef global;
	uint64_t address, size;
	uint8_t *bytes;
};

/* Functions of the library whose result, or what they write, is computed from the bytes that they read. */
enum library_kind {
	LIBRARY_COMPARE,
	LIBRARY_DIFFER,
	LIBRARY_LENGTH,
	LIBRARY_NUMBER,	     /* of a string of digits */
	LIBRARY_SPAN,	     /* how many of the first bytes are some of the second string's */
	LIBRARY_SPAN_OTHERS, /* ... are none of them */
	LIBRARY_FIND,	     /* gives an address, as all that follow */
	LIBRARY_FIND_LAST,
	LIBRARY_FIND_OR_END, /* a byte, or the zero */
	LIBRARY_FIND_ANY,    /* of the second string's bytes */
	LIBRARY_FIND_STRING,
	LIBRARY_COPY,	/* writes, as all that follow: the string */
	LIBRARY_APPEND, /* the same, behind the string that is there */
	LIBRARY_FILL	/* as many bytes as the limit says: the string, and zeros */
};

struct library_operand {
	uint8_t place; /* enum code_place */
	bool is_known; /* else nobody knows where its bytes are */
	uint32_t site; /* PLACE_SITE */
	const struct constant_block *constant;
};

struct library_read {
	uint8_t kind;	  /* enum library_kind */
	uint8_t first;	  /* argument that is read */
	uint8_t count;	  /* of arguments that are read */
	uint8_t pointers; /* the first ones that are pointers; 0: those up to the last that is read */
	int8_t base; /* NUMBER: argument that says the base, behind the one that says where the end goes; -1: ten */
	int8_t limit;	  /* argument that says how many bytes at most; -1: none does */
	bool is_string;	  /* a zero is the end */
	bool is_used;	  /* somebody looks at the result, or at what is written */
	bool is_near;	  /* what is told of it lies in one page */
	bool folds;	  /* capital letters are as small ones */
	bool gives_end;	  /* of what is written: the address of its zero */
	uint32_t site_to; /* of what is written; SITE_NONE: nobody knows where */
	struct library_operand operands[2];
};

struct code {
	uint8_t op; /* enum code_op */
	uint8_t sub;
	uint8_t width;
	uint8_t place;	    /* enum code_place */
	uint8_t place_from; /* of what COPY copies */
	bool is_noreturn;
	bool is_blind;	   /* CALL: of assembly that writes memory, nobody sees which */
	bool is_handled;   /* CALL: an exception has a landing pad here: the last edge */
	bool is_used;	   /* CALL: its result */
	bool tells_bytes;  /* CALL: of a function of the library, of memory that it reads */
	bool writes_bytes; /* CALL: likewise, memory, so many bytes at once */
	bool is_vector; /* LOAD, STORE: `count` lanes of `width` bits; CALL, VALUE: `b` of them */
	int32_t to, a, b, c;
	uint32_t bytes;
	uint32_t count;	       /* lanes, operands, successors; of ends of blocks see below */
	uint32_t site_to;      /* COPY, FILL: of what is written */
	uint32_t site;	       /* number of the first one of the kind that counts; SITE_NONE */
	uint32_t instructions; /* ends of blocks: how many the block has */
	uint32_t branch;       /* BRANCH, SWITCH, SELECT: number among those of the program */
	uint8_t allocates;     /* CALL: enum allocation */
	uint8_t outcome;       /* CALL: enum outcome */
	int64_t immediate;
	struct object_part object; /* LOAD, STORE, UPDATE, EXCHANGE */
	union {
		struct edge *edges;
		int32_t *operands;
		struct address_term *terms;
		const char *text;
		double (*library)(double);
		double (*library_of_two)(double, double);
		const struct constant_block *constant;
	};
	struct edge *normal, *unwind; /* CALL that is an invoke */
	struct function *callee;      /* CALL: the last one; NULL: code without bitcode */
	uint64_t callee_address;      /* 0: not known */
	struct library_read *reads;   /* CALL: of such a function; else NULL */
	LLVMValueRef value;
};

/* How an op is performed, see runs.def. */
enum run {
#define RUN(name, symbolic) RUN_##name,
#include "branches/interpret/runs.def"
#undef RUN
	RUN_COUNT
};

/* What the inner loop needs of a code. */
struct op {
	uint16_t run; /* enum run */
	uint8_t width, scale;
	int32_t to, a, b;
	union {
		int64_t immediate;
		const struct edge *edges; /* BRANCH, GO; then `b` is the branch's number, `to` how
					     many instructions the block has */
		struct {
			int32_t c;
			uint32_t number; /* of a site or, SELECT, a branch */
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
	uint32_t register_count; /* and of constants */
	struct code *codes;
	struct op *ops; /* as many */
	uint32_t code_count, code_capacity;
	uint64_t *constants; /* what their registers hold */
	uint32_t constant_count, constant_capacity;
	uint32_t *
		argument_sites; /* parameters that SITE_ARGUMENTs tell, in order: their registers */
	uint32_t argument_count;
	uint32_t address_count; /* SITE_ADDRESSes of parameters */
	uint32_t *address_registers;
	bool is_decoded;
	bool is_marked;	  /* with SITE_FUNCTION_MARK; when it is decoded */
	bool is_excluded; /* what it computes is as it was */
};

/* All functions with sites; decoded when they are first called. */
struct code_book {
	struct image *image;
	struct function *functions;
	uint32_t function_count;
	uint32_t *by_address; /* open addressing: number + 1 */
	uint32_t capacity;
	struct value_map by_value;
	struct constant_block *constants[256]; /* in hundreds: they must not move */
	uint32_t constant_count;
	LLVMValueRef *branches;
	uint32_t branch_count, branch_capacity;
};

void code_book_open(struct code_book *book, struct image *image);
void code_book_close(struct code_book *book);

/*
 * Leaves functions out whose name (as linked or as people write it), source file, or executable or library matches the
 * pattern, such as "log_*" or "libz.so*": what they compute keeps its value. False: there are none.
 */
bool code_book_exclude(struct code_book *book, const char *pattern);
/* The whole path, or its last part. */
bool code_book_matches(const char *pattern, const char *path);

/* By address; NULL: code without bitcode. Not decoded. */
struct function *code_book_at(const struct code_book *book, uint64_t address);
/* The function that a site is in. */
struct function *code_book_of_site(const struct code_book *book, uint32_t site);
void code_decode(struct code_book *book, struct function *function);
/* Part of that: `ops`, when there are all codes. */
void code_make_ops(struct function *function);

/* ---- decode_*.c share ---- */

struct decoder {
	struct code_book *book;
	struct image *image;
	struct function *function;
	const struct unit *unit;
	struct value_map registers; /* of values; of constants: ~ */
	struct value_map blocks;    /* number of the first code */
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
struct code *decode_add(struct decoder *decoder, enum code_op op, LLVMValueRef instruction);
/* Registers of a value of the type; 0: none, or not handled. */
uint32_t decode_registers(const struct decoder *decoder, LLVMTypeRef type);
/* Bits of a value in one register; 0: it takes others. */
uint32_t decode_width(const struct decoder *decoder, LLVMTypeRef type);
void decode_unknown(struct decoder *decoder, LLVMValueRef instruction, const char *text);
/* The first site of one of the kinds [first, last] of the instruction. */
uint32_t decode_site(const struct decoder *decoder, LLVMValueRef instruction, int first, int last);
/* decode_flow.c */
uint32_t decode_branch_number(struct decoder *decoder, LLVMValueRef instruction);
void decode_end(struct decoder *decoder, LLVMValueRef instruction);
void decode_return(struct decoder *decoder, LLVMValueRef instruction);
/* decode_object.c: of an access there. */
struct object_part decode_object(struct decoder *decoder, LLVMValueRef pointer);
/* decode_wide.c: of integers of more than 64 bits. */
__extension__ typedef unsigned __int128 wide_integer;
bool decode_is_wide(LLVMTypeRef type);
void decode_wide_constant(LLVMValueRef constant, uint64_t *registers);
/* False: the instruction is none that computes with them. */
bool decode_wide(struct decoder *decoder, LLVMValueRef instruction);
/* decode_extended.c: of floating point of 80 bits. */
bool decode_is_extended(LLVMTypeRef type);
/* False: it is none. */
bool decode_extended_constant(LLVMValueRef constant, uint64_t registers[2]);
/* False: the instruction, or the intrinsic, is none that computes with them. */
bool decode_extended(struct decoder *decoder, LLVMValueRef instruction);
bool decode_extended_intrinsic(struct decoder *decoder, LLVMValueRef call, enum intrinsic number);
/* decode_class.c: of llvm.is.fpclass(). False: the classes, or what is asked of, are others. */
bool decode_class(struct decoder *decoder, LLVMValueRef call);
/* decode_library.c: what the call reads, the caller's to free; NULL: it is none whose result is computed. */
struct library_read *decode_library_read(struct decoder *decoder, LLVMValueRef call);
enum outcome decode_outcome(LLVMValueRef call);
/* decode_value.c */
void decode_lanes(struct decoder *decoder, LLVMValueRef instruction);
void decode_select(struct decoder *decoder, LLVMValueRef instruction);
void decode_member(struct decoder *decoder, LLVMValueRef instruction);
void decode_shuffle(struct decoder *decoder, LLVMValueRef instruction);
void decode_element(struct decoder *decoder, LLVMValueRef instruction);
/* The other files. */
/* Where memory without a site is. False: not known. */
bool decode_place(struct decoder *decoder, LLVMValueRef pointer, uint8_t *place,
	const struct constant_block **constant);
void decode_memory(struct decoder *decoder, LLVMValueRef instruction);
void decode_call(struct decoder *decoder, LLVMValueRef instruction);
struct edge *decode_edge(struct decoder *decoder, LLVMValueRef from, LLVMBasicBlockRef to);
/* The value of a constant in registers. False: not handled. */
bool decode_constant(
	struct image *image, uint32_t unit, LLVMValueRef constant, uint64_t *registers);
const struct constant_block *decode_constant_block(struct decoder *decoder, LLVMValueRef global);

#endif
