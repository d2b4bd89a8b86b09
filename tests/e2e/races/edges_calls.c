/*
 * Two threads and memory that calls access for them: `edges_calls CASE ordered|racy`. Each case orders the
 * accesses by one means, and in its racy form just fails to.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static bool is_racy;
static char text[32] = "to be seen";
static char more[8] = ", here";
static int value;
static int descriptors[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic __int128 wide;
static _Thread_local volatile int seen; /* keeps reads from being optimised away */

static void with_thread(void *(*body)(void *), void (*meanwhile)(void))
{
	pthread_t thread;

	pthread_create(&thread, NULL, body, NULL);
	meanwhile();
	pthread_join(thread, NULL);
}

/* The end of a string is overwritten, and nothing before it. */
static void *append_body(void *argument)
{
	pthread_mutex_lock(&mutex);
	strcat(text, more);
	pthread_mutex_unlock(&mutex);
	return argument;
}

static void append_meanwhile(void)
{
	seen = text[0] + text[3];
	if (!is_racy)
		pthread_mutex_lock(&mutex);
	seen = text[16]; /* the zero behind it */
	if (!is_racy)
		pthread_mutex_unlock(&mutex);
}

static void case_append(void)
{
	with_thread(append_body, append_meanwhile);
}

static void *append_most_body(void *argument)
{
	pthread_mutex_lock(&mutex);
	strncat(text, more, 3);
	pthread_mutex_unlock(&mutex);
	return argument;
}

static void append_most_meanwhile(void)
{
	if (!is_racy)
		pthread_mutex_lock(&mutex);
	seen = text[10];
	if (!is_racy)
		pthread_mutex_unlock(&mutex);
}

static void case_append_most(void)
{
	with_thread(append_most_body, append_most_meanwhile);
}

/* snprintf() writes at most as much as the buffer holds. */
static void *print_body(void *argument)
{
	snprintf(text, 6, "%s%d", more, value);
	return argument;
}

static void print_meanwhile(void)
{
	seen = text[is_racy ? 5 : 6];
}

static void case_print(void)
{
	with_thread(print_body, print_meanwhile);
}

/* A string is read that another thread writes. */
static void *printed_body(void *argument)
{
	more[is_racy ? 2 : 3] = '-';
	return argument;
}

static void printed_meanwhile(void)
{
	printf("%.3s\n", more);
}

static void case_printed(void)
{
	with_thread(printed_body, printed_meanwhile);
}

/* read() writes the data when they have arrived, not when the wait begins. */
static void *read_body(void *argument)
{
	return read(descriptors[0], text, sizeof text) == 1 ? argument : argument;
}

static void read_meanwhile(void)
{
	if (!is_racy)
		text[0] = 'x';
	if (write(descriptors[1], more, 1) != 1)
		exit(1);
	if (is_racy)
		text[0] = 'x';
}

static void case_read(void)
{
	if (pipe(descriptors) != 0)
		exit(1);
	with_thread(read_body, read_meanwhile);
}

/* read() writes only the data that have arrived: a byte. */
static void read_less_meanwhile(void)
{
	if (write(descriptors[1], more, is_racy ? 2 : 1) < 1)
		exit(1);
	text[1] = 'x';
}

static void case_read_less(void)
{
	if (pipe(descriptors) != 0)
		exit(1);
	with_thread(read_body, read_less_meanwhile);
}

/* The same for recvmsg() and the sender. */
static void *receive_body(void *argument)
{
	struct iovec vector = {text, sizeof text};
	struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};

	return recvmsg(descriptors[0], &message, 0) == 1 ? argument : argument;
}

static void receive_meanwhile(void)
{
	if (!is_racy)
		text[0] = 'x';
	if (send(descriptors[1], more, 1, 0) != 1)
		exit(1);
	if (is_racy)
		text[0] = 'x';
}

static void case_receive(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, descriptors) != 0)
		exit(1);
	with_thread(receive_body, receive_meanwhile);
}

static void *get_line_body(void *argument)
{
	FILE *stream = fmemopen(more, 6, "r");

	if (!stream || fgets(text, sizeof text, stream) != text)
		exit(1);
	fclose(stream);
	return argument;
}

static void get_line_meanwhile(void)
{
	text[is_racy ? 5 : 16] = 'x';
}

static void case_get_line(void)
{
	with_thread(get_line_body, get_line_meanwhile);
}

static void *get_items_body(void *argument)
{
	FILE *stream = fmemopen(more, 6, "r");

	if (!stream || fread(text, 2, 10, stream) != 3)
		exit(1);
	fclose(stream);
	return argument;
}

static void get_items_meanwhile(void)
{
	text[is_racy ? 5 : 16] = 'x';
}

static void case_get_items(void)
{
	with_thread(get_items_body, get_items_meanwhile);
}

/* Memory is freed: as good as written. */
static int *block;
static bool is_gone;

static void *free_body(void *argument)
{
	pthread_mutex_lock(&mutex);
	is_gone = true;
	pthread_mutex_unlock(&mutex);
	free(block);
	return argument;
}

static void free_meanwhile(void)
{
	bool is_there;

	pthread_mutex_lock(&mutex);
	is_there = !is_gone;
	if (is_there && !is_racy)
		seen = *block;
	pthread_mutex_unlock(&mutex);
	if (is_there && is_racy)
		seen = *block;
}

static void case_free(void)
{
	block = calloc(1, sizeof *block);
	with_thread(free_body, free_meanwhile);
}

/* Sixteen bytes: a call of libatomic. */
static void *wide_body(void *argument)
{
	value++;
	if (is_racy)
		atomic_store_explicit(&wide, 1, memory_order_relaxed);
	else
		atomic_store_explicit(&wide, 1, memory_order_release);
	return argument;
}

static void wide_meanwhile(void)
{
	if (atomic_load_explicit(&wide, memory_order_acquire) == 1)
		seen = value;
}

static void case_wide(void)
{
	with_thread(wide_body, wide_meanwhile);
}

/* Results in static memory: a copy is made under the lock, or the memory is read behind it. */
static void *calendar_body(void *argument)
{
	const time_t day = 1000000000;

	pthread_mutex_lock(&mutex);
	seen = gmtime(&day)->tm_year;
	pthread_mutex_unlock(&mutex);
	return argument;
}

static void calendar_meanwhile(void)
{
	const time_t day = 0;
	const struct tm *tm;

	pthread_mutex_lock(&mutex);
	tm = localtime(&day);
	if (!is_racy)
		seen = tm->tm_year;
	pthread_mutex_unlock(&mutex);
	if (is_racy)
		seen = tm->tm_year;
}

static void case_calendar(void)
{
	with_thread(calendar_body, calendar_meanwhile);
}

static void *date_body(void *argument)
{
	const time_t day = 1000000000;

	pthread_mutex_lock(&mutex);
	seen = ctime(&day)[0];
	pthread_mutex_unlock(&mutex);
	return argument;
}

static void date_meanwhile(void)
{
	const struct tm tm = {.tm_mday = 1};

	if (!is_racy)
		pthread_mutex_lock(&mutex);
	seen = asctime(&tm)[0];
	if (!is_racy)
		pthread_mutex_unlock(&mutex);
}

static void case_date(void)
{
	with_thread(date_body, date_meanwhile);
}

/* State without an address. */
static void *token_body(void *argument)
{
	char words[] = "one two";

	pthread_mutex_lock(&mutex);
	seen = strtok(words, " ")[0];
	pthread_mutex_unlock(&mutex);
	return argument;
}

static void token_meanwhile(void)
{
	char words[] = "three four", *rest;

	seen = (is_racy ? strtok(words, " ") : strtok_r(words, " ", &rest))[0];
}

static void case_token(void)
{
	with_thread(token_body, token_meanwhile);
}

static void *environment_body(void *argument)
{
	const char *home = getenv("HOME");

	seen = home ? home[0] : 0;
	return argument;
}

static void environment_meanwhile(void)
{
	if (is_racy)
		setenv("COLOUR", "blue", 1);
	else
		seen = getenv("COLOUR") != NULL;
}

static void case_environment(void)
{
	with_thread(environment_body, environment_meanwhile);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"append", case_append}, {"append_most", case_append_most},
		{"print", case_print}, {"printed", case_printed}, {"read", case_read},
		{"read_less", case_read_less}, {"receive", case_receive},
		{"get_line", case_get_line}, {"get_items", case_get_items}, {"free", case_free},
		{"wide", case_wide}, {"calendar", case_calendar}, {"date", case_date},
		{"token", case_token}, {"environment", case_environment}};

	is_racy = argc == 3 && strcmp(argv[2], "racy") == 0;
	for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof *cases; i++) {
		if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	}
	return 2;
}
