/* orders PROGRAM FINALS [no] OUTCOME...: runs a litmus test, and aborts if the outcome is among the outcomes; with
 * "no": if it is not. PROGRAM: threads separated by |, operations by spaces. An operation is a letter W (store),
 * R (load), X (exchange), A (add), C (compare-exchange from 0) or F (fence), then a letter for its memory order:
 * n (not atomic), r, c (consume), a, l (release), b (both), s (sequentially consistent), then variable and value: "Wrx1 Fs Ray".
 * The operation B ends the thread if its last result is 0; the results of the operations behind are then "-".
 * An outcome has the results of all operations but stores and fences, then the last values of the variables in FINALS.
 * The program appends each outcome to the file that ORDERS_SEEN in the environment names. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int variables[3];
static char results[64]; /* sixteen for each thread */
struct thread {
	const char *program;
	char *results;
};

static void store(atomic_int *at, char order, int value)
{
	switch (order) {
	case 'n':
		*(int *)at = value;
		return;
	case 'r':
		atomic_store_explicit(at, value, memory_order_relaxed);
		return;
	case 'l':
		atomic_store_explicit(at, value, memory_order_release);
		return;
	default:
		atomic_store(at, value);
	}
}
static int load(atomic_int *at, char order)
{
	switch (order) {
	case 'n':
		return *(int *)at;
	case 'r':
		return atomic_load_explicit(at, memory_order_relaxed);
	case 'c':
		return atomic_load_explicit(at, memory_order_consume);
	case 'a':
		return atomic_load_explicit(at, memory_order_acquire);
	default:
		return atomic_load(at);
	}
}
static int exchange(atomic_int *at, char order, int value)
{
	switch (order) {
	case 'r':
		return atomic_exchange_explicit(at, value, memory_order_relaxed);
	case 'c':
		return atomic_exchange_explicit(at, value, memory_order_consume);
	case 'a':
		return atomic_exchange_explicit(at, value, memory_order_acquire);
	case 'l':
		return atomic_exchange_explicit(at, value, memory_order_release);
	case 'b':
		return atomic_exchange_explicit(at, value, memory_order_acq_rel);
	default:
		return atomic_exchange(at, value);
	}
}
static int add(atomic_int *at, char order, int value)
{
	if (order == 'r')
		return atomic_fetch_add_explicit(at, value, memory_order_relaxed);
	return atomic_fetch_add_explicit(at, value, memory_order_acq_rel);
}
static int compare_exchange(atomic_int *at, char order, int value)
{
	int expected = 0;

	if (order == 'r')
		atomic_compare_exchange_strong_explicit(
			at, &expected, value, memory_order_relaxed, memory_order_relaxed);
	else
		atomic_compare_exchange_strong(at, &expected, value);
	return expected;
}
static void fence(char order)
{
	switch (order) {
	case 'c':
		atomic_thread_fence(memory_order_consume);
		return;
	case 'a':
		atomic_thread_fence(memory_order_acquire);
		return;
	case 'l':
		atomic_thread_fence(memory_order_release);
		return;
	case 'b':
		atomic_thread_fence(memory_order_acq_rel);
		return;
	default:
		atomic_thread_fence(memory_order_seq_cst);
	}
}

static void *run(void *argument)
{
	const struct thread *thread = argument;
	char *result = thread->results;
	int has_ended = 0;

	for (const char *p = thread->program; *p && *p != '|'; p += strcspn(p, " |")) {
		p += *p == ' ';
		if (!*p || *p == '|')
			break;
		if (has_ended) {
			if (!strchr("WFB", *p))
				*result++ = '-';
			continue;
		}
		if (*p == 'F' || *p == 'B') {
			if (*p == 'F')
				fence(p[1]);
			else
				has_ended = result[-1] == '0';
			continue;
		}
		atomic_int *at = &variables[p[2] - 'x'];
		const int value = p[3] - '0';

		if (*p == 'W')
			store(at, p[1], value);
		else
			*result++ = (char)('0' + (*p == 'R'	     ? load(at, p[1])
							 : *p == 'X' ? exchange(at, p[1], value)
							 : *p == 'A' ? add(at, p[1], value)
								     : compare_exchange(
									       at, p[1], value)));
	}
	return NULL;
}

static void append(const char *seen)
{
	const char *name = getenv("ORDERS_SEEN");
	const int file = name ? open(name, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
	char line[80] = "";

	if (file < 0)
		return;
	strcat(strcpy(line, seen), "\n");
	if (write(file, line, strlen(line)) <
		0) /* one call, because another run may continue between two */
		abort();
	close(file);
}

int main(int argc, char **argv)
{
	char seen[72] = "";
	pthread_t ids[4];
	struct thread threads[4];
	int count = 0;

	for (char *p = argv[1]; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL) {
		threads[count] = (struct thread){p, results + 16 * count};
		count++;
	}
	for (int i = 0; i < count; i++)
		pthread_create(&ids[i], NULL, run, &threads[i]);
	for (int i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < count; i++)
		strcat(seen, threads[i].results);
	for (const char *p = argv[2]; *p; p++)
		strncat(seen, &(char){(char)('0' + variables[*p - 'x'])}, 1);
	append(seen);
	const int is_negated = argc > 3 && strcmp(argv[3], "no") == 0;
	int is_listed = 0;
	for (int i = 3 + is_negated; i < argc; i++)
		is_listed |= strcmp(seen, argv[i]) == 0;
	if (argc > 3 && is_listed != is_negated)
		abort();
	return 0;
}
