#include "process/forked_jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/files/write_all.h"
#include "process/children.h"
#include "process/cores.h"

/* Interval of checks for an interruption. */
#define LOOK_EVERY_MS 100

enum forked_job_state { FORKED_JOB_WAITS, FORKED_JOB_RUNNING, FORKED_JOB_ANSWERED };

/* Head of an answer in the pipe. If the status is negative, the answer is the error text. */
struct forked_job_head {
	int32_t status;
};

struct job {
	enum forked_job_state state;
	pid_t pid;
	int pipe;
	struct strbuf answer; /* including the head */
};

struct forked_jobs_run {
	const struct jobs *jobs;
	struct job *list;
	uint32_t workers;
	uint32_t taken;		    /* the answers of all jobs below this number are taken */
	uint32_t running;	    /* number of running jobs */
	volatile int *interruption; /* shared with the jobs */
	bool needs_exclusive_job;
};

static void forked_jobs_ignore_signal(int number)
{
	(void)number; /* a handler instead of SIG_IGN, which the target would inherit */
}

static void forked_jobs_set_up_child(pid_t parent)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = forked_jobs_ignore_signal, .sa_flags = SA_RESTART};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* since Linux 2.2: cannot fail */
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	(void)sigemptyset(&action.sa_mask); /* cannot fail */
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		(void)sigaction(signals[i], &action, NULL); /* a valid signal: cannot fail */
	children_forget();
	children_init();
}

static _Noreturn void forked_jobs_do_job(
	const struct forked_jobs_run *run, uint32_t number, int pipe)
{
	const struct jobs *jobs = run->jobs;
	struct forked_job_head head;
	struct strbuf answer = STRBUF_EMPTY;
	struct error err = {0};

	head.status = jobs->work(jobs->context, number, run->interruption, &answer, &err);
	if (head.status < 0) {
		strbuf_clear(&answer);
		strbuf_adds(&answer, err.text);
	}
	children_kill_strays();
	if (!write_all(pipe, &head, sizeof head) || !write_all(pipe, answer.text, answer.length))
		_exit(EXIT_FAILURE);
	/* _exit: buffered output of the parent must not be written twice. */
	_exit(EXIT_SUCCESS);
}

static int forked_jobs_start(struct forked_jobs_run *run, uint32_t number, struct error *err)
{
	struct job *job = &run->list[number];
	const pid_t parent = getpid();
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) != 0)
		return error_set(err, ERROR_IO,
			"no pipe can be made (%s); is the limit of open files low?",
			strerror(errno));
	strbuf_clear(&job->answer);
	job->pid = fork();
	if (job->pid < 0) {
		(void)close(pipes[0]); /* unused */
		(void)close(pipes[1]);
		return error_set(err, ERROR_LIMIT,
			"no further process can be started (%s); try a smaller -j",
			strerror(errno));
	}
	if (job->pid == 0) {
		forked_jobs_set_up_child(parent);
		(void)close(pipes[0]); /* the parent's end */
		forked_jobs_do_job(run, number, pipes[1]);
	}
	(void)close(pipes[1]); /* the end of the job then closes the pipe */
	children_add(job->pid);
	job->pipe = pipes[0];
	job->state = FORKED_JOB_RUNNING;
	run->running++;
	return 0;
}

static void forked_jobs_end_job(struct forked_jobs_run *run, struct job *job)
{
	while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	children_remove(job->pid);
	(void)close(job->pipe); /* the pipe was only read */
	job->state = FORKED_JOB_ANSWERED;
	run->running--;
}

static void forked_jobs_kill_running(struct forked_jobs_run *run)
{
	for (uint32_t i = 0; i < run->jobs->count; i++) {
		struct job *job = &run->list[i];

		if (job->state != FORKED_JOB_RUNNING)
			continue;
		(void)kill(job->pid, SIGKILL); /* the job may have ended already */
		forked_jobs_end_job(run, job);
	}
	/* The targets of killed jobs have become children of this process. */
	children_kill_strays();
}

static int forked_jobs_send_some(struct forked_jobs_run *run, struct error *err)
{
	const struct jobs *jobs = run->jobs;
	int result = 0;

	/* Limits how far jobs run ahead, and so the memory of answers that wait for earlier
	 * ones. */
	for (uint32_t i = run->taken; i < jobs->count && i < run->taken + 4 * run->workers; i++) {
		if (run->running == run->workers || *run->interruption || run->needs_exclusive_job)
			break;
		if (run->list[i].state != FORKED_JOB_WAITS)
			continue;
		result = forked_jobs_start(run, i, err);
		if (result < 0)
			return result;
	}
	return 0;
}

static void forked_jobs_read_some(struct forked_jobs_run *run, struct job *job)
{
	char bytes[65536];
	const ssize_t size = read(job->pipe, bytes, sizeof bytes);

	if (size > 0)
		strbuf_add(&job->answer, bytes, (size_t)size);
	else if (size == 0 || errno != EINTR)
		forked_jobs_end_job(run, job);
}

static void forked_jobs_read_answers(struct forked_jobs_run *run)
{
	FREE_SCOPED struct pollfd *files = array_new(run->running + 1u, sizeof *files);
	FREE_SCOPED struct job **owners = array_new(run->running + 1u, sizeof *owners);
	uint32_t count = 0;

	for (uint32_t i = run->taken; i < run->jobs->count && count < run->running; i++)
		if (run->list[i].state == FORKED_JOB_RUNNING) {
			files[count] = (struct pollfd){.fd = run->list[i].pipe, .events = POLLIN};
			owners[count++] = &run->list[i];
		}
	if (poll(files, count, LOOK_EVERY_MS) > 0)
		for (uint32_t i = 0; i < count; i++)
			if (files[i].revents)
				forked_jobs_read_some(run, owners[i]);
}

static int forked_jobs_open_answer(const struct job *job, struct strbuf *answer, struct error *err)
{
	struct forked_job_head head;

	if (job->answer.length < sizeof head)
		return error_set(
			err, ERROR_LIMIT, "a process of raddle was killed; check the free memory");
	memcpy(&head, job->answer.text, sizeof head);
	*answer = (struct strbuf){
		.text = job->answer.text + sizeof head, .length = job->answer.length - sizeof head};
	return head.status < 0 ? error_set(err, head.status, "%s", answer->text) : 0;
}

/* Discards all answers that are not taken, and continues with one job at a time. */
static void forked_jobs_serialise(struct forked_jobs_run *run)
{
	forked_jobs_kill_running(run);
	run->workers = 1;
	for (uint32_t i = run->taken; i < run->jobs->count; i++) {
		strbuf_clear(&run->list[i].answer);
		run->list[i].state = FORKED_JOB_WAITS;
	}
}

static int forked_jobs_take_some(struct forked_jobs_run *run, struct error *err)
{
	const struct jobs *jobs = run->jobs;

	while (run->taken < jobs->count && run->list[run->taken].state == FORKED_JOB_ANSWERED) {
		struct job *job = &run->list[run->taken];
		struct strbuf answer;
		int result = forked_jobs_open_answer(job, &answer, err);

		/* The job was interrupted and has no answer. */
		if (result == ERROR_INTERRUPTED && *run->interruption)
			return FORKED_JOBS_ENOUGH;
		if (result < 0)
			return result;
		run->needs_exclusive_job =
			run->running && jobs->needs_exclusive_run &&
			jobs->needs_exclusive_run(jobs->context, run->taken, &answer);
		if (run->needs_exclusive_job)
			return 0;
		result = jobs->take(jobs->context, run->taken, &answer, err);
		if (result < 0 || result == FORKED_JOBS_ENOUGH)
			return result;
		strbuf_clear(&job->answer);
		if (result == FORKED_JOB_AGAIN_ALONE)
			forked_jobs_serialise(run);
		if (result != FORKED_JOB_TAKEN) {
			job->state = FORKED_JOB_WAITS;
			return 0;
		}
		strbuf_release(&job->answer);
		run->taken++;
	}
	return 0;
}

static int forked_jobs_resume(struct forked_jobs_run *run, struct error *err)
{
	const struct jobs *jobs = run->jobs;
	int result = 0;

	while (run->taken < jobs->count) {
		if (jobs->is_interrupted && *jobs->is_interrupted)
			*run->interruption = *jobs->is_interrupted;
		result = forked_jobs_send_some(run, err);
		if (result < 0 || !run->running) /* interrupted, and no job is running */
			break;
		forked_jobs_read_answers(run);
		result = forked_jobs_take_some(run, err);
		if (result != 0)
			break;
		if (jobs->waits && run->taken < jobs->count)
			jobs->waits(jobs->context, run->taken);
	}
	return result;
}

int forked_jobs_run(const struct jobs *jobs, struct error *err)
{
	struct forked_jobs_run run = {
		.jobs = jobs, .workers = jobs->workers ? jobs->workers : cores_available()};
	void *page = mmap(NULL, sizeof *run.interruption, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int result;

	BUG_ON(page == MAP_FAILED);
	/* workers opened while an answer is taken need slots as well */
	if (run.workers > CHILDREN_WORKERS_MAX / 2)
		run.workers = CHILDREN_WORKERS_MAX / 2;
	run.interruption = page;
	run.list = array_new(jobs->count + 1u, sizeof *run.list);
	for (uint32_t i = 0; i < jobs->count; i++)
		strbuf_init(&run.list[i].answer);
	children_init();
	result = forked_jobs_resume(&run, err);
	forked_jobs_kill_running(&run);
	for (uint32_t i = run.taken; i < jobs->count; i++)
		strbuf_release(&run.list[i].answer);
	free(run.list);
	(void)munmap(page, sizeof *run.interruption); /* a whole mapping: cannot fail */
	return result < 0 ? result : 0;
}

struct forked_job_reading forked_job_read(const struct strbuf *answer)
{
	return (struct forked_job_reading){answer->text, answer->text + answer->length};
}

bool forked_job_take_bytes(struct forked_job_reading *reading, void *bytes, size_t size)
{
	if ((size_t)(reading->end - reading->at) < size)
		return false;
	memcpy(bytes, reading->at, size);
	reading->at += size;
	return true;
}

void forked_job_add_text(struct strbuf *answer, const char *bytes, size_t size)
{
	const uint64_t length = bytes ? size : UINT64_MAX;

	strbuf_add(answer, (const char *)&length, sizeof length);
	if (bytes)
		strbuf_add(answer, bytes, size);
}

bool forked_job_take_text(struct forked_job_reading *reading, char **text, size_t *size)
{
	uint64_t length;

	*text = NULL;
	if (!forked_job_take_bytes(reading, &length, sizeof length))
		return false;
	if (size)
		*size = length == UINT64_MAX ? 0 : (size_t)length;
	if (length == UINT64_MAX)
		return true;
	if ((uint64_t)(reading->end - reading->at) < length)
		return false;
	*text = array_new(1, (size_t)length + 1);
	return forked_job_take_bytes(reading, *text, (size_t)length);
}
