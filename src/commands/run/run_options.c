#include "commands/run/run_options.h"

const struct argp_option run_options[] = {
	{.doc = "What to explore:", .group = 1},
	{"strategy", 's', "NAME[,OPTION=N...]", 0,
		"Who chooses the next thread; `raddle list strategies` explains them (portfolio)",
		1},
	{"schedules", OPTION_SCHEDULES, "N", 0, "End after N schedules (no limit)", 1},
	{"time", OPTION_TIME, "TIME", 0,
		"End after this time, such as 500ms, 30s, 10m; 0: no limit (60s)", 1},
	{"seed", OPTION_SEED, "N", 0, "Same seed, same schedules (1)", 1},
	{"jobs", 'j', "N", 0,
		"Workers that run schedules side by side; they change no result (the cores)", 1},
	{"keep-going", 'k', NULL, 0, "Collect distinct failures until the budget ends", 1},
	{"memory", OPTION_MEMORY, "shared|races|none|all", 0,
		"Which accesses to memory are scheduling points, in programs built by raddle-cc: "
		"those to variables that threads share; of these only atomic ones and those that "
		"have raced, which is enough where races are looked for; none; or all (shared; "
		"with --fail-on race, races)",
		1},
	{"variables", OPTION_VARIABLES, "NAME[,NAME...]", 0,
		"Of those only accesses that may touch these variables, as `raddle cc "
		"--points-to PROGRAM` names them; * stands for anything",
		1},
	{"bounds", OPTION_BOUNDS, "c=N,v=N,t=N[,l=N]", 0,
		"One check of all schedules with at most c preemptions, at accesses to v "
		"variables, in orders of t threads (strategy bounded; l: of blocks allocated with "
		"one call stack only the first so many)",
		1},
	{"shard", OPTION_SHARD, "I/N", 0,
		"Make the I-th of N parts of the schedules, each for itself, on another machine or in "
		"another job; raddle merge puts their stores together",
		1},
	{"mpi", OPTION_MPI, NULL, 0,
		"One campaign on all ranks that mpirun has started: the first hands out schedules and "
		"keeps the store, the others make them (docs/scaling.md)",
		1},
	{"silence", OPTION_SILENCE, "TIME", 0,
		"With --mpi: a rank that is not heard of for so long loses its schedules to another (30s)",
		1},
	{"resume", OPTION_RESUME, NULL, 0,
		"Go on behind the schedules that the store says this campaign has made: same program, "
		"strategy, seed and settings",
		1},
	{.doc = "What the program may meet:", .group = 2},
	{"spurious-wakeups", OPTION_SPURIOUS, NULL, 0,
		"Let waits on condition variables end without a signal, as POSIX allows", 2},
	{"early-timeouts", OPTION_EARLY, NULL, 0,
		"Let timed waits time out at any moment, not only when nobody else can move", 2},
	{"forked-children", OPTION_FORKED_CHILDREN, NULL, 0,
		"Explore the threads of children that PROGRAM forks: runs begin at its first fork, and "
		"each child follows a schedule of its own. Randomised strategies do so without "
		"this option if children make threads in the first run",
		2},
	{"no-forked-children", OPTION_NO_FORKED_CHILDREN, NULL, 0,
		"Let threads of forked children run one after the other", 2},
	{"no-virtual-time", OPTION_NO_VIRTUAL_TIME, NULL, 0, "Use the real clocks and sleeps", 2},
	{"stdin", OPTION_STDIN, "FILE", 0, "Every run reads FILE as its standard input", 2},
	{"directory", OPTION_DIRECTORY, "DIR", 0, "Run the program in DIR", 2},
	{"follow-children", OPTION_FOLLOW, "PATTERN", OPTION_ARG_OPTIONAL,
		"PROGRAM is a test runner: run it once, natively, and explore each program that it "
		"starts and that makes threads (whose path or name matches PATTERN; not the system's)",
		2},
	{.doc = "What counts as a failure:", .group = 3},
	{"tolerate", OPTION_TOLERATE, "KIND[,KIND...]", 0,
		"Not these: exit, abort, crash, deadlock, ... as printed with a finding", 3},
	{"fail-on", OPTION_FAIL_ON, "race", 0,
		"Also this: two accesses to the same memory, one of them a write, that nothing "
		"orders (docs/races.md)",
		3},
	{"suppressions", OPTION_SUPPRESSIONS, "FILE", 0,
		"Races that are suppressed, in ThreadSanitizer's syntax: race:counter, "
		"race_top:log_*, ... (the file of suppressions= in TSAN_OPTIONS)",
		3},
	{"check", OPTION_CHECK, "CMD", 0,
		"Judge runs that end by themselves: CMD (by sh) reads what the run printed, with "
		"RADDLE_STATUS and RADDLE_OUTCOME set; its status 0 is good. Slow: every run is a "
		"fresh process",
		3},
	{"max-steps", OPTION_MAX_STEPS, "N", 0, "A run of more operations is a livelock (10000000)",
		3},
	{"hang-time", OPTION_HANG_TIME, "TIME", 0,
		"Processor time without an operation that is a hang; 0: never (10s)", 3},
	{.doc = "How runs are made:", .group = 4},
	{"restart", OPTION_RESTART, "HOW", 0,
		"rewind, fork_create, fork_main or exec (the fastest that works)", 4},
	{"executor", OPTION_EXECUTOR, "WHAT", 0, "fiber or kernel threads (fiber)", 4},
	{"no-dispatch", OPTION_NO_DISPATCH, NULL, 0, "Do not watch system calls", 4},
	{"layout", OPTION_LAYOUT, "varied|N", 0,
		"Where heap, mappings and stacks lie: another layout every few rounds, or layout N in "
		"all runs; 0 is the plain one (varied)",
		4},
	{"checkpoints", OPTION_CHECKPOINTS, "measured|always|never", 0,
		"When a strategy that goes through all schedules keeps the memory of a run, so that "
		"later runs go on from there: where that is measured to be faster (measured)",
		4},
	{"focus", OPTION_FOCUS, "measured|always|never", 0,
		"When a strategy that stops threads at few variables sees the accesses to these "
		"alone: where runs have so many others that it pays (measured)",
		4},
	{"checkpoint-memory", OPTION_CHECKPOINT_MEMORY, "MB", 0,
		"Memory for all of them; 0: there are none (256)", 4},
	{.doc = "What is said and kept:", .group = 5},
	{"output", OPTION_OUTPUT, "show|hide", 0, "What the runs print (hide)", 5},
	{"json", OPTION_JSON, NULL, 0, "Results as JSON on standard output", 5},
	{"quiet", 'q', NULL, 0, "Only findings", 5},
	{"no-minimise", OPTION_NO_MINIMISE, NULL, 0, "Keep the schedule as it was found", 5},
	{"store", OPTION_STORE, "DIR", 0, "Keep findings in DIR/.raddle (.)", 5},
	{"store-limit", OPTION_STORE_LIMIT, "MB", 0,
		"When the store has so much, keep further findings without their traces (no limit)",
		5},
	{0},
};
