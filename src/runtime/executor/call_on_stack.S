/* Calls a function on another stack: signal handlers on an alternate stack, and first frames of
 * threads. The frame stays on the caller's stack, so an unwinder finds the caller. */
	.text

	/* void (void (*function)(void *), void *argument, void *stack_end) */
	.globl	call_on_stack
	.hidden	call_on_stack
	.type	call_on_stack, @function
	.p2align 4
call_on_stack:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movq	%rdi, %rax
	movq	%rsi, %rdi
	andq	$-16, %rdx
	movq	%rdx, %rsp
	call	*%rax
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	call_on_stack, . - call_on_stack

	.section .note.GNU-stack, "", @progbits
