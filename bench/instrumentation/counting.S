/* The least that a handler can do: counts, and returns to the stub. Registers are kept. */
	.text
	.macro	ENTRY name:req
	.globl	raddle_site_\name
	.type	raddle_site_\name, @function
raddle_site_\name:
	.endm
	ENTRY	v3
	.irp	bytes, 1, 2, 4, 8, 16
	ENTRY	load\bytes\()_v3
	ENTRY	store\bytes\()_v3
	.endr
	incq	counting_hits(%rip)
	ret
	.section .note.GNU-stack, "", @progbits
