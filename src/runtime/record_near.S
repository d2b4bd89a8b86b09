/*
 * From a quick stub (record_stubs.c) whose report is not predicted to the function that records it (record.c), the short
 * way: all that the site is known for stands in the stub. x86-64.
 *
 * On entry %r10 is the operand and %r11 what the function has to know of the site; the return address lies behind the
 * point. Where the function says false nothing has happened, and the general way (site_thunk.S) does it all. The
 * functions use general registers only (CMakeLists.txt), so no others are saved.
 */
	.text

	.macro	NEAR name:req
	.globl	record_near_\name
	.hidden	record_near_\name
	.type	record_near_\name, @function
	.p2align 4
record_near_\name:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	andq	$-16, %rsp
	movq	%r10, %rdi
	movq	%rsi, %rcx		/* the length, at points that have one */
	movq	%r11, %rsi
	movq	(%rbp), %rdx		/* the frame of the code at the point */
	call	record_missed_\name
	testb	%al, %al
	leaq	-64(%rbp), %rsp
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	popq	%rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	je	raddle_site_v3
	ret
	.cfi_endproc
	.size	record_near_\name, . - record_near_\name
	.endm

	NEAR	read
	NEAR	update
	NEAR	result
	NEAR	address
	NEAR	argument
	NEAR	enter
	NEAR	range

	.section .note.GNU-stack, "", @progbits
