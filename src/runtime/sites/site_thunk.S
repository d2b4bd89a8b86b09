/*
 * Targets of the stubs of sites that are on (stubs.h): saves the registers, calls
 * site_reached() with the access and, if that returns true, site_perform(). x86-64.
 *
 * On entry %r10 is the address; %rsi is a length, for some kinds. The return address is that of the
 * point, so unwinders see the user's function call the thunk. The four bytes before it are the
 * distance to the stub, those before the stub the distance to the record.
 *
 * To the compiler a site is no call: only %r10, %r11 and the flags are dead. site_reached() uses
 * general registers only (CMakeLists.txt). Before site_perform() the rest is saved: %xmm0 to 15
 * always, other components if the processor reports them in use. libc's string functions leave
 * %zmm16 to 31 in use; the thunk saves these by hand, because xsave and xrstor are several times
 * slower.
 */
#include "runtime/filter.h"
#include "runtime/quick.h"

	.text

#define RETURN 72		/* the return address, from %rbp */
#define COMPONENTS 0xe7		/* x87, SSE, AVX, AVX-512 */
#define XSAVE_BYTES 2752	/* rounded up to 64 */
#define XSAVE_HEADER 512
#define HAND_BYTES 1344		/* %xmm0 to 15, %zmm16 to 31, %k0 to 7 */
#define MASKS 1280
#define X87 1			/* the bit of x87 among the components */
#define FXSAVE_BYTES 512
#define FXSAVE_VALUES 4		/* a bit for each register of the x87 stack that holds a value */
#define GRANULES 2*16*QUICK_SETS	/* in struct contract_quick */

	.macro	PUSH name:req
	pushq	%\name
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \name, 0
	.endm

	.macro	POP name:req
	popq	%\name
	.cfi_adjust_cfa_offset -8
	.cfi_restore \name
	.endm

/* Fast path of quick.h by granules: returns if they are known, or goes to site_any if they
 * are points and the lease is over. Otherwise execution falls through. */
	.macro	GRANULE number:req, bytes:req
	.if	\bytes > 1
	testb	$((\bytes - 1) & 7), %r10b
	jne	8f
	.endif
	pushq	%rax
	movq	%r10, %rax
	shrq	$QUICK_GRANULE_BITS, %rax
	movl	%eax, %r11d
	andl	$(QUICK_GRANULES - 1), %r11d
	shll	$3, %r11d
	addq	sites_quick(%rip), %r11
	xorq	GRANULES+8*QUICK_GRANULES*\number(%r11), %rax
	.if	\bytes == 16
	cmpq	%rax, QUICK_OWN_TAG+sites_now(%rip)
	je	6f
	cmpq	%rax, QUICK_POINT_TAG+sites_now(%rip)
	jne	7f
6:	pushq	%rax
	leaq	8(%r10), %rax
	shrq	$QUICK_GRANULE_BITS, %rax
	movl	%eax, %r11d
	andl	$(QUICK_GRANULES - 1), %r11d
	shll	$3, %r11d
	addq	sites_quick(%rip), %r11
	xorq	GRANULES+8*QUICK_GRANULES*\number(%r11), %rax
	popq	%r11
	cmpq	%rax, %r11
	jne	7f
	.endif
	movq	%rax, %r11
	popq	%rax
	cmpq	QUICK_OWN_TAG+sites_now(%rip), %r11
	je	1f
	cmpq	QUICK_POINT_TAG+sites_now(%rip), %r11
	jne	8f
	decq	QUICK_LEASE+sites_now(%rip)
	js	site_any
	ret
	.if	\bytes == 16
7:	popq	%rax
	.endif
8:
	.endm

/* Fast path of quick.h: returns if the access repeats one of its epoch, or is to own memory. */
	.macro	PLAIN kind:req, number:req, bytes:req
	.globl	site_\kind\bytes
	.hidden	site_\kind\bytes
	.type	site_\kind\bytes, @function
	.p2align 4
site_\kind\bytes:
	.cfi_startproc
	movl	%r10d, %r11d		/* the filter (filter.h) */
	shrl	$FILTER_LINE_BITS, %r11d
	andl	$(FILTER_LINES - 1), %r11d
	addq	filter_lines(%rip), %r11
	cmpb	$0, (%r11)
	je	3f
	GRANULE \number, \bytes
	movl	%r10d, %r11d
	andl	$4*(QUICK_SETS - 1), %r11d
	shll	$3, %r11d		/* per four bytes of memory, two entries of 16 bytes */
	addq	sites_quick(%rip), %r11
	cmpq	%r10, 16*\number(%r11)
	jne	site_any
	movq	16*\number+8(%r11), %r11
	subq	$(\bytes << 16 | \number), %r11	/* the key without its properties */
	cmpq	QUICK_EPOCH+sites_now(%rip), %r11
	jne	2f
1:	decl	QUICK_LEFT+sites_now(%rip)
	js	site_any
3:	ret
2:	cmpq	QUICK_SLICE_KEY+sites_now(%rip), %r11
	je	1b
	jmp	site_any
	.cfi_endproc
	.size	site_\kind\bytes, . - site_\kind\bytes
	.endm

	.irp	bytes, 1, 2, 4, 8, 16
	PLAIN	load, 0, \bytes
	PLAIN	store, 1, \bytes
	.endr

	.globl	site_any
	.hidden	site_any
	.type	site_any, @function
	.p2align 4
site_any:
	/* Keeps the frame of the point's code next in the chain: callers.c */
	.cfi_startproc
	cmpb	$SITES_OFF, sites_are_live(%rip)
	je	.Lquiet
	PUSH	rax
	PUSH	rcx
	PUSH	rdx
	PUSH	rsi
	PUSH	rdi
	PUSH	r8
	PUSH	r9
	PUSH	rbx
	PUSH	rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	andq	$-64, %rsp

	movq	RETURN(%rbp), %rax
	movslq	-4(%rax), %rbx		/* the stub: the call's target */
	leaq	-4(%rax, %rbx), %rbx
	movslq	(%rbx), %rax
	addq	%rax, %rbx		/* the record */
	movq	%r10, %rdi
	movq	%rbx, %rdx
	movq	(%rbp), %rcx		/* the frame pointer of the code at the point */
	cld
	call	site_reached
	testb	%al, %al
	jne	.Lperform

.Lback:
	movq	%rbp, %rsp
	.cfi_remember_state
	.cfi_def_cfa_register rsp
	POP	rbp
	POP	rbx
	POP	r9
	POP	r8
	POP	rdi
	POP	rsi
	POP	rdx
	POP	rcx
	POP	rax
.Lquiet:
	ret
	.cfi_restore_state

.Lperform:
	/* %ebx: the components in use; all of them if this processor does not report them */
	movl	$-1, %ebx
	cmpb	$0, sites_vectors_in_use(%rip)
	je	1f
	movl	$1, %ecx
	xgetbv
	movl	%eax, %ebx
1:	testb	$X87, %bl
	je	1f
	/* Code that used x87 at any time mostly left its stack empty. On some processors, fxam takes four times as
	 * long as fxsave64 to find that out. */
	subq	$FXSAVE_BYTES, %rsp
	fxsave64 (%rsp)
	movb	FXSAVE_VALUES(%rsp), %al
	addq	$FXSAVE_BYTES, %rsp
	testb	%al, %al
	jne	.Lwide
1:	andl	sites_vectors(%rip), %ebx
	movl	sites_saves_vectors(%rip), %eax
	notl	%eax
	testl	%eax, %ebx
	jnz	.Lwide

	subq	$HAND_BYTES, %rsp
	.irp	number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	%xmm\number, 16*\number(%rsp)
	.endr
	testl	%ebx, %ebx
	jz	1f
	.irp	number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovdqa64 %zmm\number, 256+64*(\number-16)(%rsp)
	.endr
	.irp	number, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	%k\number, MASKS+8*\number(%rsp)
	.endr
1:	call	site_perform
	.irp	number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	16*\number(%rsp), %xmm\number
	.endr
	testl	%ebx, %ebx
	jz	.Lback
	.irp	number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovdqa64 256+64*(\number-16)(%rsp), %zmm\number
	.endr
	.irp	number, 0, 1, 2, 3, 4, 5, 6, 7
	kmovq	MASKS+8*\number(%rsp), %k\number
	.endr
	jmp	.Lback

	/* Values on the x87 stack, or vector components that are not saved by hand. */
.Lwide:
	subq	$XSAVE_BYTES, %rsp
	xorl	%eax, %eax
	.irp	word, 0, 8, 16, 24, 32, 40, 48, 56
	movq	%rax, XSAVE_HEADER+\word(%rsp)
	.endr
	movl	$COMPONENTS, %eax
	xorl	%edx, %edx
	cmpb	$0, sites_has_xsave(%rip)
	je	.Lold
	xsave64	(%rsp)
	emms				/* the callee finds an empty x87 stack, as the ABI wants */
	call	site_perform
	movl	$COMPONENTS, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	.Lback
.Lold:					/* only x87 and SSE exist */
	fxsave64 (%rsp)
	emms
	call	site_perform
	fxrstor64 (%rsp)
	jmp	.Lback
	.cfi_endproc
	.size	site_any, . - site_any

	.section .rodata
	.globl	filter_all
	.hidden	filter_all
	.type	filter_all, @object
filter_all:
	.fill	FILTER_LINES, 1, 1
	.size	filter_all, . - filter_all
	.section .note.GNU-stack, "", @progbits
