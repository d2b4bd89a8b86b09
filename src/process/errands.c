#include "process/errands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "process/children.h"
#include "process/cores.h"

/* Signals may come at any moment: what they change is looked at so often. */
#define LOOK_EVERY_MS 100

enum errand_state { ERRAND_WAITS, ERRAND_UNDER_WAY, ERRAND_ANSWERED };

/* In front of an answer in the pipe; else there is the text of the error. */
struct errand_head {
	int32_t status;
};

struct errand {
	enum errand_state state;
	pid_t pid;
	int pipe;
	struct strbuf answer; /* with its head */
};

struct errands_run {
	const struct errands *errands;
	struct errand *list;
	uint32_t workers;
	uint32_t taken;		    /* answers below this are */
	uint32_t under_way;	    /* so many are */
	volatile int *interruption; /* shared with them */
	bool is_quiet_wanted;
};

/* ---- there ---- */

static void ignore(int number)
{
	(void)number; /* not SIG_IGN: that the target would inherit */
}

/* What belongs to this process only. */
static void settle_in(pid_t parent)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* since Linux 2.2: cannot fail */
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	(void)sigemptyset(&action.sa_mask); /* cannot fail */
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		(void)sigaction(signals[i], &action, NULL); /* a valid signal: cannot fail */
	children_forget();
	children_init();
}

static bool write_all(int file, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		const ssize_t written = write(file, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		at += written;
		size -= (size_t)written;
	}
	return true;
}

static _Noreturn void do_errand(const struct errands_run *run, uint32_t number, int pipe)
{
	const struct errands *errands = run->errands;
	struct errand_head head;
	struct strbuf answer;
	struct error err = {0};

	strbuf_init(&answer);
	head.status = errands->work(errands->context, number, run->interruption, &answer, &err);
	if (head.status < 0) {
		strbuf_clear(&answer);
		strbuf_adds(&answer, err.text);
	}
	children_kill_strays();
	if (!write_all(pipe, &head, sizeof head) || !write_all(pipe, answer.text, answer.length))
		_exit(EXIT_FAILURE);
	/* Streams are the other process's: nothing of them may be written twice. */
	_exit(EXIT_SUCCESS);
}

/* ---- here ---- */

static int send_out(struct errands_run *run, uint32_t number, struct error *err)
{
	struct errand *errand = &run->list[number];
	const pid_t parent = getpid();
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC) != 0)
		return error_set(err, ERROR_IO,
			"no pipe can be made (%s); is the limit of open files low?",
			strerror(errno));
	strbuf_clear(&errand->answer);
	errand->pid = fork();
	if (errand->pid < 0) {
		(void)close(pipes[0]); /* never used */
		(void)close(pipes[1]);
		return error_set(err, ERROR_LIMIT,
			"no further process can be started (%s); try a smaller -j",
			strerror(errno));
	}
	if (errand->pid == 0) {
		settle_in(parent);
		(void)close(pipes[0]); /* the other end is ours */
		do_errand(run, number, pipes[1]);
	}
	(void)close(pipes[1]); /* so that its end is seen */
	children_add(errand->pid);
	errand->pipe = pipes[0];
	errand->state = ERRAND_UNDER_WAY;
	run->under_way++;
	return 0;
}

static void end_errand(struct errands_run *run, struct errand *errand)
{
	while (waitpid(errand->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	children_remove(errand->pid);
	(void)close(errand->pipe); /* only read from */
	errand->state = ERRAND_ANSWERED;
	run->under_way--;
}

/* Those that nobody waits for any more. */
static void call_off(struct errands_run *run)
{
	for (uint32_t i = 0; i < run->errands->count; i++) {
		struct errand *errand = &run->list[i];

		if (errand->state != ERRAND_UNDER_WAY)
			continue;
		(void)kill(errand->pid, SIGKILL); /* it may just have ended */
		end_errand(run, errand);
	}
	/* What they ran is ours now. */
	children_kill_strays();
}

/* Sends out as many as may be under way. */
static int send_some(struct errands_run *run, struct error *err)
{
	const struct errands *errands = run->errands;
	int result = 0;

	/* Answers that wait for their turn take memory: no more of them than a few for each worker. */
	for (uint32_t i = run->taken; i < errands->count && i < run->taken + 4 * run->workers;
		i++) {
		if (run->under_way == run->workers || *run->interruption || run->is_quiet_wanted)
			break;
		if (run->list[i].state != ERRAND_WAITS)
			continue;
		result = send_out(run, i, err);
		if (result < 0)
			return result;
	}
	return 0;
}

static void read_some(struct errands_run *run, struct errand *errand)
{
	char bytes[65536];
	const ssize_t size = read(errand->pipe, bytes, sizeof bytes);

	if (size > 0)
		strbuf_add(&errand->answer, bytes, (size_t)size);
	else if (size == 0 || errno != EINTR)
		end_errand(run, errand);
}

/* Until something has come, or some time has gone by. */
static void listen_to(struct errands_run *run)
{
	struct pollfd *files = calloc(run->under_way + 1u, sizeof *files);
	struct errand **owners = calloc(run->under_way + 1u, sizeof *owners);
	uint32_t count = 0;

	BUG_ON(!files || !owners);
	for (uint32_t i = run->taken; i < run->errands->count && count < run->under_way; i++)
		if (run->list[i].state == ERRAND_UNDER_WAY) {
			files[count] = (struct pollfd){.fd = run->list[i].pipe, .events = POLLIN};
			owners[count++] = &run->list[i];
		}
	if (poll(files, count, LOOK_EVERY_MS) > 0)
		for (uint32_t i = 0; i < count; i++)
			if (files[i].revents)
				read_some(run, owners[i]);
	free(files);
	free(owners);
}

/* Takes the answer without its head apart. */
static int open_answer(const struct errand *errand, struct strbuf *answer, struct error *err)
{
	struct errand_head head;

	if (errand->answer.length < sizeof head)
		return error_set(err, ERROR_LIMIT,
			"a process of raddle's own was ended from outside; is there enough memory?");
	memcpy(&head, errand->answer.text, sizeof head);
	*answer = (struct strbuf){.text = errand->answer.text + sizeof head,
		.length = errand->answer.length - sizeof head};
	return head.status < 0 ? error_set(err, head.status, "%s", answer->text) : 0;
}

/* Nothing counts that was done side by side and has not been taken. */
static void go_on_alone(struct errands_run *run)
{
	call_off(run);
	run->workers = 1;
	for (uint32_t i = run->taken; i < run->errands->count; i++) {
		strbuf_clear(&run->list[i].answer);
		run->list[i].state = ERRAND_WAITS;
	}
}

/* Takes what is there, in order. */
static int take_some(struct errands_run *run, struct error *err)
{
	const struct errands *errands = run->errands;

	while (run->taken < errands->count && run->list[run->taken].state == ERRAND_ANSWERED) {
		struct errand *errand = &run->list[run->taken];
		struct strbuf answer;
		int result = open_answer(errand, &answer, err);

		/* It was told to, and has nothing to say. */
		if (result == ERROR_INTERRUPTED && *run->interruption)
			return ERRANDS_ENOUGH;
		if (result < 0)
			return result;
		run->is_quiet_wanted = run->under_way && errands->needs_quiet &&
				       errands->needs_quiet(errands->context, run->taken, &answer);
		if (run->is_quiet_wanted)
			return 0;
		result = errands->take(errands->context, run->taken, &answer, err);
		if (result < 0 || result == ERRANDS_ENOUGH)
			return result;
		strbuf_clear(&errand->answer);
		if (result == ERRAND_AGAIN_ALONE)
			go_on_alone(run);
		if (result != ERRAND_TAKEN) {
			errand->state = ERRAND_WAITS;
			return 0;
		}
		strbuf_release(&errand->answer);
		run->taken++;
	}
	return 0;
}

static int go_on(struct errands_run *run, struct error *err)
{
	const struct errands *errands = run->errands;
	int result = 0;

	while (run->taken < errands->count) {
		if (errands->is_interrupted && *errands->is_interrupted)
			*run->interruption = *errands->is_interrupted;
		result = send_some(run, err);
		if (result < 0 || !run->under_way) /* interrupted, and nobody left */
			break;
		listen_to(run);
		result = take_some(run, err);
		if (result != 0)
			break;
		if (errands->waits && run->taken < errands->count)
			errands->waits(errands->context, run->taken);
	}
	return result;
}

int errands_run(const struct errands *errands, struct error *err)
{
	struct errands_run run = {.errands = errands,
		.workers = errands->workers ? errands->workers : cores_available()};
	void *page = mmap(NULL, sizeof *run.interruption, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int result;

	BUG_ON(page == MAP_FAILED);
	if (run.workers >
		CHILDREN_WORKERS_MAX / 2) /* what is done in between has workers as well */
		run.workers = CHILDREN_WORKERS_MAX / 2;
	run.interruption = page;
	run.list = calloc(errands->count + 1u, sizeof *run.list);
	BUG_ON(!run.list);
	for (uint32_t i = 0; i < errands->count; i++)
		strbuf_init(&run.list[i].answer);
	children_init();
	result = go_on(&run, err);
	call_off(&run);
	for (uint32_t i = run.taken; i < errands->count; i++)
		strbuf_release(&run.list[i].answer);
	free(run.list);
	(void)munmap(page, sizeof *run.interruption); /* a whole mapping: cannot fail */
	return result < 0 ? result : 0;
}

/* ---- answers ---- */

struct errand_reading errand_read(const struct strbuf *answer)
{
	return (struct errand_reading){answer->text, answer->text + answer->length};
}

bool errand_take_bytes(struct errand_reading *reading, void *bytes, size_t size)
{
	if ((size_t)(reading->end - reading->at) < size)
		return false;
	memcpy(bytes, reading->at, size);
	reading->at += size;
	return true;
}

void errand_add_text(struct strbuf *answer, const char *bytes, size_t size)
{
	const uint64_t length = bytes ? size : UINT64_MAX;

	strbuf_add(answer, (const char *)&length, sizeof length);
	if (bytes)
		strbuf_add(answer, bytes, size);
}

bool errand_take_text(struct errand_reading *reading, char **text, size_t *size)
{
	uint64_t length;

	*text = NULL;
	if (!errand_take_bytes(reading, &length, sizeof length))
		return false;
	if (size)
		*size = length == UINT64_MAX ? 0 : (size_t)length;
	if (length == UINT64_MAX)
		return true;
	if ((uint64_t)(reading->end - reading->at) < length)
		return false;
	*text = calloc(1, (size_t)length + 1);
	BUG_ON(!*text);
	return errand_take_bytes(reading, *text, (size_t)length);
}
