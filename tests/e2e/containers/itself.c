/*
 * Prints the facts that a process knows about itself: its file, its arguments and environment in
 * memory and in /proc, and its rights. --addresses adds the addresses of its memory.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;
static int variable;

static void print_file(const char *path)
{
	FILE *file = fopen(path, "r");
	int byte;

	if (!file)
		exit(1);
	printf("%s:", path);
	while ((byte = getc(file)) != EOF)
		putchar(byte ? byte : '\n');
	putchar('\n');
	(void)fclose(file);
}

static void *print_addresses(void *unused)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	printf("code %p data %p stack %p heap %p large %p page %p break %p libc %p\n",
		(void *)print_addresses, (void *)&variable, (void *)&page, malloc(10),
		malloc(1000000), page, sbrk(0), (void *)puts);
	return unused;
}

/* Main's stack grows up to its limit, and no further. */
static size_t deepen(size_t bytes)
{
	volatile char frame[16384];

	frame[0] = (char)bytes;
	return bytes < sizeof frame ? frame[0] : deepen(bytes - sizeof frame) + (size_t)frame[0];
}

int main(int argument_count, char **arguments)
{
	char path[4096] = {0};
	void *before;
	pthread_t thread;

	if (argument_count > 1 && strcmp(arguments[1], "--addresses") == 0) {
		(void)print_addresses(NULL);
		return pthread_create(&thread, NULL, print_addresses, NULL) ||
		       pthread_join(thread, NULL);
	}
	if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
		return 1;
	printf("file %s, started as %s\n", path, (const char *)getauxval(AT_EXECFN));
	for (int i = 0; i < argument_count; i++)
		puts(arguments[i]);
	for (char **entry = environ; *entry; entry++)
		puts(*entry);
	print_file("/proc/self/cmdline");
	print_file("/proc/self/comm");
	/* Nothing is allocated between these calls: printing has made the heap. */
	before = sbrk(0);
	printf("break %d\n", sbrk(5000) == before && (char *)sbrk(0) == (char *)before + 5000);
	printf("deep %d\n", deepen((size_t)6 * 1024 * 1024) != 1);
	return 0;
}
