/*
 * Where the stub of a site goes when the site is on (instrument_abi.h): saves every register, tells
 * site_reached() of the access and returns behind the point. x86-64.
 *
 * On entry %rdi is the address and the true %rdi lies below the return address; %rsi is a length, for
 * some kinds. The return address is in the stub, in front of the distance to the record. It is replaced
 * by that of the point, so that unwinders see the user's function call us.
 *
 * To the compiler a site is no call, so everything that another thread may change while this one stands
 * here is live: flags, all vector registers, the x87 stack. %xmm are saved always; what is beyond them
 * only where the processor says that it is in use.
 */
	.text

#define COMPONENTS 0xe7		/* x87, SSE, AVX, AVX-512 */
#define BEYOND_SSE 0xe5
#define X87 1
#define XSAVE_BYTES 2752	/* of these components, rounded up to 64 */
#define XSAVE_HEADER 512

	.globl	raddle_site_v1
	.type	raddle_site_v1, @function
	.p2align 4
raddle_site_v1:
	.cfi_startproc
	leaq	-8(%rsp), %rsp		/* over the saved %rdi; keeps the flags */
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rdi, 0
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rax, 0
	lahf
	seto	%al
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	cmpb	$0, sites_are_live(%rip)
	je	.Lquiet
	.cfi_remember_state
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rcx, 0
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rdx, 0
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rsi, 0
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r8, 0
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r9, 0
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r10, 0
	pushq	%r11
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r11, 0
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp

	movq	96(%rbp), %rdx		/* return address */
	movslq	3(%rdx), %rax
	leaq	3(%rdx, %rax), %r8	/* the record */
	movslq	(%r8), %rax
	leaq	5(%r8, %rax), %rax	/* behind the point */
	movq	%rax, 96(%rbp)

	xorl	%ebx, %ebx		/* components beyond SSE to save */
	cmpb	$0, sites_vector_check(%rip)
	je	.Lsse
	movl	$1, %ecx
	xgetbv
	andl	$BEYOND_SSE, %eax
	jnz	.Lwide
.Lsse:
	subq	$256, %rsp
	andq	$-16, %rsp
	movaps	%xmm0, (%rsp)
	movaps	%xmm1, 16(%rsp)
	movaps	%xmm2, 32(%rsp)
	movaps	%xmm3, 48(%rsp)
	movaps	%xmm4, 64(%rsp)
	movaps	%xmm5, 80(%rsp)
	movaps	%xmm6, 96(%rsp)
	movaps	%xmm7, 112(%rsp)
	movaps	%xmm8, 128(%rsp)
	movaps	%xmm9, 144(%rsp)
	movaps	%xmm10, 160(%rsp)
	movaps	%xmm11, 176(%rsp)
	movaps	%xmm12, 192(%rsp)
	movaps	%xmm13, 208(%rsp)
	movaps	%xmm14, 224(%rsp)
	movaps	%xmm15, 240(%rsp)
	movq	%r8, %rdx
	cld
	call	site_reached
	movaps	(%rsp), %xmm0
	movaps	16(%rsp), %xmm1
	movaps	32(%rsp), %xmm2
	movaps	48(%rsp), %xmm3
	movaps	64(%rsp), %xmm4
	movaps	80(%rsp), %xmm5
	movaps	96(%rsp), %xmm6
	movaps	112(%rsp), %xmm7
	movaps	128(%rsp), %xmm8
	movaps	144(%rsp), %xmm9
	movaps	160(%rsp), %xmm10
	movaps	176(%rsp), %xmm11
	movaps	192(%rsp), %xmm12
	movaps	208(%rsp), %xmm13
	movaps	224(%rsp), %xmm14
	movaps	240(%rsp), %xmm15

.Lback:
	movq	%rbp, %rsp
	.cfi_def_cfa_register rsp
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	popq	%r11
	.cfi_adjust_cfa_offset -8
	.cfi_restore r11
	popq	%r10
	.cfi_adjust_cfa_offset -8
	.cfi_restore r10
	popq	%r9
	.cfi_adjust_cfa_offset -8
	.cfi_restore r9
	popq	%r8
	.cfi_adjust_cfa_offset -8
	.cfi_restore r8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	.cfi_restore rsi
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rdx
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rcx
.Lquiet:
	popq	%rax
	.cfi_adjust_cfa_offset -8
	addb	$127, %al		/* the overflow flag again */
	sahf
	popq	%rax
	.cfi_adjust_cfa_offset -8
	.cfi_restore rax
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_restore rdi
	ret

	/* Wide vectors or the x87 stack are in use: the processor's own save area. */
.Lwide:
	.cfi_def_cfa rbp, 104
	.cfi_rel_offset rdi, 88
	.cfi_rel_offset rax, 80
	.cfi_rel_offset rcx, 64
	.cfi_rel_offset rdx, 56
	.cfi_rel_offset rsi, 48
	.cfi_rel_offset r8, 40
	.cfi_rel_offset r9, 32
	.cfi_rel_offset r10, 24
	.cfi_rel_offset r11, 16
	.cfi_rel_offset rbp, 8
	.cfi_rel_offset rbx, 0
	movl	%eax, %ebx
	subq	$XSAVE_BYTES, %rsp
	andq	$-64, %rsp
	xorl	%eax, %eax
	movq	%rax, XSAVE_HEADER(%rsp)
	movq	%rax, XSAVE_HEADER+8(%rsp)
	movq	%rax, XSAVE_HEADER+16(%rsp)
	movq	%rax, XSAVE_HEADER+24(%rsp)
	movq	%rax, XSAVE_HEADER+32(%rsp)
	movq	%rax, XSAVE_HEADER+40(%rsp)
	movq	%rax, XSAVE_HEADER+48(%rsp)
	movq	%rax, XSAVE_HEADER+56(%rsp)
	movl	$COMPONENTS, %eax
	xorl	%edx, %edx
	xsave64	(%rsp)
	testl	$X87, %ebx
	jz	1f
	emms				/* the others find an empty stack, as at any call */
1:	movq	%r8, %rdx
	cld
	call	site_reached
	movl	$COMPONENTS, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	.Lback
	.cfi_endproc
	.size	raddle_site_v1, . - raddle_site_v1
	.section .note.GNU-stack, "", @progbits
