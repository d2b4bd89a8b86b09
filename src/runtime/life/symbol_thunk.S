/* Entries of symbol.c: each calls `answer` with its arguments and the caller's address. If `answer`
 * returns NULL, the entry jumps to the loader's function, with the caller's return address on the
 * stack. */
	.text

.macro LOADER_ENTRY name, answer, behind
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	movq	24(%rsp), %rcx
	call	\answer
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jnz	1f
	jmpq	*\behind(%rip)
1:	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

LOADER_ENTRY dlsym, symbol_answer_dlsym, symbol_behind_dlsym
LOADER_ENTRY dlvsym, symbol_answer_dlvsym, symbol_behind_dlvsym
LOADER_ENTRY dlopen, symbol_answer_dlopen, symbol_behind_dlopen
LOADER_ENTRY dlmopen, symbol_answer_dlmopen, symbol_behind_dlmopen

	.section .note.GNU-stack, "", @progbits
