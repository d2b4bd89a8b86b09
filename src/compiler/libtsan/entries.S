/* Entries of calls.c. Each passes its arguments to calls_report() and jumps to the returned function
 * with the same registers. No argument lies in a vector register. */
	.text
	.set	calls_count, 0

calls_enter:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rax
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	movq	%rsp, %rdi
	movl	%r11d, %esi
	andq	$-16, %rsp
	call	calls_report
	leaq	-32(%rbp), %rsp
	movq	%rax, %r11
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rax
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	jmpq	*%r11
	.cfi_endproc

.macro ENTRY name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	endbr64
	movl	$calls_count, %r11d
	jmp	calls_enter
	.cfi_endproc
	.size	\name, . - \name
	.set	calls_count, calls_count + 1
.endm

#define CALL(name, rule) ENTRY name ;
#include "compiler/libtsan/calls.def"

	.section .note.GNU-stack, "", @progbits
