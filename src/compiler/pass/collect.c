/* Decides which instructions become sites, and of which kind. */
#include "compiler/pass/instrument.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t orders[] = {
	[LLVMAtomicOrderingNotAtomic] = SITE_RELAXED,
	[LLVMAtomicOrderingUnordered] = SITE_RELAXED,
	[LLVMAtomicOrderingMonotonic] = SITE_RELAXED,
	[LLVMAtomicOrderingAcquire] = SITE_ACQUIRE,
	[LLVMAtomicOrderingRelease] = SITE_RELEASE,
	[LLVMAtomicOrderingAcquireRelease] = SITE_ACQUIRE_RELEASE,
	[LLVMAtomicOrderingSequentiallyConsistent] = SITE_SEQUENTIAL,
};

void add_site(struct instrument *instrument, const struct site *site)
{
	ARRAY_APPEND(instrument->sites, instrument->site_count, *site);
}

size_t sites_end_of_function(const struct instrument *instrument, size_t first)
{
	size_t end = first;

	while (end < instrument->site_count &&
		instrument->sites[end].function == instrument->sites[first].function)
		end++;
	return end;
}

uint16_t type_bytes(const struct instrument *instrument, LLVMTypeRef type)
{
	const uint64_t bytes = LLVMStoreSizeOfType(instrument->layout, type);

	return bytes > UINT16_MAX ? UINT16_MAX : (uint16_t)bytes;
}

/* Returns whether nothing between two instructions of a block reports to the runtime or allows a
 * context switch. */
static bool collect_is_alone_between(LLVMValueRef first, LLVMValueRef last)
{
	LLVMValueRef at = LLVMGetNextInstruction(first);

	while (at && at != last && !LLVMIsACallInst(at) && !LLVMIsAFenceInst(at) &&
		!LLVMIsAAtomicRMWInst(at) && !LLVMIsAAtomicCmpXchgInst(at))
		at = LLVMGetNextInstruction(at);
	return at == last;
}

/* Marks a write to the location that the previous site has read: the recorder needs only one of the
 * two reports. */
static void collect_note_write_back(struct instrument *instrument, struct site *write)
{
	struct site *read =
		instrument->site_count ? &instrument->sites[instrument->site_count - 1] : NULL;

	if (!read || read->kind != SITE_LOAD || write->kind != SITE_STORE ||
		read->pointer != write->pointer || read->bytes != write->bytes ||
		read->bytes > sizeof(uint64_t) || read->function != write->function ||
		(read->flags | write->flags) & SITE_VOLATILE ||
		!collect_is_alone_between(read->instruction, write->instruction))
		return;
	read->flags |= SITE_WRITTEN_BACK;
	write->flags |= SITE_WRITES_BACK;
}

static void collect_add_access(struct instrument *instrument, struct site site,
	LLVMValueRef pointer, LLVMTypeRef type, enum site_kind kind)
{
	const bool is_read = kind == SITE_LOAD || kind == SITE_ATOMIC_LOAD;

	if (filter_skips(pointer, !is_read))
		return;
	site.pointer = pointer;
	site.kind = (uint8_t)kind;
	site.bytes = type_bytes(instrument, type);
	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
		site.flags |= SITE_VECTOR;
	collect_note_write_back(instrument, &site);
	add_site(instrument, &site);
}

static void collect_add_plain(struct instrument *instrument, struct site site, LLVMValueRef pointer,
	LLVMTypeRef type, enum site_kind plain, enum site_kind atomic)
{
	const LLVMAtomicOrdering order = LLVMGetOrdering(site.instruction);

	site.order = orders[order];
	if (LLVMGetVolatile(site.instruction))
		site.flags |= SITE_VOLATILE;
	if (LLVMGetAlignment(site.instruction) < LLVMABIAlignmentOfType(instrument->layout, type))
		site.flags |= SITE_UNALIGNED;
	collect_add_access(instrument, site, pointer, type,
		order == LLVMAtomicOrderingNotAtomic ? plain : atomic);
}

/* Adds the site of assembly. Assembly that clobbers or takes memory (a star) may access more than
 * its operands. */
static void collect_add_assembly(struct instrument *instrument, struct site site)
{
	size_t length;
	const char *constraints =
		LLVMGetInlineAsmConstraintString(LLVMGetCalledValue(site.instruction), &length);

	collect_assembly_fence(instrument, &site);
	if (!memchr(constraints, '*', length) && !memmem(constraints, length, "~{memory}", 9))
		return;
	collect_assembly(instrument, &site);
	site.kind = SITE_OPAQUE;
	add_site(instrument, &site);
}

static bool collect_add_fence_call(struct instrument *instrument, struct site site)
{
	const char *name = called_name(site.instruction);

	if (!name || strcmp(name, "llvm.x86.sse2.mfence") != 0)
		return false;
	site.kind = SITE_FENCE;
	site.order = SITE_SEQUENTIAL | SITE_UNRECORDED;
	add_site(instrument, &site);
	return true;
}

/* Intrinsics on vectors with masked lanes, from the vectoriser or from programs. */
struct vector_call {
	const char *start; /* prefix of the name */
	uint8_t kind;	   /* enum site_kind */
	uint8_t pointer;   /* argument */
	uint8_t value;	   /* argument whose type is the width of a store */
};

static const struct vector_call vector_calls[] = {
	{"llvm.masked.load.", SITE_LOAD, 0, 0},
	{"llvm.masked.store.", SITE_STORE, 1, 0},
	{"llvm.masked.expandload.", SITE_LOAD, 0, 0},
	{"llvm.masked.compressstore.", SITE_STORE, 1, 0},
	{"llvm.x86.avx.maskload.", SITE_LOAD, 0, 0},
	{"llvm.x86.avx2.maskload.", SITE_LOAD, 0, 0},
	{"llvm.x86.avx.maskstore.", SITE_STORE, 0, 2},
	{"llvm.x86.avx2.maskstore.", SITE_STORE, 0, 2},
	/* One address per lane: opaque, as assembly is. */
	{"llvm.masked.gather.", SITE_OPAQUE, 0, 0},
	{"llvm.masked.scatter.", SITE_OPAQUE, 0, 0},
	{"llvm.x86.avx2.gather.", SITE_OPAQUE, 0, 0},
	{"llvm.x86.avx512.gather", SITE_OPAQUE, 0, 0},
	{"llvm.x86.avx512.scatter", SITE_OPAQUE, 0, 0},
	{"llvm.x86.avx512.mask.gather", SITE_OPAQUE, 0, 0},
	{"llvm.x86.avx512.mask.scatter", SITE_OPAQUE, 0, 0},
};

static bool collect_add_vector(struct instrument *instrument, struct site site)
{
	const char *name = called_name(site.instruction);
	const struct vector_call *call = vector_calls;
	const struct vector_call *end = call + sizeof vector_calls / sizeof *vector_calls;
	LLVMValueRef value = site.instruction;

	while (call < end && !(name && strncmp(name, call->start, strlen(call->start)) == 0))
		call++;
	if (call == end)
		return false;
	if (call->kind == SITE_OPAQUE) {
		site.kind = SITE_OPAQUE;
		add_site(instrument, &site);
		return true;
	}
	if (call->kind == SITE_STORE)
		value = LLVMGetArgOperand(site.instruction, call->value);
	collect_add_access(instrument, site, LLVMGetArgOperand(site.instruction, call->pointer),
		LLVMTypeOf(value), call->kind);
	return true;
}

static void collect_add_exchange(struct instrument *instrument, struct site site)
{
	LLVMValueRef expected = LLVMGetOperand(site.instruction, 1);

	site.order = (uint8_t)(orders[LLVMGetCmpXchgSuccessOrdering(site.instruction)] |
			       orders[LLVMGetCmpXchgFailureOrdering(site.instruction)]
				       << SITE_FAILURE_SHIFT);
	if (type_bytes(instrument, LLVMTypeOf(expected)) <= sizeof(uint64_t)) {
		site.order |= SITE_EXPECTED;
		site.length = expected;
	}
	collect_add_access(instrument, site, LLVMGetOperand(site.instruction, 0),
		LLVMTypeOf(expected), SITE_COMPARE_EXCHANGE);
}

static void collect_add_instruction(struct instrument *instrument, struct site site)
{
	LLVMValueRef instruction = site.instruction;

	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMLoad:
		collect_add_plain(instrument, site, LLVMGetOperand(instruction, 0),
			LLVMTypeOf(instruction), SITE_LOAD, SITE_ATOMIC_LOAD);
		return;
	case LLVMStore:
		collect_add_plain(instrument, site, LLVMGetOperand(instruction, 1),
			LLVMTypeOf(LLVMGetOperand(instruction, 0)), SITE_STORE, SITE_ATOMIC_STORE);
		return;
	case LLVMAtomicRMW:
		site.order = orders[LLVMGetOrdering(instruction)];
		collect_add_access(instrument, site, LLVMGetOperand(instruction, 0),
			LLVMTypeOf(instruction), SITE_ATOMIC_UPDATE);
		return;
	case LLVMAtomicCmpXchg:
		collect_add_exchange(instrument, site);
		return;
	case LLVMFence:
		if (LLVMIsAtomicSingleThread(
			    instruction)) /* atomic_signal_fence() orders no threads */
			return;
		site.order = orders[LLVMGetOrdering(instruction)];
		site.kind = SITE_FENCE;
		add_site(instrument, &site);
		return;
	case LLVMCall:
	case LLVMInvoke:
		if (LLVMIsAInlineAsm(LLVMGetCalledValue(instruction)))
			collect_add_assembly(instrument, site);
		else if (!collect_add_fence_call(instrument, site) &&
			 !collect_add_vector(instrument, site) &&
			 !collect_atomic_call(instrument, &site))
			collect_library_call(instrument, &site);
		return;
	case LLVMCallBr:
		collect_add_assembly(instrument, site);
		return;
	default:
		return;
	}
}

/* Returns the position after the allocas of the entry block, which must stay together. */
static LLVMValueRef collect_first_location(LLVMValueRef function)
{
	LLVMValueRef location = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));

	while (LLVMIsAAllocaInst(location))
		location = LLVMGetNextInstruction(location);
	return location;
}

static bool collect_is_intrinsic(LLVMValueRef call)
{
	return starts_with(called_name(call), "llvm.");
}

/* A tail call must directly precede its return: the point of the exit stands before the call. */
static bool collect_is_exit(LLVMValueRef instruction)
{
	LLVMValueRef other;

	if (LLVMIsACallInst(instruction) && LLVMIsTailCall(instruction)) {
		other = LLVMGetNextInstruction(instruction);
		return LLVMIsAReturnInst(other) &&
		       !LLVMIsAInlineAsm(LLVMGetCalledValue(instruction)) &&
		       !collect_is_intrinsic(instruction);
	}
	if (!LLVMIsAReturnInst(instruction))
		return false;
	other = LLVMGetPreviousInstruction(instruction);
	return !other || !LLVMIsACallInst(other) || !collect_is_exit(other);
}

static bool collect_is_inside(LLVMValueRef function)
{
	const LLVMLinkage linkage = LLVMGetLinkage(function);

	return (linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage) &&
	       !is_called_from_outside(function);
}

void collect_sites(struct instrument *instrument, LLVMValueRef function, LLVMValueRef native,
	uint32_t function_number)
{
	struct site site = {.function = function, .function_number = function_number};
	struct site entry = site;

	entry.instruction = collect_first_location(function);
	entry.kind = SITE_FUNCTION_ENTRY;
	entry.flags = collect_is_inside(function) ? SITE_INSIDE : 0;
	if (native) {
		entry.order = SITE_HAS_NATIVE;
		entry.callee = instrument_native_address(native);
	}
	add_site(instrument, &entry);
	entry.flags = entry.order = 0;
	entry.callee = NULL;
	collect_arguments(instrument, &entry);
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
		block = LLVMGetNextBasicBlock(block)) {
		for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction;
			instruction = LLVMGetNextInstruction(instruction)) {
			site.instruction = instruction;
			collect_add_instruction(instrument, site);
			collect_values(instrument, &site, entry.instruction);
			if (collect_is_exit(instruction)) {
				struct site leave = site;

				leave.kind = SITE_FUNCTION_EXIT;
				leave.bytes = LLVMIsACallInst(instruction) ? SITE_TAIL : 0;
				add_site(instrument, &leave);
			}
			site.instruction_number++;
		}
	}
}
