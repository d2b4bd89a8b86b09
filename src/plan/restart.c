#include "plan/restart.h"

#include <string.h>

#include "base/strbuf.h"

/* Costs measured with a program of 3 threads and 124 scheduling points. */
const struct restart_description restart_descriptions[RESTART_COUNT] = {
	[RESTART_REWIND] = {"rewind", "memory is put back inside the process", 9000},
	[RESTART_FORK_CREATE] = {"fork_create", "a fork where the first thread is created", 123000},
	[RESTART_FORK_MAIN] = {"fork_main", "a fork before main", 126000},
	[RESTART_EXEC] = {"exec", "a fresh process for every run", 820000},
};

const char *const executor_words[EXECUTOR_COUNT] = {
	[EXECUTOR_FIBER] = "fiber",
	[EXECUTOR_KERNEL] = "kernel",
};

bool restart_parse(const char *word, enum contract_restart *out)
{
	for (int i = 0; i < RESTART_COUNT; i++) {
		if (strcmp(word, restart_descriptions[i].word) == 0) {
			*out = (enum contract_restart)i;
			return true;
		}
	}
	return false;
}

bool executor_parse(const char *word, enum contract_executor *out)
{
	const unsigned found = strings_find(executor_words, EXECUTOR_COUNT, word);

	if (found < EXECUTOR_COUNT)
		*out = (enum contract_executor)found;
	return found < EXECUTOR_COUNT;
}

enum contract_restart restart_next(enum contract_restart restart, enum contract_executor executor)
{
	if (restart == RESTART_EXEC)
		return RESTART_COUNT;
	if (executor == EXECUTOR_KERNEL && restart < RESTART_FORK_MAIN)
		return RESTART_FORK_MAIN;
	return restart + 1;
}

enum contract_restart restart_fastest(enum contract_executor executor)
{
	return executor == EXECUTOR_KERNEL ? RESTART_FORK_MAIN : RESTART_REWIND;
}
