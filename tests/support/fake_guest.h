/*
 * A guest for tests of the campaign: a process that answers the command like libraddle.so. A
 * simulated program (simulated_program.h) replaces the real one. A test starts itself again as the
 * target:
 *
 *	int main(int argc, char **argv)
 *	{
 *		if (argc > 2 && strcmp(argv[1], "guest") == 0)
 *			return fake_guest_main(argv[2], &program);
 */
#pragma once

#include "support/simulated_program.h"

/*
 * Runs the behaviour of this name:
 *   run      speaks the protocol, run after run (a server), or for one run (restart exec)
 *   exit3    ends with status 3 without reading the contract
 *   segv     dies of SIGSEGV in its first run without a report
 *   die      a server that ends in its second run
 *   taint    a rewind server that cannot continue after its third run; other restarts: run
 *   flaky    run 5 crashes under a rewind server, and only there
 *   spin     its first run never moves and ends as a hang when SIGSYS asks for it
 *   deaf     likewise, but SIGSYS is ignored
 *   stray    leaves a process behind in a session of its own, whose id is printed, then: run
 *   print    prints 64 MB, then: run
 *
 * `program` may only have initial threads (no SIMULATED_CREATE): their names are known from the
 * start. Returns the exit status.
 */
int fake_guest_main(const char *behaviour, const struct simulated_program *program);
