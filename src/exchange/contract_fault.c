#include "exchange/contract_fault.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/children.h"
#include "exchange/contract_block.h"

#define STATUS_CANNOT_WORK 2

/* State for the signal handler, which has no argument. Written once, before the handler is
 * installed. */
static struct {
	bool is_installed;
	struct sigaction segmentation, bus;
} before;

static void contract_fault_write(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* another output is not possible */
}

static void contract_fault_write_number(uint64_t number)
{
	char digits[24];
	char *at = digits + sizeof digits - 1;

	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	contract_fault_write(at);
}

/* Returns the header copy of the block before the address; NULL if there is none. */
static const struct contract *contract_fault_block_before(uint64_t address)
{
	const uint64_t start = address - address % CONTRACT_DISTANCE;
	unsigned char unused;

	_Static_assert(CONTRACT_REGION_START % CONTRACT_DISTANCE == 0, "blocks are aligned");
	return mincore((void *)(uintptr_t)start, 1, &unused) == 0
		       ? (const struct contract *)(uintptr_t)start
		       : NULL;
}

static void contract_fault_handle(int number, siginfo_t *information, void *context)
{
	const uint64_t address = (uint64_t)(uintptr_t)information->si_addr;
	const struct contract *contract;

	(void)context; /* the handler does not return to it */
	if (information->si_code <= 0 || address < CONTRACT_REGION_START ||
		address >= CONTRACT_REGION_END) {
		(void)sigaction(
			number, number == SIGBUS ? &before.bus : &before.segmentation, NULL);
		return; /* the access is repeated with the previous handler */
	}
	contract = contract_fault_block_before(address);
	contract_fault_write("raddle: the target wrote over raddle's memory");
	if (contract) {
		contract_fault_write(" at step ");
		contract_fault_write_number(contract->heartbeat);
		contract_fault_write(" of run ");
		contract_fault_write_number(contract->run_number + 1);
	}
	contract_fault_write("; look for a stray write, with AddressSanitizer or under valgrind\n");
	children_kill_added();
	_exit(STATUS_CANNOT_WORK);
}

void contract_fault_watch(void)
{
	struct sigaction action = {.sa_sigaction = contract_fault_handle, .sa_flags = SA_SIGINFO};

	if (before.is_installed)
		return;
	before.is_installed = true;
	(void)sigemptyset(&action.sa_mask); /* cannot fail; nor can the next two calls */
	(void)sigaction(SIGSEGV, &action, &before.segmentation);
	(void)sigaction(SIGBUS, &action, &before.bus);
}
