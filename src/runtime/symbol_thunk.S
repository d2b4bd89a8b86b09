/*
 * dlsym() and dlvsym(), see interpose_symbol.c. Where ours has no answer the loader's function is jumped to,
 * with the caller's return address on the stack.
 */
	.text

	.globl	dlsym
	.type	dlsym, @function
dlsym:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	xorl	%edx, %edx
	movq	24(%rsp), %rcx
	call	symbol_interposed
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jnz	1f
	jmpq	*symbol_behind_dlsym(%rip)
1:	ret
	.cfi_endproc
	.size	dlsym, . - dlsym

	.globl	dlvsym
	.type	dlvsym, @function
dlvsym:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	movq	24(%rsp), %rcx
	call	symbol_interposed
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jnz	1f
	jmpq	*symbol_behind_dlvsym(%rip)
1:	ret
	.cfi_endproc
	.size	dlvsym, . - dlvsym

	.section .note.GNU-stack, "", @progbits
