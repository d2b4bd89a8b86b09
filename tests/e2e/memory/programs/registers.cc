// Everything that a site must leave alone, or that happens at sites: vectors of every width, the x87
// stack, flags; exceptions and jumps through functions with sites, handlers with sites, a fork.
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

static volatile double shared[8];
static volatile int rounds;
static volatile sig_atomic_t handled;

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

// Constants of each thread stay in registers over the writes, which are points.
__attribute__((target("avx512f,avx512bw"))) static double wide(double start)
{
	__m512d sum = _mm512_set1_pd(start);
	const __m512d steps = _mm512_set_pd(1, 2, 3, 4, 5, 6, 7, 8);
	const __mmask8 half = 0x5a;
	double lanes[8], all = 0;

	for (int i = 0; i < 4; i++) {
		shared[i] = start;
		sum = _mm512_mask_add_pd(sum, half, sum, steps);
	}
	_mm512_storeu_pd(lanes, sum);
	for (double lane : lanes)
		all += lane;
	return all;
}

__attribute__((target("avx"))) static double middle(double start)
{
	__m256d sum = _mm256_set1_pd(start);
	double lanes[4];

	for (int i = 0; i < 4; i++) {
		shared[i] = start;
		sum = _mm256_add_pd(sum, _mm256_set1_pd(1));
	}
	_mm256_storeu_pd(lanes, sum);
	return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

static double narrow(double start)
{
	double a = start, b = start + 1, c = start + 2;

	for (int i = 0; i < 4; i++) {
		shared[i] = a;
		a += b;
		b += c;
		c += 1;
	}
	return a + b + c;
}

static long double stack(long double start)
{
	long double product = start, factor = start + 1;

	for (int i = 0; i < 4; i++) {
		product *= factor;
		shared[i] = 1;
		factor += 0.5L;
	}
	return product;
}

// The carry of each addition lives in the flags at best.
static unsigned long carries(unsigned long start)
{
	unsigned long low = start, high = 0;

	for (int i = 0; i < 4; i++) {
		high += __builtin_add_overflow(low, 0x7000000000000000UL, &low);
		rounds = i;
	}
	return high;
}

static void throw_odd(int number)
{
	rounds = number;
	if (number % 2)
		throw std::runtime_error("odd");
}

static int throws()
{
	int caught = 0;

	for (int i = 0; i < 4; i++) {
		try {
			throw_odd(i);
		} catch (const std::exception &error) {
			caught += std::strcmp(error.what(), "odd") == 0;
		}
	}
	return caught;
}

static int jumps()
{
	volatile int hops = 0;
	jmp_buf start;

	if (setjmp(start) < 3) {
		hops = hops + 1;
		rounds = hops;
		longjmp(start, hops);
	}
	return hops;
}

static void handle(int)
{
	handled = handled + 1;
}

static void *work(void *argument)
{
	const double number = static_cast<double>(reinterpret_cast<long>(argument));

	check(throws() == 2);
	check(jumps() == 3);
	check(carries(1) == 1);
	check(narrow(number) == number + 4 * (number + 1) + 6 * (number + 2) + 4 + number + 1 +
					4 * (number + 2) + 6 + number + 6);
	check(stack(number) ==
		number * (number + 1) * (number + 1.5L) * (number + 2) * (number + 2.5L));
	if (__builtin_cpu_supports("avx"))
		check(middle(number) == 4 * (number + 4));
	if (__builtin_cpu_supports("avx512bw"))
		check(wide(number) == 8 * number + 4 * (7 + 5 + 4 + 2));
	raise(SIGUSR1);
	return nullptr;
}

int main()
{
	pthread_t threads[3];
	pid_t child;
	int status;

	signal(SIGUSR1, handle);
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], nullptr, work, reinterpret_cast<void *>(i));
	child = fork();
	if (child == 0) {
		work(nullptr);
		_exit(handled > 0 ? 0 : 3);
	}
	check(waitpid(child, &status, 0) == child && status == 0);
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	return 0;
}
