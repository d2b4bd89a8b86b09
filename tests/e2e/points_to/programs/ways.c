/*
 * The ways in which an address gets about. A line with "touches NAME..." touches those variables and, as
 * far as --points-to is to know, no other one.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct node *next;
	int *value;
};

struct pair {
	int *first;
	int *second;
};

struct inner {
	long tag;
	int inside;
};

struct outer {
	int before;
	struct inner inner;
};

int by_field, by_other_field, by_call, by_pointer, by_copy, by_bytes, by_integer, by_argument,
	by_list, by_table, by_thread, by_growth, by_return, by_tag, by_loop[64], unrelated;
struct outer around;
struct pair table[3] = {{&by_table, &unrelated}, {&by_table, NULL}, {NULL, NULL}};
static int hidden; /* ways_other.c has one, too */

void other_unit(void);

#define KEEP __attribute__((noinline, noipa))
#ifdef __clang__
#undef KEEP
#define KEEP __attribute__((noinline, optnone))
#endif

KEEP static void write_first(struct pair *pair)
{
	*pair->first = 1; /* touches by_field */
}

KEEP static void write_second(struct pair *pair)
{
	*pair->second = 1; /* touches by_other_field */
}

KEEP static void called(int *to)
{
	*to = 1; /* touches by_call */
}

KEEP static void through_pointer(void (*function)(int *), int *to)
{
	function(to);
}

KEEP static int *give(int *what)
{
	return what;
}

KEEP static void copy_struct(void)
{
	struct pair from = {&by_copy, NULL}, to;

	memcpy(&to, &from, sizeof to);
	*to.first = 1; /* touches by_copy */
}

KEEP static void copy_bytes(void)
{
	int *from = &by_bytes, *to = NULL;

	for (size_t i = 0; i < sizeof from; i++)
		((char *)&to)[i] = ((const char *)&from)[i];
	*to = 1; /* touches by_bytes */
}

KEEP static void as_integer(void)
{
	uintptr_t number = (uintptr_t)&by_integer;
	int *to;

	number = number ^ 0x55;
	number = number ^ 0x55;
	to = (int *)number;
	*to = 1; /* touches by_integer[] */
}

KEEP static void tagged(void)
{
	uintptr_t number = (uintptr_t)&by_tag | 1;
	int *to = (int *)(number & ~(uintptr_t)1);

	*to = 1; /* touches by_tag */
}

KEEP static void variadic(int count, ...)
{
	va_list arguments, again;

	va_start(arguments, count);
	va_copy(again, arguments);
	*va_arg(again, int *) = 1; /* touches by_argument */
	va_end(again);
	va_end(arguments);
}

KEEP static void list(void)
{
	struct node *head = NULL, *node;

	for (int i = 0; i < 3; i++) {
		node = malloc(sizeof *node);
		if (!node)
			exit(1);
		node->next = head;
		node->value = &by_list;
		head = node;
	}
	for (node = head; node; node = node->next)
		*node->value = 1; /* touches by_list */
}

KEEP static void from_table(int index)
{
	*table[index].first = 1; /* touches by_table */
}

KEEP static void growth(void)
{
	int **array = malloc(sizeof *array);

	if (!array)
		exit(1);
	array[0] = &by_growth;
	array = realloc(array, 4 * sizeof *array);
	if (!array)
		exit(1);
	*array[0] = 1; /* touches by_growth */
	free(array);
}

KEEP static void from_inside(int *inside)
{
	struct outer *outer = (struct outer *)((char *)inside - 16);

	outer->before = 1; /* touches around.before */
	*inside = 1;	   /* touches around.inner.inside */
}

KEEP static void loop(int *from, const int *end)
{
	for (; from < end; from++)
		*from = 1; /* touches by_loop[] */
}

KEEP static void own_hidden(int *to)
{
	*to = 1; /* touches hidden */
}

static void *thread(void *argument)
{
	*(int *)argument = 1; /* touches by_thread[] */
	return argument;
}

int main(void)
{
	struct pair pair = {&by_field, &by_other_field};
	int *unused = &unrelated;
	pthread_t other;

	write_first(&pair);
	write_second(&pair);
	through_pointer(called, &by_call);
	*give(&by_return) = 1; /* touches by_return */
	copy_struct();
	copy_bytes();
	as_integer();
	tagged();
	variadic(1, &by_argument);
	list();
	from_table(1);
	growth();
	from_inside(&around.inner.inside);
	loop(by_loop, by_loop + 64);
	if (pthread_create(&other, NULL, thread, &by_thread))
		return 1;
	pthread_join(other, NULL);
	own_hidden(&hidden);
	*unused = 1; /* touches unrelated */
	other_unit();
	return !(by_field && by_other_field && by_call && by_copy && by_bytes && by_integer &&
		 by_argument && by_list && by_table && by_growth && by_return && by_tag &&
		 by_loop[63] && around.before && around.inner.inside && by_thread);
}
