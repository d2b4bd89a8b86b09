/* EXPECT: passed runs=5 */
/*
 * Each error return of each interposed function, twice, in a thread: what is printed must be the same natively and
 * under raddle. The rows are in error_rows.def.
 */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <malloc.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define NO_ID 4194303 /* above the ids that the kernel assigns by default */

/* Names that headers do not declare. */
ssize_t __read(int fd, void *to, size_t size);
ssize_t __write(int fd, const void *from, size_t size);
ssize_t __read_chk(int fd, void *to, size_t size, size_t capacity);
ssize_t __recv_chk(int fd, void *to, size_t size, size_t capacity, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t size, size_t capacity, int flags,
	struct sockaddr *from, socklen_t *length);
int __close(int fd);
int __poll(struct pollfd *polls, nfds_t count, int timeout);
int __poll_chk(struct pollfd *polls, nfds_t count, int timeout, size_t capacity);
int __ppoll_chk(struct pollfd *polls, nfds_t count, const struct timespec *timeout,
	const sigset_t *mask, size_t capacity);
int __sigaction(int signal, const struct sigaction *wanted, struct sigaction *old);
sighandler_t bsd_signal(int signal, sighandler_t handler);
sighandler_t __sysv_signal(int signal, sighandler_t handler);
int __sigpause(int signal_or_mask, int is_signal);
int xpg_sigpause(int signal) __asm__("__xpg_sigpause");

/* Objects that the rows name. Wrong pointers and sizes are volatile, because compilers warn about constants. */
static void *volatile none;
static volatile size_t too_much = PTRDIFF_MAX;
static volatile int minus_one = -1, too_many = 100000;
static int ends[2], pair[2], numbers[2];
static char buffer[512] __attribute__((aligned(16)));
static struct iovec vector[1] = {{buffer, 1}};
static eventfd_t event_value;
static struct epoll_event epoll_event_;
static struct timespec zero_time, some_time, bad_time = {.tv_nsec = 2000000000};
static struct timeval zero_timeval, bad_timeval = {.tv_sec = -1};
static struct itimerspec timer_value;
static struct itimerval interval;
static char *arguments[] = {(char *)"program", NULL, NULL};
static timer_t timer;
static struct sigevent bad_event = {.sigev_notify = 99};
static sigset_t empty_set;
static struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/does/not/exist"};
static struct msghdr header = {.msg_iov = vector, .msg_iovlen = 1};
static struct mmsghdr headers;
static struct {
	long type;
	char text[8];
} message = {.type = 1};
static struct sembuf operation = {.sem_op = -1};
static struct aiocb request;
static struct rlimit limit;
static struct rlimit64 limit64;
static cpu_set_t cpus;
static struct sched_param scheduling, odd_scheduling = {.sched_priority = 5};
static struct sigaction action = {.sa_handler = SIG_IGN};
static union sigval no_value;
static stack_t bad_stack = {.ss_flags = 77, .ss_size = 100000};
static pthread_mutex_t checked, checked_of_other, of_other = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t own_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t rwlock_of_other = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin_of_other;
static pthread_barrier_t barrier;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore, full_semaphore;
static FILE *stream_of_other;
static pthread_t other;

#define JOIN(first, second) first##second
#define NAME(line) JOIN(row_, line)

#define ERROR(function, call)                                                                      \
	static long NAME(__LINE__)(void)                                                           \
	{                                                                                          \
		return (long)(call);                                                               \
	}
#include "error_rows.def"
#undef ERROR

static const struct row {
	const char *name;
	long (*call)(void);
	int line;
} rows[] = {
#define ERROR(function, call) {#function, NAME(__LINE__), __LINE__},
#include "error_rows.def"
#undef ERROR
};

static void *call_all(void *unused)
{
	(void)unused;
	MUST(pthread_mutex_lock(&checked) == 0 && pthread_mutex_lock(&own) == 0);
	MUST(pthread_rwlock_wrlock(&own_rwlock) == 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int time = 0; time < 2; time++) {
			long result;

			errno = 0;
			result = rows[i].call();
			printf("%s (row %d): %ld", rows[i].name, rows[i].line, result);
			if (result == -1)
				printf(" %s", strerrorname_np(errno));
			printf("\n");
		}
	MUST(pthread_rwlock_unlock(&own_rwlock) == 0);
	MUST(pthread_mutex_unlock(&own) == 0 && pthread_mutex_unlock(&checked) == 0);
	return NULL;
}

static void *wait_for_end(void *end)
{
	MUST(sem_wait(end) == 0);
	return NULL;
}

int main(void)
{
	pthread_mutexattr_t kind;
	pthread_t caller;
	sem_t end;

	MUST(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	MUST(pthread_mutexattr_init(&kind) == 0);
	MUST(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK) == 0);
	MUST(pthread_mutex_init(&checked, &kind) == 0);
	MUST(pthread_mutex_init(&checked_of_other, &kind) == 0);
	MUST(pthread_mutex_lock(&checked_of_other) == 0 && pthread_mutex_lock(&of_other) == 0);
	MUST(pthread_rwlock_wrlock(&rwlock_of_other) == 0);
	MUST(pthread_spin_init(&spin_of_other, 0) == 0 && pthread_spin_lock(&spin_of_other) == 0);
	MUST(sem_init(&semaphore, 0, 0) == 0 && sem_init(&end, 0, 0) == 0);
	MUST(sem_init(&full_semaphore, 0, INT_MAX) == 0);
	stream_of_other = fopen("/dev/null", "w");
	MUST(stream_of_other != NULL);
	flockfile(stream_of_other);
	MUST(pthread_create(&other, NULL, wait_for_end, &end) == 0);
	MUST(pthread_create(&caller, NULL, call_all, NULL) == 0);
	MUST(pthread_join(caller, NULL) == 0);
	MUST(sem_post(&end) == 0 && pthread_join(other, NULL) == 0);
	funlockfile(stream_of_other);
	return check_status();
}
