/* EXPECT: passed runs=20 */
/* gettid() of a thread in every call that takes such an id: by libc's function, by syscall(), in paths below /proc. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#define IO_BEST_EFFORT (2 << 13)
#define CALL_PIDFD_OPEN 434
#define NO_ID 4194303 /* above the ids that the kernel assigns by default */

/* struct sched_attr */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static int ends[2], reported[2];
static pid_t worker_id;
static volatile int handled, handled_value;

static void *wait_for_end(void *unused)
{
	pid_t own = gettid();
	char byte;

	(void)unused;
	MUST(write(reported[1], &own, sizeof own) == sizeof own);
	while (read(ends[0], &byte, 1) != 1 || byte != 'x')
		;
	return NULL;
}

/* ---- priorities ---- */

static void check_nice(pid_t id, int wanted)
{
	CHECK(setpriority(PRIO_PROCESS, (id_t)id, wanted) == 0);
	CHECK(getpriority(PRIO_PROCESS, (id_t)id) == wanted);
	CHECK(syscall(SYS_getpriority, PRIO_PROCESS, id) == 20 - wanted);
	CHECK(syscall(SYS_setpriority, PRIO_PROCESS, id, wanted + 1) == 0);
	CHECK(getpriority(PRIO_PROCESS, (id_t)id) == wanted + 1);
	errno = 0;
	CHECK(setpriority(PRIO_PROCESS, NO_ID, 1) == -1 && errno == ESRCH);
	errno = 0;
	CHECK(setpriority(77, 0, 1) == -1 && errno == EINVAL);
}

static void check_attributes(pid_t id)
{
	struct attributes attributes = {.size = sizeof attributes};
	struct attributes odd = {.size = 7};

	CHECK(syscall(SYS_sched_getattr, id, &attributes, sizeof attributes, 0) == 0);
	CHECK(attributes.policy == SCHED_OTHER);
	CHECK(syscall(SYS_sched_setattr, id, &attributes, 0) == 0);
	attributes.policy = SCHED_BATCH;
	CHECK(syscall(SYS_sched_setattr, id, &attributes, 0) == 0);
	CHECK(sched_getscheduler(id) == SCHED_BATCH);
	attributes.policy = 99;
	errno = 0;
	CHECK(syscall(SYS_sched_setattr, id, &attributes, 0) == -1 && errno == EINVAL);
	errno = 0;
	CHECK(syscall(SYS_sched_setattr, id, &odd, 0) == -1 && errno == E2BIG && odd.size > 7);
	errno = 0;
	CHECK(syscall(SYS_sched_getattr, NO_ID, &attributes, sizeof attributes, 0) == -1 &&
		errno == ESRCH);
}

static void check_scheduler(pid_t id)
{
	struct sched_param parameters = {.sched_priority = 0};
	struct timespec interval;

	CHECK(sched_setscheduler(id, SCHED_OTHER, &parameters) == 0);
	CHECK(sched_getscheduler(id) == SCHED_OTHER);
	CHECK(syscall(SYS_sched_getscheduler, id) == SCHED_OTHER);
	CHECK(sched_setparam(id, &parameters) == 0 && sched_getparam(id, &parameters) == 0);
	CHECK(syscall(SYS_sched_getparam, id, &parameters) == 0);
	CHECK(sched_rr_get_interval(id, &interval) == 0);
	errno = 0;
	CHECK(sched_getscheduler(NO_ID) == -1 && errno == ESRCH);
	errno = 0;
	CHECK(sched_getscheduler(-1) == -1 && errno == EINVAL);
	errno = 0;
	CHECK(sched_setparam(id, NULL) == -1 && errno == EINVAL);
}

static void check_affinity(pid_t id)
{
	cpu_set_t set, again;
	long bytes;

	CHECK(sched_getaffinity(id, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
	CHECK(sched_setaffinity(id, sizeof set, &set) == 0);
	CPU_ZERO(&again);
	bytes = syscall(SYS_sched_getaffinity, id, sizeof again, &again);
	CHECK(bytes >= (long)sizeof(long) && CPU_EQUAL(&set, &again));
	CHECK(syscall(SYS_sched_setaffinity, id, sizeof set, &set) == 0);
	CPU_ZERO(&set);
	errno = 0;
	CHECK(sched_setaffinity(id, sizeof set, &set) == -1 && errno == EINVAL);
}

static void check_io(pid_t id)
{
	CHECK(syscall(SYS_ioprio_set, 1, id, IO_BEST_EFFORT | 6) == 0);
	CHECK(syscall(SYS_ioprio_get, 1, id) == (IO_BEST_EFFORT | 6));
	errno = 0;
	CHECK(syscall(SYS_ioprio_set, 1, id, 7 << 13) == -1 && errno == EINVAL);
	errno = 0;
	CHECK(syscall(SYS_ioprio_get, 1, NO_ID) == -1 && errno == ESRCH);
}

/* ---- others ---- */

static void check_process(pid_t id)
{
	struct rlimit limit;
	long descriptor;

	CHECK(prlimit(id, RLIMIT_NOFILE, NULL, &limit) == 0);
	CHECK(getpgid(id) == getpgid(0) && getsid(id) == getsid(0));
	descriptor = syscall(CALL_PIDFD_OPEN, getpid(), 0);
	CHECK(descriptor >= 0 && close((int)descriptor) == 0);
	CHECK(syscall(CALL_PIDFD_OPEN, id, 0) == -1);
}

static void note(int signal, siginfo_t *information, void *context)
{
	(void)signal;
	(void)context;
	handled_value = information->si_value.sival_int;
	handled++;
}

static void check_signals(pid_t id)
{
	struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
	siginfo_t information = {.si_code = SI_QUEUE, .si_pid = getpid()};

	information.si_value.sival_int = 42;
	MUST(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(syscall(SYS_rt_tgsigqueueinfo, getpid(), id, SIGUSR1, &information) == 0);
	while (handled < 1)
		usleep(100);
	CHECK(handled_value == 42);
	CHECK(tgkill(getpid(), id, SIGUSR1) == 0);
	while (handled < 2)
		usleep(100);
	CHECK(syscall(SYS_tkill, id, SIGUSR1) == 0);
	while (handled < 3)
		usleep(100);
	CHECK(tgkill(getpid(), id, 0) == 0);
	errno = 0;
	CHECK(tgkill(getpid(), NO_ID, 0) == -1 && errno == ESRCH);
	errno = 0;
	CHECK(tgkill(getpid(), 0, 0) == -1 && errno == EINVAL);
}

static void check_paths(pid_t id)
{
	char path[64];
	struct stat status;
	int descriptor, found = 0, count = 0;
	DIR *list;

	(void)snprintf(path, sizeof path, "/proc/self/task/%d", (int)id);
	CHECK(stat(path, &status) == 0 && S_ISDIR(status.st_mode));
	(void)snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)getpid(), (int)id);
	descriptor = open(path, O_RDONLY);
	CHECK(descriptor >= 0 && close(descriptor) == 0);
	CHECK(access(path, R_OK) == 0);
	list = opendir("/proc/self/task");
	MUST(list != NULL);
	for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
		count += entry->d_name[0] != '.';
		found += atoi(entry->d_name) == id;
	}
	CHECK(count == 2 && found == 1);
	MUST(closedir(list) == 0);
}

static void check_all(pid_t id)
{
	check_nice(id, 5);
	check_attributes(id);
	check_scheduler(id);
	check_affinity(id);
	check_io(id);
	check_process(id);
	check_signals(id);
	check_paths(id);
}

static void *call_with_own_id(void *unused)
{
	(void)unused;
	check_nice(gettid(), 7);
	check_nice(0, 9);
	check_attributes(gettid());
	check_scheduler(gettid());
	check_affinity(gettid());
	check_io(gettid());
	return NULL;
}

int main(void)
{
	const int own = getpriority(PRIO_PROCESS, 0); /* nonzero if the tests run under nice */
	pthread_t worker;

	MUST(pipe(ends) == 0 && pipe(reported) == 0);
	MUST(pthread_create(&worker, NULL, wait_for_end, NULL) == 0);
	MUST(read(reported[0], &worker_id, sizeof worker_id) == sizeof worker_id);
	check_all(worker_id);
	MUST(write(ends[1], "x", 1) == 1);
	MUST(pthread_join(worker, NULL) == 0);
	MUST(pthread_create(&worker, NULL, call_with_own_id, NULL) == 0);
	MUST(pthread_join(worker, NULL) == 0);
	CHECK(getpriority(PRIO_PROCESS, 0) == own);
	return check_status();
}
