/* Code of every shape that a compiler treats specially: prints the same with sites and without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int four __attribute__((vector_size(16)));

struct large {
	long values[40];
};

struct packed {
	char tag;
	int number;
} __attribute__((packed));

struct bits {
	unsigned low : 3;
	signed middle : 11;
	unsigned long high : 40;
};

static int counter;
static struct packed packed = {'p', 5};
static struct bits bits;
static __int128 wide;
static four lanes[8];
static jmp_buf back;
static _Thread_local int own = 3;
static _Atomic struct large atomic_large;
static volatile int changing = 9;

static int add_all(int count, ...)
{
	va_list list;
	int sum = 0;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += i % 2 ? (int)va_arg(list, double) : va_arg(list, int);
	va_end(list);
	return sum;
}

static struct large make_large(struct large from, int step)
{
	for (int i = 0; i < 40; i++)
		from.values[i] += i * step;
	return from;
}

/* The recursion is deep: it needs calls in the place of a return, which the compiler makes when it optimises. */
__attribute__((noinline)) static int last_odd(int n);
__attribute__((noinline)) static int last_even(int n)
{
	counter++;
	if (n == 0)
		return 1;
#ifdef __clang__
	__attribute__((musttail))
#endif
	return last_odd(n - 1);
}
__attribute__((noinline)) static int last_odd(int n)
{
	counter++;
	if (n == 0)
		return 0;
#ifdef __clang__
	__attribute__((musttail))
#endif
	return last_even(n - 1);
}

static int interpret(const char *program)
{
	static void *const places[] = {&&add, &&twice, &&end};
	int value = 1;

	goto *places[*program++ - '0'];
add:
	value += counter & 3;
	goto *places[*program++ - '0'];
twice:
	value *= 2;
	goto *places[*program++ - '0'];
end:
	return value;
}

__attribute__((noinline)) static void jump(int value)
{
	counter = value;
	longjmp(back, value);
}

static int jump_back(void)
{
	volatile int kept = 4;
	int got = setjmp(back);

	if (!got) {
		kept = 6;
		jump(17);
	}
	return got + kept;
}

static int assembly(int value)
{
	int result;

	__asm__ volatile("leal 3(%1), %0\n\taddl %2, %0"
			 : "=&r"(result)
			 : "r"(value), "m"(counter)
			 : "memory", "cc");
	__asm__ goto("cmpl $0, %0\n\tje %l1" : : "r"(result) : "cc" : zero);
	return result;
zero:
	return -1;
}

/* Flags, and more values than there are registers, live across accesses. */
__attribute__((noinline)) static uint64_t mix(uint64_t *p, int n)
{
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
	double x = 1.5, y = 0.25;

	for (int i = 0; i < n; i++) {
		a += p[i] * b;
		b ^= p[(i + 1) % n] + c;
		c += __builtin_add_overflow(a, p[i], &d) + p[(i + 3) % n];
		e = (e << 7 | e >> 57) ^ d;
		f += p[i] > b ? e : f;
		g -= p[(i + 5) % n];
		h ^= g + a;
		x = x * 0.5 + (double)(h & 0xff);
		y += x * p[i];
		p[i] = h;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ (uint64_t)x ^ (uint64_t)(int64_t)(y / 1e12);
}

static void print_vectors(void)
{
	for (int i = 0; i < 8; i++)
		lanes[i] = (four){i, i + 1, i + 2, i + 3} * (four){2, 3, 5, 7};
	for (int i = 1; i < 8; i++)
		lanes[0] += lanes[i];
	printf("vectors %d %d %d %d\n", lanes[0][0], lanes[0][1], lanes[0][2], lanes[0][3]);
}

static void print_variable_array(int n)
{
	int values[n];
	int sum = 0;

	for (int i = 0; i < n; i++)
		values[i] = i * changing;
	for (int i = 0; i < n; i++)
		sum += values[i];
	printf("array %d\n", sum);
}

/* The write behind the loop uses the loop's last pointer, which comes from two copies of the loop. */
__attribute__((noinline)) static char *write_digits(const uint8_t *digest, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 20; i++) {
		*text++ = digits[digest[i] >> 4];
		*text++ = digits[digest[i] & 15];
	}
	*text = '\0';
	return text;
}

static void print_strings(char *heap)
{
	strcpy(heap, "raddle");
	strcat(heap, " combs");
	memmove(heap + 2, heap, strlen(heap) + 1);
	printf("strings %s %d %d\n", heap, memcmp(heap, "ra", 2), strncmp(heap + 2, "rad", 3));
}

/* The number of bytes is known only behind the call. */
static void print_read(char *heap)
{
	FILE *file = tmpfile();
	long got;

	if (!file || fputs("first line\nsecond line\n", file) < 0 || fflush(file) != 0)
		exit(1);
	rewind(file);
	got = read(fileno(file), heap, 5);
	printf("read %ld %.5s %ld\n", got, heap, (long)read(-1, heap, 5));
	rewind(file);
	printf("got %s", fgets(heap, 30, file) ? heap : "nothing");
	printf("items %lu\n", (unsigned long)fread(heap, 3, 20, file));
	printf("got %s\n", fgets(heap, 30, file) ? heap : "nothing");
	(void)fclose(file);
}

int main(void)
{
	struct large large = make_large((struct large){{1, 2, 3}}, 3);
	uint64_t numbers[64];
	char *heap = malloc(64);

	for (int i = 0; i < 64; i++)
		numbers[i] = (uint64_t)i * 0x9e3779b97f4a7c15;
	if (!heap)
		return 1;
	printf("sum %d\n", add_all(4, 1, 2.0, 3, 4.0));
	atomic_store(&atomic_large, large);
	large = atomic_load(&atomic_large);
	printf("large %ld\n", large.values[39] + large.values[2]);
	packed.number += own++;
	bits.low = 5;
	bits.middle = -300;
	bits.high = 0xfedcba9876;
	printf("packed %d bits %u %d %lx\n", packed.number, bits.low, bits.middle, (long)bits.high);
	__atomic_store_n(&wide, (__int128)7 << 70, __ATOMIC_SEQ_CST);
	wide += __atomic_fetch_add(&wide, 9, __ATOMIC_ACQ_REL);
	printf("wide %lx %lx\n", (long)(wide >> 64), (long)wide);
	printf("tail %d\n", last_even(3000001));
	printf("goto %d\n", interpret("0110102"));
	printf("jump %d\n", jump_back());
	printf("assembly %d\n", assembly(4));
	printf("mix %lx\n", (long)mix(numbers, 64));
	printf("digits %ld", (long)(write_digits((const uint8_t *)numbers, heap) - heap));
	printf(" %s\n", heap);
	print_vectors();
	print_variable_array(20);
	print_strings(heap);
	print_read(heap);
	free(heap);
	return 0;
}
