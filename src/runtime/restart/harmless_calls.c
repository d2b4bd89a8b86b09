#include "runtime/restart/harmless_calls.h"

#include <sys/syscall.h>

bool call_is_harmless(long number, const long arguments[6])
{
	switch (number) {
	case SYS_futex:
	case SYS_getpid:
	case SYS_gettid:
	case SYS_getppid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
	case SYS_clock_gettime:
	case SYS_clock_getres:
	case SYS_gettimeofday:
	case SYS_time:
	case SYS_times:
	case SYS_getrusage:
	case SYS_sched_yield:
	case SYS_sched_getaffinity:
	case SYS_sched_getparam:
	case SYS_sched_getscheduler:
	case SYS_sched_get_priority_max:
	case SYS_sched_get_priority_min:
	case SYS_sched_rr_get_interval:
	case SYS_getcpu:
	case SYS_newfstatat:
	case SYS_fstat:
	case SYS_stat:
	case SYS_lstat:
	case SYS_statx:
	case SYS_statfs:
	case SYS_fstatfs:
	case SYS_getrandom:
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_rt_sigprocmask:
	case SYS_rt_sigpending:
	case SYS_readlink:
	case SYS_readlinkat:
	case SYS_uname:
	case SYS_access:
	case SYS_faccessat:
	case SYS_faccessat2:
	case SYS_getcwd:
	case SYS_getdents64:
	case SYS_pread64:
	case SYS_sysinfo:
	case SYS_getsockname:
	case SYS_getpeername:
	case SYS_getsockopt:
	case SYS_mincore:
	case SYS_tgkill:
	case SYS_rseq:
	case SYS_membarrier:
	case SYS_chmod:
	case SYS_fchmodat:
	case SYS_utimensat:
		return true;
	case SYS_prlimit64:
		return !arguments[2];
	case SYS_rt_sigaction:
		return !arguments[1];
	default:
		return false;
	}
}
