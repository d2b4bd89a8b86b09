/*
 * Unwinds the stacks of suspended fibers from another, stopped process, page by page with
 * process_vm_readv(), from the frame written by context_switch_*.
 *
 * All data is untrusted. The walk ends at an address outside every loaded object, at a stack that
 * does not grow, at unreadable memory, and at the caller's capacity.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "symbols/symbols_internal.h"

/* Order of the words saved by context_switch_* above the floating-point control word. */
enum saved_word {
	SAVED_CONTROL,
	SAVED_R15,
	SAVED_R14,
	SAVED_R13,
	SAVED_R12,
	SAVED_RBX,
	SAVED_RBP,
	SAVED_RETURN,
	SAVED_COUNT
};

/* Reads memory through /proc/PID/mem, for containers whose engine refuses process_vm_readv(). */
static bool unwind_read_memory_file(pid_t pid, uint64_t address, void *to, size_t size)
{
	char path[32];
	ssize_t got;
	int file;

	(void)snprintf(path, sizeof path, "/proc/%d/mem", (int)pid); /* fits */
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	got = pread(file, to, size, (off_t)address);
	(void)close(file); /* the file was opened for reading */
	return got == (ssize_t)size;
}

bool unwind_read_memory(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	const ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (got < 0 && (errno == EPERM || errno == ENOSYS))
		return unwind_read_memory_file(pid, address, to, size);
	return got == (ssize_t)size;
}

static bool unwind_read_page(struct unwind *unwind, uint64_t start)
{
	if (unwind->page_start == start)
		return true;
	unwind->page_start = 1;
	if (!unwind_read_memory(unwind->pid, start, unwind->page, sizeof unwind->page))
		return false;
	unwind->page_start = start;
	return true;
}

static bool unwind_read_word(struct unwind *unwind, uint64_t address, uint64_t *value)
{
	unsigned char bytes[sizeof *value];

	for (unsigned i = 0; i < sizeof bytes; i++) {
		const uint64_t at = address + i;

		if (!unwind_read_page(unwind, at & ~(uint64_t)(sizeof unwind->page - 1)))
			return false;
		bytes[i] = unwind->page[at % sizeof unwind->page];
	}
	memcpy(value, bytes, sizeof bytes);
	return true;
}

static pid_t unwind_next_thread(Dwfl *dwfl, void *symbols, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = symbols;
	return ((struct symbols *)symbols)->unwind.pid;
}

static bool unwind_get_thread(Dwfl *dwfl, pid_t tid, void *symbols, void **thread)
{
	(void)dwfl;
	(void)tid; /* the only thread is the unwound fiber */
	*thread = symbols;
	return true;
}

bool unwind_read(struct symbols *symbols, pid_t pid, uint64_t address, uint64_t *value)
{
	if (symbols->unwind.pid != pid) {
		symbols->unwind.pid = pid;
		symbols->unwind.page_start = 1;
	}
	return unwind_read_word(&symbols->unwind, address, value);
}

static bool unwind_memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *symbols)
{
	(void)dwfl;
	return unwind_read_word(&((struct symbols *)symbols)->unwind, address, result);
}

static bool unwind_set_initial_registers(Dwfl_Thread *thread, void *argument)
{
	struct unwind *unwind = &((struct symbols *)argument)->unwind;
	Dwarf_Word registers[REGISTER_COUNT] = {0};
	uint64_t saved[SAVED_COUNT];

	for (unsigned i = SAVED_R15; i < SAVED_COUNT; i++)
		if (!unwind_read_word(unwind, unwind->stack_pointer + i * sizeof *saved, &saved[i]))
			return false;
	registers[REGISTER_RBX] = saved[SAVED_RBX];
	registers[REGISTER_RBP] = saved[SAVED_RBP];
	registers[REGISTER_RSP] = unwind->stack_pointer + sizeof saved;
	for (unsigned i = 0; i < 4; i++)
		registers[REGISTER_R12 + i] = saved[SAVED_R12 - i];
	registers[REGISTER_RETURN] = saved[SAVED_RETURN];
	return dwfl_thread_state_registers(thread, 0, REGISTER_COUNT, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = unwind_next_thread,
	.get_thread = unwind_get_thread,
	.memory_read = unwind_memory_read,
	.set_initial_registers = unwind_set_initial_registers,
};

static void unwind_take_registers(Dwfl_Frame *frame, uint64_t address, struct stack_frame *to)
{
	*to = (struct stack_frame){.address = address};
	for (unsigned i = 0; i < REGISTER_RETURN; i++)
		if (!dwfl_frame_reg(frame, i, &to->registers[i]))
			to->known |= 1u << i;
}

static int unwind_take_frame(Dwfl_Frame *frame, void *argument)
{
	struct symbols *symbols = argument;
	struct unwind *unwind = &symbols->unwind;
	Dwarf_Addr address;
	Dwarf_Word stack_pointer;
	bool is_interrupted = false;

	if (!dwfl_frame_pc(frame, &address, &is_interrupted) || !address ||
		!symbols_module_at(symbols, address))
		return DWARF_CB_ABORT;
	/* A handler may use another stack: only an unchanged stack pointer indicates garbage. */
	if (!dwfl_frame_reg(frame, REGISTER_RSP, &stack_pointer)) {
		if (unwind->count && stack_pointer == unwind->last_frame)
			return DWARF_CB_ABORT;
		unwind->last_frame = stack_pointer;
	}
	/* An interrupted frame made no call: + 1 makes its address look like a return address. */
	address += unwind->count && is_interrupted;
	if (unwind->addresses)
		unwind->addresses[unwind->count] = address;
	if (unwind->frames)
		unwind_take_registers(frame, address, &unwind->frames[unwind->count]);
	unwind->count++;
	return unwind->count < unwind->capacity ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static unsigned unwind_walk(struct symbols *symbols, pid_t pid, uint64_t stack_pointer)
{
	struct unwind *unwind = &symbols->unwind;

	if (!unwind->capacity)
		return 0;
	if (!symbols->is_attached &&
		!dwfl_attach_state(symbols->dwfl, NULL, pid, &thread_callbacks, symbols))
		return 0;
	symbols->is_attached = true;
	unwind->pid = pid;
	unwind->stack_pointer = stack_pointer;
	unwind->page_start = 1;
	unwind->count = 0;
	unwind->last_frame = 0;
	/* The walk may end for any reason: all frames before are valid. */
	(void)dwfl_getthread_frames(symbols->dwfl, pid, unwind_take_frame, symbols);
	return unwind->count;
}

unsigned symbols_unwind(struct symbols *symbols, pid_t pid, uint64_t stack_pointer,
	uint64_t thread_base, uint64_t *addresses, unsigned capacity)
{
	symbols->unwind.thread_base = thread_base;
	symbols->unwind.addresses = addresses;
	symbols->unwind.frames = NULL;
	symbols->unwind.capacity = capacity;
	return unwind_walk(symbols, pid, stack_pointer);
}

unsigned unwind_frames(struct symbols *symbols, pid_t pid, uint64_t stack_pointer,
	struct stack_frame *frames, unsigned capacity)
{
	symbols->unwind.addresses = NULL;
	symbols->unwind.frames = frames;
	symbols->unwind.capacity = capacity;
	return unwind_walk(symbols, pid, stack_pointer);
}
