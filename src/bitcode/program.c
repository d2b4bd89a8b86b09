/*
 * The bitcode section may be damaged. LLVM gets only frames that decompress, first in a child
 * process, because LLVM ends its process on some kinds of damage.
 */
#include "bitcode/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <llvm-c/BitReader.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <lzma.h>

#include "base/array.h"
#include "abi/instrument_abi.h"
#include "base/strbuf.h"
#include "bitcode/unpack.h"

/* Limit on the plain size of a unit. Real units are smaller: a larger size means damage. */
#define PLAIN_MOST (UINT64_C(1) << 32)

static int program_damaged(const char *path, uint32_t unit, const char *what, struct error *err)
{
	return error_set(err, ERROR_FORMAT,
		"the bitcode in %s is damaged (unit %u: %s); build it again", path, unit, what);
}

/* Keeps LLVM from printing diagnostics; the return codes suffice. */
static void program_ignore_diagnostic(LLVMDiagnosticInfoRef info, void *context)
{
	(void)info;
	(void)context;
}

/* Stores the instructions from index `count` of `array` on; only counts them if `array` is NULL. */
static uint32_t program_number_instructions(
	LLVMValueRef function, LLVMValueRef *array, uint32_t count)
{
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
		block = LLVMGetNextBasicBlock(block))
		for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
			i = LLVMGetNextInstruction(i), count++)
			if (array)
				array[count] = i;
	return count;
}

static void program_number_all(struct unit *unit)
{
	uint32_t functions = 0, instructions = 0;

	for (LLVMValueRef f = LLVMGetFirstFunction(unit->module); f; f = LLVMGetNextFunction(f)) {
		functions += !LLVMIsDeclaration(f);
		instructions = program_number_instructions(f, NULL, instructions);
	}
	unit->functions = array_new(functions + 1, sizeof *unit->functions);
	unit->first_instruction = array_new(functions + 1, sizeof *unit->first_instruction);
	unit->instructions = array_new(instructions + 1, sizeof *unit->instructions);
	instructions = 0;
	for (LLVMValueRef f = LLVMGetFirstFunction(unit->module); f; f = LLVMGetNextFunction(f)) {
		if (LLVMIsDeclaration(f))
			continue;
		unit->functions[unit->function_count++] = f;
		instructions = program_number_instructions(f, unit->instructions, instructions);
		unit->first_instruction[unit->function_count] = instructions;
	}
}

static bool program_decompress(
	const struct bitcode_header *header, const unsigned char *stored, char *plain)
{
	uint64_t memory = UINT64_MAX;
	size_t read = 0, size = 0;

	return lzma_stream_buffer_decode(&memory, 0, NULL, stored, &read, header->stored_bytes,
		       (uint8_t *)plain, &size, header->plain_bytes) == LZMA_OK &&
	       size == header->plain_bytes;
}

static int program_parse_unit(struct program *program, const struct bitcode_header *header,
	const unsigned char *stored, const char *path, uint32_t number, struct error *err)
{
	struct unit unit = {.file = program->file_count - 1};
	char *plain = malloc(header->plain_bytes + 1);
	LLVMMemoryBufferRef buffer;
	unsigned char *bitcode;
	size_t bitcode_bytes;
	bool is_whole;
	int failed;

	if (!plain)
		return error_set(
			err, ERROR_NOMEM, "no memory for the bitcode of %s; free some", path);
	if (!program_decompress(header, stored, plain)) {
		free(plain);
		return program_damaged(path, number, "it does not decompress", err);
	}
	is_whole = bitcode_unpack(
		(const unsigned char *)plain, header->plain_bytes, &bitcode, &bitcode_bytes);
	free(plain);
	if (!is_whole)
		return program_damaged(path, number, "its records make no sense", err);
	buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
		(const char *)bitcode, bitcode_bytes, "unit");
	free(bitcode);
	failed = LLVMParseBitcodeInContext2(program->context, buffer, &unit.module);
	LLVMDisposeMemoryBuffer(buffer);
	if (failed)
		return program_damaged(path, number, "LLVM 19 cannot read it", err);
	unit.layout = LLVMGetModuleDataLayout(unit.module);
	program_number_all(&unit);
	ARRAY_APPEND(program->units, program->unit_count, unit);
	return 0;
}

static int program_check_header(const struct bitcode_header *header, size_t left, const char *path,
	uint32_t number, struct error *err)
{
	if (header->magic != INSTRUMENT_MAGIC)
		return program_damaged(path, number, "it does not begin as one", err);
	if (header->version != INSTRUMENT_ABI_VERSION)
		return error_set(err, ERROR_VERSION,
			"the bitcode in %s is of another raddle (version %u, this one has %d); build it "
			"again",
			path, header->version, INSTRUMENT_ABI_VERSION);
	if (header->stored_bytes > left || header->plain_bytes > PLAIN_MOST || !header->plain_bytes)
		return program_damaged(path, number, "its length makes no sense", err);
	return 0;
}

static int program_parse_section(struct program *program, const unsigned char *bytes, size_t size,
	const char *path, struct error *err)
{
	size_t at = 0;

	for (uint32_t number = 0; at < size; number++) {
		struct bitcode_header header;
		int status;

		if (size - at < sizeof header)
			return program_damaged(path, number, "it is cut short", err);
		memcpy(&header, bytes + at, sizeof header);
		at += sizeof header;
		status = program_check_header(&header, size - at, path, number, err);
		if (!status)
			status =
				program_parse_unit(program, &header, bytes + at, path, number, err);
		if (status)
			return status;
		at += header.stored_bytes;
		at += -at & 7;
	}
	return 0;
}

/* Sends *err to the parent; after a crash nothing is sent. */
static _Noreturn void program_parse_in_child(struct program *program, const unsigned char *section,
	size_t size, const char *path, int pipe)
{
	static const struct rlimit no_core = {0};
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct error err = {0};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a valid signal: cannot fail */
	(void)setrlimit(RLIMIT_CORE, &no_core); /* a core file would be of no use */
	/* LLVM prints a reason before it ends its process. */
	if (null >= 0)
		(void)dup2(null, STDERR_FILENO);
	(void)program_parse_section(program, section, size, path, &err);
	if (write(pipe, &err, sizeof err) != (ssize_t)sizeof err)
		_exit(EXIT_FAILURE);
	_exit(EXIT_SUCCESS);
}

static int program_check_section(struct program *program, const unsigned char *section, size_t size,
	const char *path, struct error *err)
{
	struct error answer;
	int ends[2];
	ssize_t got;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, ERROR_IO,
			"no pipe can be made (%s); is the limit of open files low?",
			strerror(errno));
	child = fork();
	if (child == 0)
		program_parse_in_child(program, section, size, path, ends[1]);
	(void)close(ends[1]); /* write end: the child's */
	/* A write of less than PIPE_BUF bytes is atomic. */
	while ((got = child < 0 ? 0 : read(ends[0], &answer, sizeof answer)) < 0 && errno == EINTR)
		continue;
	(void)close(ends[0]); /* read end: nothing to lose */
	if (child < 0)
		return error_set(err, ERROR_LIMIT,
			"no process can be started (%s); raise ulimit -u", strerror(errno));
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (got != (ssize_t)sizeof answer)
		return error_set(err, ERROR_FORMAT,
			"the bitcode in %s is damaged (LLVM 19 crashes on it); build it again",
			path);
	return answer.code ? error_set(err, answer.code, "%s", answer.text) : 0;
}

/* Damaged names are left out: no symbol of the program matches them. */
static void program_read_exports(struct program_file *file)
{
	size_t table_size, names_size;
	const unsigned char *table = site_table_section(file->sites, ".dynsym", &table_size);
	const char *names = site_table_section(file->sites, ".dynstr", &names_size);
	const size_t count = table ? table_size / sizeof(Elf64_Sym) : 0;

	file->exports = array_new(count + 1, sizeof *file->exports);
	for (size_t i = 0; i < count; i++) {
		Elf64_Sym symbol;

		memcpy(&symbol, table + i * sizeof symbol, sizeof symbol);
		if (symbol.st_shndx == SHN_UNDEF || !names || symbol.st_name >= names_size ||
			!memchr(names + symbol.st_name, '\0', names_size - symbol.st_name))
			continue;
		file->exports[file->export_count] = string_copy(names + symbol.st_name);
		file->export_count++;
	}
}

static int program_load_file(struct program *program, const char *path, struct error *err)
{
	struct program_file *file = &program->files[program->file_count];
	const unsigned char *section;
	size_t size;
	int status = site_table_open(&file->sites, path, err);

	if (status)
		return status;
	program->file_count++;
	file->path = path;
	program_read_exports(file);
	section = site_table_section(file->sites, ".raddle.bitcode", &size);
	if (!section)
		return error_set(err, ERROR_NOTFOUND,
			"%s has sites but no bitcode; build it again and do not strip it", path);
	status = program_check_section(program, section, size, path, err);
	return status ? status : program_parse_section(program, section, size, path, err);
}

int program_load(
	struct program *program, const char *const *paths, uint32_t path_count, struct error *err)
{
	int status = 0;

	*program = (struct program){.context = LLVMContextCreate()};
	LLVMContextSetDiagnosticHandler(program->context, program_ignore_diagnostic, NULL);
	program->files = array_new(path_count + 1, sizeof *program->files);
	for (uint32_t i = 0; i < path_count && !status; i++)
		status = program_load_file(program, paths[i], err);
	if (status)
		program_release(program);
	return status;
}

void program_release(struct program *program)
{
	for (uint32_t i = 0; i < program->unit_count; i++) {
		free(program->units[i].functions);
		free(program->units[i].instructions);
		free(program->units[i].first_instruction);
		LLVMDisposeModule(program->units[i].module);
	}
	for (uint32_t i = 0; i < program->file_count; i++) {
		for (uint32_t j = 0; j < program->files[i].export_count; j++)
			free(program->files[i].exports[j]);
		free(program->files[i].exports);
		site_table_free(program->files[i].sites);
	}
	free(program->units);
	free(program->files);
	LLVMContextDispose(program->context);
	*program = (struct program){0};
}

LLVMValueRef program_instruction(
	const struct unit *unit, uint32_t function_number, uint32_t instruction_number)
{
	uint32_t first, end;

	if (function_number >= unit->function_count)
		return NULL;
	first = unit->first_instruction[function_number];
	end = unit->first_instruction[function_number + 1];
	return instruction_number < end - first ? unit->instructions[first + instruction_number]
						: NULL;
}

bool program_is_named(LLVMValueRef function, const char *name)
{
	size_t length;
	const char *own = LLVMGetValueName2(function, &length);
	const size_t plain = strlen(name);

	return strncmp(own, name, plain) == 0 && (own[plain] == '\0' || own[plain] == '.');
}
