/* Every kind of access, one per line; compiled with -O1. */
/* clang-format off */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct place {
	int x, y;
};

struct account {
	int id;
	long balance;
	struct place at;
	char name[16];
	unsigned low : 3, high : 5;
};

extern int plain;
extern volatile short changing;
extern _Atomic int atomic;
extern const int constant;
static const int table[4] = {1, 2, 3, 4};
extern char text[64];
extern __int128 wide;
typedef int v8 __attribute__((vector_size(32)));
void use(int *);

int load(void) { return plain; } /* SITES: load 4 */
void store(int v) { plain = v; } /* SITES: store 4 */
int load_volatile(void) { return changing; } /* SITES: load 2 volatile */
void store_wide(__int128 v) { wide = v; } /* SITES: store 16 */
int unaligned(void) { int v; memcpy(&v, text + 1, 4); return v; } /* SITES: load 4 unaligned */

long field(struct account *a) { return a->balance; } /* SITES: load 8 account.balance */
void inner(struct account *a) { a->at.y = 3; } /* SITES: store 4 account.at.y */
void bit_field(struct account *a) { a->high = 3; } /* SITES: load 1, store 1 */

int relaxed(void) { return atomic_load_explicit(&atomic, memory_order_relaxed); } /* SITES: atomic_load 4 */
int acquire(void) { return atomic_load_explicit(&atomic, memory_order_acquire); } /* SITES: atomic_load 4 acquire */
void release(int v) { atomic_store_explicit(&atomic, v, memory_order_release); } /* SITES: atomic_store 4 release */
void ordered(int v) { atomic = v; } /* SITES: atomic_store 4 seq_cst */
int add(int v) { return atomic_fetch_add_explicit(&atomic, v, memory_order_acq_rel); } /* SITES: update 4 acq_rel */
int swap(int v) { return __sync_lock_test_and_set(&plain, v); } /* SITES: update 4 seq_cst */
int exchange(int *e, int v) { return __atomic_compare_exchange_n(&plain, e, v, 0, 5, 5); } /* SITES: load 4, exchange_if 4 seq_cst, store 4 */
void fence(void) { atomic_thread_fence(memory_order_seq_cst); } /* SITES: fence seq_cst */
void signal_fence(void) { atomic_signal_fence(memory_order_acquire); } /* orders no threads */

void clear(char *p, unsigned long n) { memset(p, 0, n); } /* SITES: write_range */
void copy(char *p, const char *q, unsigned long n) { memcpy(p, q, n); } /* SITES: read_range, write_range */
int compare(const char *p, const char *q) { return memcmp(p, q, 9); } /* SITES: read_range, read_range */
unsigned long length(const char *p) { return strlen(p); } /* SITES: read_string */
void assign(char *p, const char *q) { strcpy(p, q); } /* SITES: read_string, write_string */
void checked(char *p, const char *q, unsigned long n) { __builtin___memcpy_chk(p, q, n, n + 1); } /* SITES: read_range, write_range */
char *append(char *p, const char *q) { return strcat(p, q); } /* SITES: read_string, read_string, write_string appends */
char *append_most(char *p, const char *q) { return strncat(p, q, 3); } /* SITES: read_string, read_string, write_range appends */
char *search(const char *p) { return strchr(p, 'x'); } /* SITES: read_string */

/* Calls that write: the amount is known behind the call. */
long get(char *p, unsigned long n) { return read(0, p, n) + 1; } /* SITES: write_range */
long get_last(char *p, unsigned long n) { return recv(0, p, n, 0); } /* SITES: write_range */
unsigned long get_items(long *p, unsigned n) { return fread(p, 8, n, stdin); } /* SITES: write_range, load 8 */
char *get_line(char *p, int n) { return fgets(p, n, stdin); } /* SITES: write_string, load 8 */
long put(const char *p, unsigned long n) { return write(1, p, n); } /* SITES: read_range */

/* Atomic accesses that libatomic performs. */
struct seven { char bytes[7]; };
extern _Atomic struct seven seven;
void set_seven(struct seven value) { atomic_store_explicit(&seven, value, memory_order_release); } /* SITES: atomic_store 8 release */
__int128 get_wide(_Atomic __int128 *p) { return atomic_load_explicit(p, memory_order_acquire); } /* SITES: atomic_load 16 acquire */
__int128 add_wide(_Atomic __int128 *p) { return *p += 2; } /* SITES: update 16 seq_cst */

__attribute__((target("avx2"))) int gather(const int *p, const v8 *at) { return __builtin_ia32_gatherd_d256(*at, p, *at, *at, 4)[0]; } /* SITES: load 32 vector, opaque */
__attribute__((target("avx"))) int masked(const v8 *p, const v8 *m) { return ((v8)__builtin_ia32_maskloadps256((const void *)p, *m))[0]; } /* SITES: load 32 vector, load 32 vector */

int read_constant(void) { return constant; } /* SITES: load 4 */
/* Another thread cannot notice any of these. */
int read_table(int i) { return table[i & 3]; }
int local(int n)
{
	int values[8];

	for (int i = 0; i < 8; i++)
		values[i] = n * i;
	return values[n & 7];
}
int escaping(void)
{
	int value = 1; /* SITES: store 4 */

	use(&value);
	return value; /* SITES: load 4 */
}

void opaque(void) { __asm__ volatile("nop" : : : "memory"); } /* SITES: opaque */
void harmless(void) { __asm__("" : : "r"(1)); }
int asm_add(int *p) { int r = 1; __asm__ volatile("lock; xaddl %0, %1" : "+r"(r), "+m"(*p) : : "memory", "cc"); return r; } /* SITES: update 4 seq_cst, opaque */
long asm_load(const long *p) { long r; __asm__ volatile("movq %1, %0" : "=r"(r) : "m"(*p) : "memory"); return r; } /* SITES: atomic_load 8 acquire, opaque */
void asm_store(long *p, char *q) { __asm__ volatile("movq %2, %0; movb $1, %1" : "=m"(*p), "=m"(*q) : "r"(1L)); } /* SITES: atomic_store 8 release, atomic_store 1 release, opaque */
void asm_barrier(int *p) { __asm__ volatile("" : "+m"(*p)); } /* SITES: opaque */

static inline __attribute__((always_inline)) int through(int *p)
{
	return *p; /* SITES: load 4 at 110 */
}
int inlined(int *p)
{
	return through(p) + 1;
}
int print(const char *p, const char *q, int n) { return printf("%5d%% %-*s %m %.3s %.*s\n", n, n, p, q, n, q); } /* SITES: read_string, read_string */
int print_to(char *to, const char *p, void *q) { return sprintf(to, "%s %p %ls", p, q, (wchar_t *)q); } /* SITES: read_string, write_range */
int print_some(char *to, unsigned long n, int v) { return snprintf(to, n, "%ld %x", (long)v, v); } /* SITES: write_range */
int print_by_position(const char *p, int v) { return printf("%2$d %1$s", p, v); } /* SITES: */
int scan(const char *p, int *v) { return sscanf(p, "%d", v); } /* SITES: read_string */
