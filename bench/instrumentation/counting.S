/* The least that a handler can do: counts, and returns to the stub. Flags and registers are kept. */
	.text
	.globl	raddle_site_v2
	.type	raddle_site_v2, @function
raddle_site_v2:
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
	.size	raddle_site_v2, . - raddle_site_v2
	.section .note.GNU-stack, "", @progbits
