/* See relocate.h. x86-64, System V ABI. */
	.text

	.globl relocate_switch_stack
	.hidden relocate_switch_stack
	.type relocate_switch_stack, @function
relocate_switch_stack:
	movq	%rdi, %rsp
	xorl	%ebp, %ebp
	movq	%rdx, %rdi
	call	*%rsi
	ud2
	.size relocate_switch_stack, .-relocate_switch_stack

	.globl relocate_enter
	.hidden relocate_enter
	.type relocate_enter, @function
relocate_enter:
	movq	%rdi, %rsp
	movq	%rsi, %r12
	movq	%rdx, %rdi
	movq	%rcx, %rsi
	movl	$11, %eax /* munmap */
	syscall
	/* The loader calls the function in %rdx at exit. */
	xorl	%edx, %edx
	xorl	%ebp, %ebp
	jmp	*%r12
	.size relocate_enter, .-relocate_enter

	.section .note.GNU-stack, "", @progbits
