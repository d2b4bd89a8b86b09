/*
 * Forked jobs: independent pieces of work, each in a fork of this process, several at a time. The
 * parent uses their answers in the order of their numbers: the result does not depend on the number
 * of processes.
 *
 * A job sees its parent's state at the fork. If later answers matter to a job, `take` returns
 * FORKED_JOB_AGAIN, and the job is made again with the current state, as in sequential execution.
 * All results belong into the answer, as the process's memory is lost.
 *
 * Thread context: the command's only thread, in each of the processes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/* Result of taking an answer; negative: an error code. */
enum forked_job_taken {
	FORKED_JOB_TAKEN,
	FORKED_JOB_AGAIN,	/* the job is made again, with the current state */
	FORKED_JOB_AGAIN_ALONE, /* the job is made again, and all later jobs run one at a time */
	FORKED_JOBS_ENOUGH	/* the remaining jobs are not needed */
};

struct jobs {
	uint32_t count;
	uint32_t workers; /* processes at a time; 0: one per available core */
	void *context;
	const volatile int *is_interrupted;
	/*
	 * Runs in the job's process. *is_interrupted is set when the job must end; signals do not
	 * reach the job.
	 */
	int (*work)(void *context, uint32_t number, const volatile int *is_interrupted,
		struct strbuf *answer, struct error *err);
	/* Runs in the parent. `answer` is what `work` has written. */
	int (*take)(void *context, uint32_t number, const struct strbuf *answer, struct error *err);
	/* Optional. Returns true if the answer is used while no other job runs. */
	bool (*needs_exclusive_run)(void *context, uint32_t number, const struct strbuf *answer);
	/* Optional; called about ten times a second. `number`: the first job whose answer is
	 * missing. */
	void (*waits)(void *context, uint32_t number);
};

/* Runs all jobs. Returns the first error by job number. An interruption ends running jobs, without
 * an error. */
int forked_jobs_run(const struct jobs *jobs, struct error *err);

/* Reads raw bytes of an answer. The functions return false if fewer bytes remain. */
struct forked_job_reading {
	const char *at, *end;
};
struct forked_job_reading forked_job_read(const struct strbuf *answer);
bool forked_job_take_bytes(struct forked_job_reading *reading, void *bytes, size_t size);
/* Add and read a text, which is preceded by its size. The copy is NUL-terminated and freed by the
 * caller; NULL stays NULL. */
void forked_job_add_text(struct strbuf *answer, const char *bytes, size_t size);
bool forked_job_take_text(struct forked_job_reading *reading, char **text, size_t *size);
