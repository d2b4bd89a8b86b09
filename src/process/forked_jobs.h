/*
 * Forked jobs: pieces of work that know nothing of each other. Each is done in a process of its own, a copy of this one,
 * several side by side, and their answers are taken here, in the order of their numbers. So what is made of the
 * answers does not depend on how many forked jobs are done at a time.
 *
 * A forked job knows what was known when it set out. Where that is less than what the answers before its own have
 * taught, and makes a difference, its taker has it done again: the result is as if one had been done after the other.
 * What a forked job changes is gone with its process, so whatever is to be kept goes into the answer.
 * Thread context: the command's only thread, in each of the processes.
 */
#ifndef RADDLE_PROCESS_FORKED_JOBS_H
#define RADDLE_PROCESS_FORKED_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/* What becomes of an answer, or a negative error code. */
enum forked_job_taken {
	FORKED_JOB_TAKEN,
	FORKED_JOB_AGAIN,	/* to be done again, knowing what is known now */
	FORKED_JOB_AGAIN_ALONE, /* likewise, and so are all behind it: from now on one at a time */
	FORKED_JOBS_ENOUGH	/* nobody needs the others */
};

struct jobs {
	uint32_t count;
	uint32_t workers; /* processes at a time; 0: as many as there are cores */
	void *context;
	const volatile int *is_interrupted;
	/* In the other process. `is_interrupted` is what it is to look at there; signals do not reach it. */
	int (*work)(void *context, uint32_t number, const volatile int *is_interrupted,
		struct strbuf *answer, struct error *err);
	/* Here. The answer is as `work` has left it. */
	int (*take)(void *context, uint32_t number, const struct strbuf *answer, struct error *err);
	/*
	 * NULL: never. Before an answer is taken: is nobody else to be at work while it is? Those who are come to
	 * their ends first.
	 */
	bool (*needs_quiet)(void *context, uint32_t number, const struct strbuf *answer);
	/* NULL or: `number` is the first whose answer is not there yet. About ten times a second. */
	void (*waits)(void *context, uint32_t number);
};

/*
 * Fails with the first error by number, whatever was made behind it. Where it is interrupted forked jobs that are under way
 * end early and are taken as far as there are answers; that is no error.
 */
int forked_jobs_run(const struct jobs *jobs, struct error *err);

/* For answers: bytes as they are, and how they are read. False: there are not so many any more. */
struct forked_job_reading {
	const char *at, *end;
};
struct forked_job_reading forked_job_read(const struct strbuf *answer);
bool forked_job_take_bytes(struct forked_job_reading *reading, void *bytes, size_t size);
/* Text or bytes with their size in front of them. The copy is NUL-terminated and to be freed; NULL was NULL. */
void forked_job_add_text(struct strbuf *answer, const char *bytes, size_t size);
bool forked_job_take_text(struct forked_job_reading *reading, char **text, size_t *size);

#endif
