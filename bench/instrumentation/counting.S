/* The least that a handler can do: counts, and returns to the stub. Flags and registers are kept. */
	.text
	.globl	raddle_site_v1
	.type	raddle_site_v1, @function
raddle_site_v1:
	leaq	-8(%rsp), %rsp
	pushq	%rax
	lahf
	seto	%al
	incq	counting_hits(%rip)
	addb	$127, %al
	sahf
	popq	%rax
	popq	%rdi
	ret
	.size	raddle_site_v1, . - raddle_site_v1
	.section .note.GNU-stack, "", @progbits
