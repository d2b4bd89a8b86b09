/* Switches between user-level threads, and the code section that makes raw system calls, for x86-64
 * with the System V ABI. A switch saves these registers of the left thread on its stack, from low to
 * high addresses, and stores their address as the thread's stack_pointer:
 * [mxcsr, 4 bytes | x87 control word, 4 bytes] r15 r14 r13 r12 rbx rbp return-address */
	.text

.macro SAVE_FRAME
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r12, 0
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r13, 0
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r14, 0
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r15, 0
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	movq	%rsp, (%rdi)
	movq	(%rsi), %rsp
.endm

.macro RESTORE_FRAME
	ldmxcsr	(%rsp)
	fldcw	4(%rsp)
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%r15
	.cfi_adjust_cfa_offset -8
	.cfi_restore r15
	popq	%r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore r14
	popq	%r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore r13
	popq	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore r12
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	ret
	.cfi_endproc
.endm

.macro FUNCTION name
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
.endm

FUNCTION context_switch_fsgsbase
	SAVE_FRAME
	movq	8(%rsi), %rax
	wrfsbase %rax
	RESTORE_FRAME
	.size context_switch_fsgsbase, . - context_switch_fsgsbase

FUNCTION context_switch_plain
	SAVE_FRAME
	RESTORE_FRAME
	.size context_switch_plain, . - context_switch_plain

/* First instruction of every made context: r12 holds the argument, rbx the function. */
FUNCTION context_entry
	.cfi_startproc
	.cfi_undefined rip	/* outermost frame: unwinders stop here */
	movq	%r12, %rdi
	call	*%rbx
	hlt
	.cfi_endproc
	.size context_entry, . - context_entry

	.section raddle_syscalls, "ax", @progbits
	.globl	platform_syscalls_start
	.hidden	platform_syscalls_start
platform_syscalls_start:

FUNCTION context_switch_prctl
	SAVE_FRAME
	movq	8(%rsi), %rsi
	movl	$0x1002, %edi		/* ARCH_SET_FS */
	movl	$158, %eax		/* arch_prctl */
	syscall
	RESTORE_FRAME
	.size context_switch_prctl, . - context_switch_prctl

FUNCTION platform_syscall6
	.cfi_startproc
	endbr64
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %r10
	movq	%r9, %r8
	movq	8(%rsp), %r9
	syscall
	ret
	.cfi_endproc
	.size platform_syscall6, . - platform_syscall6

/* long platform_fork_idle(void): the child uses no memory, because its stack may be shared. */
FUNCTION platform_fork_idle
	.cfi_startproc
	endbr64
	movl	$39, %eax		/* getpid */
	syscall
	movq	%rax, %r9
	xorl	%edi, %edi		/* no exit signal */
	xorl	%esi, %esi
	xorl	%edx, %edx
	xorl	%r10d, %r10d
	xorl	%r8d, %r8d
	movl	$56, %eax		/* clone */
	syscall
	testq	%rax, %rax
	jz	1f
	ret
1:	movl	$1, %edi		/* PR_SET_PDEATHSIG */
	movl	$9, %esi		/* SIGKILL */
	movl	$157, %eax		/* prctl */
	syscall
	movl	$110, %eax		/* getppid */
	syscall
	cmpq	%rax, %r9
	jne	3f			/* the parent has died before the call of prctl */
	xorl	%edi, %edi
	movl	$0xffffffff, %esi
	xorl	%edx, %edx
	movl	$436, %eax		/* close_range */
	syscall
2:	movl	$34, %eax		/* pause */
	syscall
	jmp	2b
3:	xorl	%edi, %edi
	movl	$231, %eax		/* exit_group */
	syscall
	jmp	3b
	.cfi_endproc
	.size platform_fork_idle, . - platform_fork_idle

/* Unwind information of a signal frame, as in glibc's __restore_rt: the stack pointer points to
 * the ucontext. Writes the DWARF expression "register `number` was saved at rsp + offset" with a
 * two-byte offset. */
.macro SAVED_REGISTER number, offset
	.cfi_escape 0x10, \number, 3, 0x77, (\offset & 0x7f) | 0x80, \offset >> 7
.endm

	.cfi_startproc
	.cfi_signal_frame
	/* The canonical frame address is the interrupted stack pointer. */
	.cfi_escape 0x0f, 4, 0x77, (160 & 0x7f) | 0x80, 160 >> 7, 0x06
	SAVED_REGISTER 8, 40
	SAVED_REGISTER 9, 48
	SAVED_REGISTER 10, 56
	SAVED_REGISTER 11, 64
	SAVED_REGISTER 12, 72
	SAVED_REGISTER 13, 80
	SAVED_REGISTER 14, 88
	SAVED_REGISTER 15, 96
	SAVED_REGISTER 5, 104
	SAVED_REGISTER 4, 112
	SAVED_REGISTER 6, 120
	SAVED_REGISTER 3, 128
	SAVED_REGISTER 1, 136
	SAVED_REGISTER 0, 144
	SAVED_REGISTER 2, 152
	SAVED_REGISTER 7, 160
	SAVED_REGISTER 16, 168
	nop	/* unwinders look one byte before the trampoline */
FUNCTION platform_signal_return
	movl	$15, %eax		/* rt_sigreturn */
	syscall
	.cfi_endproc
	.size platform_signal_return, . - platform_signal_return

/* No instruction uses the stack after the store: another thread may then reuse it. */
FUNCTION platform_thread_vanish
	movl	$1, (%rdi)
	movl	$202, %eax		/* futex */
	movl	$129, %esi		/* FUTEX_WAKE_PRIVATE */
	movl	$1, %edx
	syscall
	xorl	%edi, %edi
	movl	$60, %eax		/* exit */
	syscall
	hlt
	.size platform_thread_vanish, . - platform_thread_vanish

FUNCTION platform_clone_resume
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, platform_clone_stack(%rip)
	movq	%rdi, %rax
	movq	%rsi, %r11
	movq	128(%r11), %rcx		/* REG_RIP, saved in memory: the kernel overwrites rcx */
	movq	%rcx, platform_clone_return(%rip)
	movq	0(%r11), %r8
	movq	8(%r11), %r9
	movq	16(%r11), %r10
	movq	32(%r11), %r12
	movq	40(%r11), %r13
	movq	48(%r11), %r14
	movq	56(%r11), %r15
	movq	64(%r11), %rdi
	movq	72(%r11), %rsi
	movq	80(%r11), %rbp
	movq	88(%r11), %rbx
	movq	96(%r11), %rdx
	syscall
	testq	%rax, %rax
	jz	1f
	movq	platform_clone_stack(%rip), %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	ret
1:	jmpq	*platform_clone_return(%rip)
	.size platform_clone_resume, . - platform_clone_resume

/* rcx is free, because a system call overwrites it. */
FUNCTION platform_thread_begin
	movq	%rsi, %rsp
	movq	%rdi, %rcx
	movq	0(%rcx), %r8
	movq	8(%rcx), %r9
	movq	16(%rcx), %r10
	movq	24(%rcx), %r11
	movq	32(%rcx), %r12
	movq	40(%rcx), %r13
	movq	48(%rcx), %r14
	movq	56(%rcx), %r15
	movq	64(%rcx), %rdi
	movq	72(%rcx), %rsi
	movq	80(%rcx), %rbp
	movq	88(%rcx), %rbx
	movq	96(%rcx), %rdx
	movq	128(%rcx), %rcx		/* REG_RIP */
	xorl	%eax, %eax
	jmpq	*%rcx
	.size platform_thread_begin, . - platform_thread_begin

	.globl	platform_syscalls_end
	.hidden	platform_syscalls_end
platform_syscalls_end:

	.local	platform_clone_stack
	.comm	platform_clone_stack, 8, 8
	.local	platform_clone_return
	.comm	platform_clone_return, 8, 8

	.section .note.GNU-stack, "", @progbits
