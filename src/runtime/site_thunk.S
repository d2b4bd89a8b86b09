/*
 * Where the stub of a site goes when the site is on (instrument_abi.h): saves every register, tells
 * site_reached() of the access and, where that wants more, calls site_perform(). x86-64.
 *
 * On entry %rdi is the address and the true %rdi lies below the return address; %rsi is a length, for
 * some kinds. The return address is in the stub, in front of the distance to the record. Before
 * site_perform() it is replaced by that of the point, so that unwinders see the user's function call us.
 *
 * To the compiler a site is no call, so everything that another thread may change while this one stands
 * here is live: flags, all vector registers, the x87 stack. site_reached() uses general registers only
 * (CMakeLists.txt), so most accesses save no others. Before site_perform() the rest is saved: %xmm0 to 15
 * always, and what else the processor says is in use. libc's string functions leave %zmm16 to 31 in use;
 * these are saved by hand, as xsave and xrstor are several times slower. They serve all other cases.
 */
#include "runtime/quick.h"

	.text

#define COMPONENTS 0xe7		/* x87, SSE, AVX, AVX-512 */
#define XSAVE_BYTES 2752	/* of these components, rounded up to 64 */
#define XSAVE_HEADER 512
#define HAND_BYTES 1344		/* %xmm0 to 15, %zmm16 to 31, %k0 to 7 */
#define MASKS 1280		/* where the last of these begin */
#define FXAM_MASK 0x4500
#define FXAM_EMPTY 0x4100

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

	.globl	raddle_site_v2
	.type	raddle_site_v2, @function
	.p2align 4
raddle_site_v2:
	.cfi_startproc
	leaq	-8(%rsp), %rsp		/* over the saved %rdi; keeps the flags */
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rdi, 0
	PUSH	rax
	lahf
	seto	%al
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	cmpb	$SITES_LIVE, sites_are_live(%rip)
	jb	.Lquiet
	PUSH	rcx
	PUSH	rdx
	je	.Lreached

	/* quick.h: is it like an earlier access of its episode? */
	movq	40(%rsp), %rcx		/* return address */
	movslq	3(%rcx), %rdx
	movl	15(%rcx, %rdx), %edx	/* the record's properties */
	movl	%edi, %ecx
	andl	$4*(QUICK_PLACES - 1), %ecx
	movl	%edx, %eax
	andl	$1, %eax
	shll	$4, %eax
	leaq	(%rax, %rcx, 8), %rcx
	movq	sites_quick(%rip), %rax
	orq	QUICK_EPISODE(%rax), %rdx
	cmpq	%rdi, QUICK_ENTRIES(%rax, %rcx)
	jne	.Lreached
	cmpq	%rdx, QUICK_ENTRIES+8(%rax, %rcx)
	je	.Lsame
	movl	%edx, %edx		/* or nobody else's business? */
	orq	QUICK_TURN(%rax), %rdx
	cmpq	%rdx, QUICK_ENTRIES+8(%rax, %rcx)
	jne	.Lreached
.Lsame:
	decl	QUICK_LEFT(%rax)
	js	.Lreached
	.cfi_remember_state
.Lseen:
	POP	rdx
	POP	rcx
.Lquiet:
	popq	%rax
	.cfi_adjust_cfa_offset -8
	addb	$127, %al		/* the overflow flag again */
	sahf
	POP	rax
	POP	rdi
	ret
	.cfi_restore_state

.Lreached:
	PUSH	rsi
	PUSH	r8
	PUSH	r9
	PUSH	r10
	PUSH	r11
	PUSH	rbp
	PUSH	rbx
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	andq	$-64, %rsp

	movq	96(%rbp), %rbx		/* return address */
	movslq	3(%rbx), %rax
	leaq	3(%rbx, %rax), %rbx	/* the record */
	movq	%rbx, %rdx
	movq	8(%rbp), %rcx		/* the frame of the code at the point */
	cld
	call	site_reached
	testb	%al, %al
	jne	.Lperform

.Lback:
	movq	%rbp, %rsp
	.cfi_remember_state
	.cfi_def_cfa_register rsp
	POP	rbx
	POP	rbp
	POP	r11
	POP	r10
	POP	r9
	POP	r8
	POP	rsi
	jmp	.Lseen
	.cfi_restore_state

.Lperform:
	movslq	(%rbx), %rax
	leaq	5(%rbx, %rax), %rax	/* behind the point */
	movq	%rax, 96(%rbp)

	fxam				/* the x87 stack grows down: it is empty where its top is */
	fnstsw	%ax
	andl	$FXAM_MASK, %eax
	cmpl	$FXAM_EMPTY, %eax
	jne	.Lwide
	movl	sites_vectors(%rip), %ebx
	cmpb	$0, sites_vectors_in_use(%rip)
	je	1f
	movl	$1, %ecx
	xgetbv
	andl	%eax, %ebx
1:	movl	sites_vectors_by_hand(%rip), %eax
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

	/* Values on the x87 stack, or vectors that are not saved by hand. */
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
	emms				/* the others find an empty stack, as at any call */
	call	site_perform
	movl	$COMPONENTS, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	.Lback
.Lold:					/* nothing but x87 and SSE is there */
	fxsave64 (%rsp)
	emms
	call	site_perform
	fxrstor64 (%rsp)
	jmp	.Lback
	.cfi_endproc
	.size	raddle_site_v2, . - raddle_site_v2
	.section .note.GNU-stack, "", @progbits
