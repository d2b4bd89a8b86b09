/* Replacements of setjmp() and its variants: libc's would save the kernel's signal mask instead of
 * the engine's. Registers have glibc's format, for glibc's longjmp(): rbp, rsp and the return
 * address are scrambled with the word at %fs:0x30. */
	.text

	.macro keep_scrambled offset
	xorq	%fs:0x30, %rax
	rolq	$17, %rax
	movq	%rax, \offset(%rdi)
	.endm

	.globl	setjmp
	.type	setjmp, @function
	.p2align 4
setjmp:
	.cfi_startproc
	movl	$1, %esi
	jmp	.Lset
	.cfi_endproc
	.size	setjmp, . - setjmp

	.globl	_setjmp
	.type	_setjmp, @function
	.p2align 4
_setjmp:
	.cfi_startproc
	xorl	%esi, %esi
	jmp	.Lset
	.cfi_endproc
	.size	_setjmp, . - _setjmp

/* int __sigsetjmp(struct __jmp_buf_tag *position, int saves_mask) */
	.globl	__sigsetjmp
	.type	__sigsetjmp, @function
	.p2align 4
__sigsetjmp:
	.cfi_startproc
.Lset:
	movq	%rbx, (%rdi)
	movq	%rbp, %rax
	keep_scrambled 8
	movq	%r12, 16(%rdi)
	movq	%r13, 24(%rdi)
	movq	%r14, 32(%rdi)
	movq	%r15, 40(%rdi)
	leaq	8(%rsp), %rax
	keep_scrambled 48
	movq	(%rsp), %rax
	keep_scrambled 56
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	jump_save_mask
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	xorl	%eax, %eax
	ret
	.cfi_endproc
	.size	__sigsetjmp, . - __sigsetjmp

	.section .note.GNU-stack, "", @progbits
