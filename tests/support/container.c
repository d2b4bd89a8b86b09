/*
 * container [--without-dispatch | --without-relocation | --with-tracing] PROGRAM [ARGUMENT...]: runs the program as container engines do by
 * default, under a filter that refuses with EPERM: personality() but for the usual ones, userfaultfd, perf_event_open,
 * ptrace, process_vm_*, the kernel's keys, mounts, new namespaces, io_uring, and setting clocks.
 *   --without-dispatch: as on a kernel without Syscall User Dispatch
 *   --without-relocation: as on a kernel without PR_SET_MM_MAP
 *   --with-tracing: as with the option --cap-add=SYS_PTRACE of container engines, which allows ptrace
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

#define NUMBER offsetof(struct seccomp_data, nr)
#define FIRST_ARGUMENT offsetof(struct seccomp_data, args[0])
#define LOAD(location) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, location)
/* Skips this many instructions if the value is another one. */
#define UNLESS(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped)
#define IF(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, skipped, 0)
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE_CALL(number) UNLESS(number, 1), REFUSE

static int filter_install(int refused_option, bool has_tracing)
{
	struct sock_filter code[] = {
		LOAD(NUMBER),
		REFUSE_CALL(SYS_userfaultfd),
		REFUSE_CALL(SYS_perf_event_open),
		REFUSE_CALL(has_tracing ? (uint32_t)-1 : SYS_ptrace),
		REFUSE_CALL(SYS_process_vm_readv),
		REFUSE_CALL(SYS_process_vm_writev),
		REFUSE_CALL(SYS_keyctl),
		REFUSE_CALL(SYS_add_key),
		REFUSE_CALL(SYS_request_key),
		REFUSE_CALL(SYS_mount),
		REFUSE_CALL(SYS_umount2),
		REFUSE_CALL(SYS_unshare),
		REFUSE_CALL(SYS_setns),
		REFUSE_CALL(SYS_io_uring_setup),
		REFUSE_CALL(SYS_io_uring_enter),
		REFUSE_CALL(SYS_io_uring_register),
		REFUSE_CALL(SYS_clock_settime),
		REFUSE_CALL(SYS_settimeofday),
		REFUSE_CALL(SYS_clock_adjtime),
		REFUSE_CALL(SYS_bpf),
		/* The personalities that engines allow: Linux's own, those of UNAME26, and asking. */
		UNLESS(SYS_personality, 7),
		LOAD(FIRST_ARGUMENT),
		IF(0, 5),
		IF(0x8, 4),
		IF(0x20000, 3),
		IF(0x20008, 2),
		IF(0xffffffff, 1),
		REFUSE,
		LOAD(NUMBER),
		UNLESS(SYS_prctl, 3),
		LOAD(FIRST_ARGUMENT),
		UNLESS((uint32_t)refused_option, 1),
		REFUSE,
		ALLOW,
	};
	const struct sock_fprog program = {sizeof code / sizeof *code, code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argument_count, char **arguments)
{
	bool has_tracing = argument_count > 1 && strcmp(arguments[1], "--with-tracing") == 0;
	int refused_option = -1;
	char **program = arguments + 1;

	if (argument_count > 1 && strcmp(*program, "--without-dispatch") == 0)
		refused_option = PR_SET_SYSCALL_USER_DISPATCH;
	else if (argument_count > 1 && strcmp(*program, "--without-relocation") == 0)
		refused_option = PR_SET_MM;
	program += refused_option != -1 || has_tracing;
	if (!*program) {
		(void)fprintf(stderr,
			"usage: container [--without-dispatch | --without-relocation | --with-tracing] "
			"PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	if (filter_install(refused_option, has_tracing)) {
		perror("container: the filter cannot be installed");
		return 77;
	}
	(void)execvp(*program, program);
	perror(*program);
	return 127;
}
