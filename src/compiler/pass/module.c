/* Parts that a module has once: the constructor that registers it with the runtime, its note, and
 * its bitcode. */
#include "compiler/pass/instrument.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Comdat.h>
#include <lzma.h>
#include <zstd.h>

#include "base/array.h"

#define TEXT(text) text, sizeof(text) - 1
/* Slow, but units are small: a few milliseconds for five per cent. */
#define COMPRESSION_LEVEL 19

void keep_global(struct instrument *instrument, LLVMValueRef global)
{
	static const char name[] = "llvm.compiler.used";
	LLVMValueRef old = LLVMGetNamedGlobal(instrument->module, name);
	const unsigned before = old ? (unsigned)LLVMGetNumOperands(LLVMGetInitializer(old)) : 0;
	LLVMValueRef *members = array_new(before + 1, sizeof(*members));
	LLVMValueRef list;

	for (unsigned i = 0; i < before; i++)
		members[i] = LLVMGetOperand(LLVMGetInitializer(old), i);
	members[before] = global;
	if (old)
		LLVMDeleteGlobal(old);
	list = LLVMConstArray2(instrument->pointer, members, before + 1);
	old = LLVMAddGlobal(instrument->module, LLVMTypeOf(list), name);
	LLVMSetInitializer(old, list);
	LLVMSetLinkage(old, LLVMAppendingLinkage);
	LLVMSetSection(old, "llvm.metadata");
	free(members);
}

/* Makes the global unique per executable or library, although each unit defines it. */
static void module_make_unique(struct instrument *instrument, LLVMValueRef global, const char *name)
{
	LLVMComdatRef comdat = LLVMGetOrInsertComdat(instrument->module, name);

	LLVMSetComdatSelectionKind(comdat, LLVMAnyComdatSelectionKind);
	LLVMSetComdat(global, comdat);
	LLVMSetLinkage(global, LLVMLinkOnceODRLinkage);
	LLVMSetVisibility(global, LLVMHiddenVisibility);
}

/* Weak, because the section is missing if the linker drops every function with sites. */
static LLVMValueRef module_section_end(struct instrument *instrument, const char *name)
{
	LLVMValueRef end =
		LLVMAddGlobal(instrument->module, LLVMInt8TypeInContext(instrument->context), name);

	LLVMSetLinkage(end, LLVMExternalWeakLinkage);
	LLVMSetVisibility(end, LLVMHiddenVisibility);
	return end;
}

static LLVMValueRef module_make_descriptor(struct instrument *instrument)
{
	LLVMValueRef members[4] = {LLVMConstInt(instrument->i32, INSTRUMENT_MAGIC, 0),
		LLVMConstInt(instrument->i32, INSTRUMENT_ABI_VERSION, 0),
		module_section_end(instrument, "__start_raddle_sites"),
		module_section_end(instrument, "__stop_raddle_sites")};
	LLVMValueRef value = LLVMConstStructInContext(instrument->context, members, 4, false);
	LLVMValueRef global = LLVMAddGlobal(
		instrument->module, LLVMTypeOf(value), "raddle_instrumented_module_v1");

	LLVMSetInitializer(global, value);
	module_make_unique(instrument, global, "raddle_instrumented_module_v1");
	return global;
}

/*
 * Calls the runtime's function if the runtime is loaded. The global offset table holds its address:
 * the compiler would treat a weak symbol as null in a non-PIC program.
 */
static LLVMValueRef module_make_caller(struct instrument *instrument, LLVMValueRef descriptor,
	const char *name, const char *code, size_t length)
{
	LLVMTypeRef type = LLVMFunctionType(instrument->nothing, NULL, 0, false);
	LLVMTypeRef load_type = LLVMFunctionType(instrument->pointer, NULL, 0, false);
	LLVMTypeRef hook_type =
		LLVMFunctionType(instrument->nothing, &instrument->pointer, 1, false);
	LLVMValueRef function = LLVMAddFunction(instrument->module, name, type);
	LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(instrument->context, function, "");
	LLVMBasicBlockRef call = LLVMAppendBasicBlockInContext(instrument->context, function, "");
	LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(instrument->context, function, "");
	LLVMValueRef hook;

	module_make_unique(instrument, function, name);
	LLVMPositionBuilderAtEnd(instrument->builder, entry);
	hook = LLVMBuildCall2(instrument->builder, load_type,
		LLVMGetInlineAsm(load_type, code, length, TEXT("=r"), false, false,
			LLVMInlineAsmDialectATT, false),
		NULL, 0, "");
	LLVMBuildCondBr(
		instrument->builder, LLVMBuildIsNull(instrument->builder, hook, ""), end, call);
	LLVMPositionBuilderAtEnd(instrument->builder, call);
	LLVMBuildCall2(instrument->builder, hook_type, hook, &descriptor, 1, "");
	LLVMBuildBr(instrument->builder, end);
	LLVMPositionBuilderAtEnd(instrument->builder, end);
	LLVMBuildRetVoid(instrument->builder);
	return function;
}

static void module_add_to_list(
	struct instrument *instrument, const char *name, LLVMValueRef function)
{
	LLVMValueRef old = LLVMGetNamedGlobal(instrument->module, name);
	LLVMValueRef initial = old ? LLVMGetInitializer(old) : NULL;
	const unsigned before = initial && LLVMIsAConstantArray(initial)
					? (unsigned)LLVMGetNumOperands(initial)
					: 0;
	/* Priority 1: the first constructor and the last destructor. The entry is tied to the
	 * function's COMDAT. */
	LLVMValueRef members[3] = {LLVMConstInt(instrument->i32, 1, 0), function, function};
	LLVMTypeRef types[3] = {instrument->i32, instrument->pointer, instrument->pointer};
	LLVMTypeRef type = LLVMStructTypeInContext(instrument->context, types, 3, false);
	LLVMValueRef *entries = array_new(before + 1, sizeof(*entries));
	LLVMValueRef list;

	for (unsigned i = 0; i < before; i++)
		entries[i] = LLVMGetOperand(initial, i);
	entries[before] = LLVMConstStructInContext(instrument->context, members, 3, false);
	if (old)
		LLVMDeleteGlobal(old);
	list = LLVMConstArray2(type, entries, before + 1);
	old = LLVMAddGlobal(instrument->module, LLVMTypeOf(list), name);
	LLVMSetInitializer(old, list);
	LLVMSetLinkage(old, LLVMAppendingLinkage);
	free(entries);
}

static void module_add_note(struct instrument *instrument)
{
	char note[256];

	(void)snprintf(note, sizeof note,
		"\t.pushsection .note.raddle, \"a\", @note\n"
		"\t.balign 4\n\t.long 7, 4, 1\n\t.asciz \"raddle\"\n\t.balign 4\n\t.long %d\n"
		"\t.popsection\n",
		INSTRUMENT_ABI_VERSION);
	LLVMAppendModuleInlineAsm(instrument->module, note, strlen(note));
}

void insert_registration(struct instrument *instrument)
{
	LLVMValueRef descriptor = module_make_descriptor(instrument);

	module_add_to_list(instrument, "llvm.global_ctors",
		module_make_caller(instrument, descriptor, "raddle_module_constructor_v1",
			TEXT(".weak raddle_module_loaded\n\t"
			     "movq raddle_module_loaded@GOTPCREL(%rip), $0")));
	module_add_to_list(instrument, "llvm.global_dtors",
		module_make_caller(instrument, descriptor, "raddle_module_destructor_v1",
			TEXT(".weak raddle_module_unloaded\n\t"
			     "movq raddle_module_unloaded@GOTPCREL(%rip), $0")));
	module_add_note(instrument);
}

static char *module_write_ascii(char *at, const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (i % 64 == 0)
			at += sprintf(at, "%s\t.ascii \"", i ? "\"\n" : "");
		*at++ = '\\';
		*at++ = (char)('0' + (bytes[i] >> 6));
		*at++ = (char)('0' + (bytes[i] >> 3 & 7));
		*at++ = (char)('0' + (bytes[i] & 7));
	}
	return at + sprintf(at, "\"\n");
}

/* With a checksum, a reader detects damage before it parses the content. */
size_t compress_bytes(const void *plain, size_t size, unsigned char **stored)
{
	const size_t room = ZSTD_compressBound(size);
	ZSTD_CCtx *context = ZSTD_createCCtx();

	*stored = malloc(room);
	if (!*stored || !context ||
		ZSTD_isError(ZSTD_CCtx_setParameter(
			context, ZSTD_c_compressionLevel, COMPRESSION_LEVEL)) ||
		ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)))
		abort(); /* out of memory: abort as the compiler does */
	size = ZSTD_compress2(context, *stored, room, plain, size);
	if (ZSTD_isError(size))
		abort(); /* out of memory: abort as the compiler does */
	ZSTD_freeCCtx(context);
	return size;
}

/* A tenth smaller than zstd's best, and slower to read, but few analyses read it. */
static size_t module_compress_bitcode(const void *plain, size_t size, unsigned char **stored)
{
	const size_t room = lzma_stream_buffer_bound(size);
	lzma_options_lzma options;
	lzma_filter filters[] = {
		{.id = LZMA_FILTER_LZMA2, .options = &options}, {.id = LZMA_VLI_UNKNOWN}};
	size_t used = 0;

	*stored = malloc(room);
	if (lzma_lzma_preset(&options, LZMA_PRESET_EXTREME | 9))
		abort(); /* the preset exists */
	options.lc = 3;
	options.lp = options.pb = 0; /* columns of bytes have no alignment */
	options.dict_size = size > LZMA_DICT_SIZE_MIN ? (uint32_t)size : LZMA_DICT_SIZE_MIN;
	if (!*stored || lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, plain, size,
				*stored, &used, room) != LZMA_OK)
		abort(); /* out of memory: abort as the compiler does */
	return used;
}

void embed_bitcode(struct instrument *instrument)
{
	LLVMMemoryBufferRef bitcode = instrument_write_bitcode(instrument->module);
	LLVMMemoryBufferRef buffer = instrument_pack_bitcode(bitcode);
	const size_t plain = LLVMGetBufferSize(buffer);
	unsigned char *stored;
	const size_t size = module_compress_bitcode(LLVMGetBufferStart(buffer), plain, &stored);
	char *text = array_new(5 * size + size / 4 + 1024, 1);
	char *at = text;

	at += sprintf(at,
		"\t.pushsection .raddle.bitcode, \"\", @progbits\n\t.balign 8\n"
		"\t.long %u, %u\n\t.quad %zu, %zu\n",
		INSTRUMENT_MAGIC, INSTRUMENT_ABI_VERSION, plain, size);
	at = module_write_ascii(at, stored, size);
	at += sprintf(at, "\t.balign 8\n\t.popsection\n");
	LLVMAppendModuleInlineAsm(instrument->module, text, (size_t)(at - text));
	LLVMDisposeMemoryBuffer(bitcode);
	LLVMDisposeMemoryBuffer(buffer);
	free(stored);
	free(text);
}
