#include "commands/follow/follow_blocked.h"

#include <dirent.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/strbuf.h"
#include "commands/follow/follow_program.h"

/* Since Linux 5.14; older headers lack it. */
#define LOCK_PI2 13

/* What a look at a process found. */
struct look {
	unsigned threads;
	uint64_t switches; /* context switches of all its threads so far */
};

/* Returns the number behind a name in a text of /proc, and 0 if the name is not there. */
static uint64_t blocked_number(const char *text, const char *name, int base)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

/* Returns whether a signal has a handler, which could wake a thread. Those of faults do not count:
 * a thread that waits makes no fault. glibc's own, 32 and 33, come from the process itself. */
static bool blocked_has_handler(const char *status)
{
	static const int harmless[] = {
		SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT, 32, 33};
	uint64_t caught = blocked_number(status, "\nSigCgt:", 16);

	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		caught &= ~(UINT64_C(1) << (harmless[i] - 1));
	return caught != 0;
}

/* Returns whether the address lies in memory that no other process shares. */
static bool blocked_is_private(const char *maps, uint64_t address)
{
	uint64_t from, to;
	char rights[5];

	for (const char *line = maps; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, rights) == 3 &&
			address >= from && address < to)
			return rights[3] == 'p';
	}
	return false;
}

/* Returns whether the system call is a wait on a private futex without a time limit. */
static bool blocked_is_endless_wait(const char *call, const char *maps)
{
	uint64_t address, operation, value, limit;
	int number;

	if (sscanf(call, "%d %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &number, &address,
		    &operation, &value, &limit) != 5)
		return false; /* it runs, or is in no system call */
	if (number != SYS_futex || limit != 0)
		return false;
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case LOCK_PI2:
		return blocked_is_private(maps, address);
	default:
		return false;
	}
}

/* Adds a thread to a look. Returns false if it does not wait for ever. */
static bool blocked_look_at_thread(
	pid_t process, const char *thread, const char *maps, struct look *look)
{
	STRBUF_SCOPED status = STRBUF_EMPTY, call = STRBUF_EMPTY;
	char name[64];
	bool waits;

	(void)snprintf(name, sizeof name, "task/%.20s/syscall", thread); /* fits */
	waits = follow_program_read_file(process, name, &call) &&
		blocked_is_endless_wait(call.text, maps);
	(void)snprintf(name, sizeof name, "task/%.20s/status", thread); /* fits */
	waits = waits && follow_program_read_file(process, name, &status) &&
		!blocked_has_handler(status.text);
	if (waits) {
		look->threads++;
		look->switches += blocked_number(status.text, "\nvoluntary_ctxt_switches:", 10) +
				  blocked_number(status.text, "\nnonvoluntary_ctxt_switches:", 10);
	}
	return waits;
}

/* Returns false if a thread does not wait for ever. */
static bool blocked_look(pid_t process, const char *maps, struct look *look)
{
	char path[64];
	struct dirent *entry;
	bool all = true;
	DIR *threads;

	*look = (struct look){0};
	(void)snprintf(path, sizeof path, "/proc/%d/task", (int)process); /* fits */
	threads = opendir(path);
	if (!threads)
		return false;
	while (all && (entry = readdir(threads)))
		if (entry->d_name[0] != '.')
			all = blocked_look_at_thread(process, entry->d_name, maps, look);
	(void)closedir(threads); /* was opened for reading */
	return all && look->threads > 0;
}

bool follow_is_blocked_for_ever(pid_t process)
{
	STRBUF_SCOPED maps = STRBUF_EMPTY;
	struct look first, second;

	/* A thread that was seen to wait may have run since, and woken another one. If none has run
	 * between two looks, all of them waited at once. */
	return follow_program_read_file(process, "maps", &maps) &&
	       blocked_look(process, maps.text, &first) &&
	       blocked_look(process, maps.text, &second) && first.threads == second.threads &&
	       first.switches == second.switches;
}
