/* Instructions of guarded_read.c that may fault. No stack, for an immediate return. */
	.text

	.macro	HIDDEN name:req
	.globl	\name
	.hidden	\name
	.endm

	HIDDEN	guarded_read_1
	HIDDEN	guarded_read_2
	HIDDEN	guarded_read_4
	HIDDEN	guarded_read_8
	HIDDEN	guarded_find_zero
	HIDDEN	guarded_same_words
	HIDDEN	guarded_words_start
	HIDDEN	guarded_words_end
	HIDDEN	guarded_words_failed
	HIDDEN	guarded_string_start
	HIDDEN	guarded_string_end
	HIDDEN	guarded_string_failed
	HIDDEN	guarded_same_copied
	HIDDEN	guarded_same_string
	HIDDEN	guarded_reported_start
	HIDDEN	guarded_reported_end
	HIDDEN	guarded_reported_failed

	/* int (const void *address, uint64_t *value) */
	.type	guarded_read_1, @function
	.type	guarded_read_2, @function
	.type	guarded_read_4, @function
	.type	guarded_read_8, @function
	.p2align 4
	.cfi_startproc
guarded_words_start:
guarded_read_1:
	movzbl	(%rdi), %eax
	jmp	.Lread
guarded_read_2:
	movzwl	(%rdi), %eax
	jmp	.Lread
guarded_read_4:
	movl	(%rdi), %eax
	jmp	.Lread
guarded_read_8:
	movq	(%rdi), %rax
guarded_words_end:
.Lread:
	movq	%rax, (%rsi)
	movl	$1, %eax
	ret
guarded_words_failed:
	xorl	%eax, %eax
	ret
	.cfi_endproc

	/* size_t (const void *address, const void *known, size_t words): two words per iteration */
	.type	guarded_same_words, @function
	.p2align 4
guarded_same_words:
	.cfi_startproc
	xorl	%eax, %eax
guarded_string_start:
	subq	$2, %rdx
	jb	3f
	.p2align 4
1:	movq	(%rdi, %rax, 8), %rcx
	cmpq	(%rsi, %rax, 8), %rcx
	jne	2f
	incq	%rax
	movq	(%rdi, %rax, 8), %rcx
	cmpq	(%rsi, %rax, 8), %rcx
	jne	2f
	incq	%rax
	cmpq	%rdx, %rax
	jbe	1b
3:	testb	$1, %dl
	je	2f
	movq	(%rdi, %rax, 8), %rcx
	cmpq	(%rsi, %rax, 8), %rcx
	jne	2f
	incq	%rax
2:	ret
	.cfi_endproc

	/* size_t (const void *from, const void *known, void *target, size_t bytes). A partial last
	 * word is compared as the last eight bytes, which overlap known equal bytes. */
	.type	guarded_same_copied, @function
	.p2align 4
guarded_same_copied:
	.cfi_startproc
	xorl	%eax, %eax
	leaq	-8(%rcx), %r8
	.p2align 4
1:	movq	(%rdi, %rax), %r9
	cmpq	(%rsi, %rax), %r9
	jne	2f
	movq	%r9, (%rdx, %rax)
	addq	$8, %rax
	cmpq	%r8, %rax
	jbe	1b
	cmpq	%rcx, %rax
	je	2f
	movq	(%rdi, %r8), %r9
	cmpq	(%rsi, %r8), %r9
	jne	2f
	movq	%r9, (%rdx, %r8)
	movq	%rcx, %rax
2:	ret
	.cfi_endproc

	/* size_t (const char *string, size_t most) */
	.type	guarded_find_zero, @function
	.p2align 4
guarded_find_zero:
	.cfi_startproc
	xorl	%eax, %eax
1:	leaq	(%rdi, %rax), %rdx
	testl	$7, %edx
	jz	2f
	cmpq	%rsi, %rax
	jae	guarded_string_end
	cmpb	$0, (%rdx)
	je	guarded_string_end
	incq	%rax
	jmp	1b
	/* Aligned words never cross a page. The lowest 0x80 marks the first zero byte. */
2:	movabsq	$0x0101010101010101, %rcx
	movq	%rcx, %r8
	shlq	$7, %r8
3:	cmpq	%rsi, %rax
	jae	4f
	movq	(%rdi, %rax), %rdx
	movq	%rdx, %r9
	notq	%r9
	subq	%rcx, %rdx
	andq	%r9, %rdx
	andq	%r8, %rdx
	jnz	5f
	addq	$8, %rax
	jmp	3b
5:	bsfq	%rdx, %rdx
	shrq	$3, %rdx
	addq	%rdx, %rax
	cmpq	%rsi, %rax
	jb	guarded_string_end
4:	movq	%rsi, %rax
guarded_string_end:
guarded_string_failed:
	ret
	.cfi_endproc

	/* struct guarded_same (const void *address, const void *known, size_t words, uint64_t
	 * ahead): bits set in `ahead` are bytes before the string. */
	.type	guarded_same_string, @function
	.p2align 4
guarded_same_string:
	.cfi_startproc
	movabsq	$0x0101010101010101, %r8
	xorl	%eax, %eax
	xorl	%r10d, %r10d
guarded_reported_start:
1:	movq	(%rdi, %rax, 8), %r11
	cmpq	(%rsi, %rax, 8), %r11
	jne	2f
	orq	%rcx, %r11
	xorl	%ecx, %ecx
	movq	%r11, %r9
	subq	%r8, %r9
	notq	%r11
	andq	%r11, %r9
	orq	%r9, %r10
	incq	%rax
	cmpq	%rdx, %rax
	jb	1b
guarded_reported_end:
guarded_reported_failed:
2:	shlq	$7, %r8
	movq	%r10, %rdx
	andq	%r8, %rdx
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
