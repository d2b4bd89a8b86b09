/*
 * Bridge from a quick stub (record_stubs.c) whose report is not predicted to the function that
 * records it (record_missed.c). The stub passes all properties of the site. x86-64.
 *
 * On entry %r10 is the operand and %r11 the site's property; the return address is that of the
 * point. If the function returns false, it has changed nothing, and the general path (site_thunk.S)
 * handles the report. The functions use general registers only, so no others are saved.
 */
#include "runtime/quick.h"
#include "runtime/record/record_near.h"

	.text

	.macro	NEAR name:req, of:req
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
	movq	%rsi, %rcx		/* the length, for points that have one */
	movq	%r11, %rsi
	movq	(%rbp), %rdx		/* the frame pointer of the code at the point */
	call	record_missed_\of
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
	je	site_any
	ret
	.cfi_endproc
	.size	record_near_\name, . - record_near_\name
	.endm

	NEAR	read, read
	NEAR	update, update
	NEAR	address, address
	NEAR	far_result, result
	NEAR	far_argument, argument
	NEAR	far_enter, enter
	NEAR	copied, copied
	NEAR	copy, copy
	NEAR	string, string
	NEAR	contents, contents
	NEAR	range, range


/*
 * The most frequent reports in assembly: words that are read, results, and calls from outside with
 * their arguments. As record_missed.c; rarer cases (end of the time slice, a full chunk, most
 * pending writes) jump to \otherwise before anything has changed.
 *
 * %rdx: the moving thread's state; %rsi: its struct record_thread; %rdi: write position; %rax and
 * %rcx: scratch for numbers.
 */
	.macro	BEGIN name:req, otherwise:req
	.globl	record_near_\name
	.hidden	record_near_\name
	.type	record_near_\name, @function
	.p2align 4
record_near_\name:
	.cfi_startproc
	cmpb	$SITES_OFF, sites_are_live(%rip)
	je	\otherwise
	cmpq	$0, record_state(%rip)
	je	\otherwise
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	movq	record_region_state(%rip), %rdx
	movq	NEAR_THREAD(%rdx), %rsi
	movq	NEAR_AT(%rsi), %rdi
	movq	NEAR_END(%rsi), %rax
	subq	%rdi, %rax
	cmpq	$NEAR_ROOM, %rax
	jl	9f
	.endm

	.macro	RESTORE
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	.endm

	/* Label 9: a rare case. */
	.macro	END name:req, otherwise:req
	movq	%rdi, NEAR_AT(%rsi)
	.cfi_remember_state
	RESTORE
	ret
9:	.cfi_restore_state
	RESTORE
	jmp	\otherwise
	.cfi_endproc
	.size	record_near_\name, . - record_near_\name
	.endm

	/* record_number_put() of %rax. */
	.macro	NUMBER
	cmpq	$128, %rax
	jae	1f
	leal	1(%rax, %rax), %eax
	movb	%al, (%rdi)
	incq	%rdi
	jmp	3f
1:	bsrq	%rax, %rcx
	cmpl	$56, %ecx
	jae	2f
	imull	$37, %ecx, %ecx		/* a seventh of it: the number's bytes except the last */
	shrl	$8, %ecx
	leaq	1(%rax, %rax), %rax
	shlq	%cl, %rax
	movq	%rax, (%rdi)
	leaq	1(%rdi, %rcx), %rdi
	jmp	3f
2:	movb	$0, (%rdi)
	movq	%rax, 1(%rdi)
	addq	$9, %rdi
3:
	.endm

	/* Begins an entry; %rcx is `left`. */
	.macro	HEAD tag:req
	movq	NEAR_PREDICTED(%rsi), %rax
	addq	NEAR_MARK(%rdx), %rax
	subq	%rcx, %rax
	decq	%rcx
	movq	%rcx, NEAR_LEFT(%rdx)
	movq	%rcx, NEAR_MARK(%rdx)
	movq	$0, NEAR_PREDICTED(%rsi)
	shlq	$4, %rax
	.if	\tag
	orq	$\tag, %rax
	.endif
	NUMBER
	.endm

	/* record_difference() of %rax; the lowest bit is the sign. */
	.macro	SIGNED
	movq	%rax, %rcx
	sarq	$63, %rcx
	addq	%rax, %rax
	xorq	%rcx, %rax
	NUMBER
	.endm

	/* At %r10, which the stub has already read. */
	.macro	WORD name:req, bytes:req, load:req, value:req, extend, pends:req
	BEGIN	\name, site_any
	movq	NEAR_LEFT(%rdx), %rcx
	testq	%rcx, %rcx
	jle	9f
	movl	$0, NEAR_WANTS_ARGUMENTS(%rdx)
	HEAD	NEAR_TAG_READ
	movl	%r10d, %r11d
	andl	$NEAR_MEMORY_MASK, %r11d
	addq	NEAR_MEMORY(%rdx), %r11
	\load	(%r10), %\value
	movq	%rax, %rcx
	.if	\bytes == 8
	subq	(%r11), %rax
	movq	%rcx, (%r11)
	.elseif	\bytes == 4
	subl	(%r11), %eax
	movl	%ecx, (%r11)
	.elseif	\bytes == 2
	subw	(%r11), %ax
	movw	%cx, (%r11)
	.else
	subb	(%r11), %al
	movb	%cl, (%r11)
	.endif
	\extend
	SIGNED
	.if	\pends
	movq	%r10, NEAR_PENDING(%rdx)
	movl	$\bytes, NEAR_PENDING_BYTES(%rdx)
	.endif
	END	\name, site_any
	.endm

	.macro	WORDS name:req, pends:req
	WORD	\name\()8, 8, movq, rax, "", \pends
	WORD	\name\()4, 4, movl, eax, "cltq", \pends
	WORD	\name\()2, 2, movzwl, eax, "movswq %ax, %rax", \pends
	WORD	\name\()1, 1, movzbl, eax, "movsbq %al, %rax", \pends
	.endm

	WORDS	read, 0
	WORDS	update, 1

	/* %r10: the value, %r11: its slot. If the value equals the prediction, a pending write
	 * alone has led here, and is dropped. */
	BEGIN	result, record_near_far_result
	movq	NEAR_LEFT(%rdx), %rcx
	testq	%rcx, %rcx
	jle	9f
	movq	NEAR_PENDING(%rdx), %rax
	testq	%rax, %rax
	je	6f
	andl	$NEAR_MEMORY_MASK, %eax
	addq	NEAR_MEMORY(%rdx), %rax
	cmpl	$8, NEAR_PENDING_BYTES(%rdx)
	je	4f
	cmpl	$4, NEAR_PENDING_BYTES(%rdx)
	jne	9f
	movl	$0, (%rax)
	jmp	5f
4:	movq	$0, (%rax)
5:	movq	$0, NEAR_PENDING(%rdx)
6:	movl	$0, NEAR_WANTS_ARGUMENTS(%rdx)
	movq	NEAR_VALUES(%rdx), %rax
	leaq	(%rax, %r11, 8), %r11
	cmpq	(%r11), %r10
	jne	7f
	decq	NEAR_LEFT(%rdx)
	jmp	8f
7:	HEAD	NEAR_TAG_VALUE
	movq	%r10, %rax
	subq	(%r11), %rax
	movq	%r10, (%r11)
	SIGNED
8:
	END	result, record_near_far_result

	/* %r11: the site. Fast only for the return address of the last call from outside. */
	BEGIN	enter, record_near_far_enter
	movq	8(%rbp), %rax
	cmpq	%rax, NEAR_OUTSIDE+record_state(%rip)
	jne	9f
	cmpq	$0, NEAR_PENDING(%rdx)
	jne	9f
	movq	NEAR_LEFT(%rdx), %rcx
	movl	$1, NEAR_WANTS_ARGUMENTS(%rdx)
	cmpl	%r11d, NEAR_ENTERED(%rdx)
	je	4f
	movl	%r11d, NEAR_ENTERED(%rdx)
	HEAD	NEAR_TAG_ENTER
	movl	%r11d, %eax
	NUMBER
	jmp	5f
4:	HEAD	NEAR_TAG_ENTER_AGAIN
5:
	END	enter, record_near_far_enter

	/* %r10: the value. */
	BEGIN	argument, record_near_far_argument
	movl	NEAR_WANTS_ARGUMENTS(%rdx), %ecx
	movl	NEAR_ENTERED(%rdx), %eax
	leal	(%rax, %rax, 4), %eax	/* record_argument_slot() */
	addl	%ecx, %eax
	andl	$NEAR_VALUES_MASK, %eax
	incl	%ecx
	movl	%ecx, NEAR_WANTS_ARGUMENTS(%rdx)
	movq	NEAR_VALUES(%rdx), %rcx
	leaq	(%rcx, %rax, 8), %r11
	movq	%r10, %rax
	subq	(%r11), %rax
	movq	%r10, (%r11)
	SIGNED
	END	argument, record_near_far_argument

	.section .note.GNU-stack, "", @progbits
