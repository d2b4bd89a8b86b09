/* usage: places KIND. A thread crashes by a call, or an access, that only an address can describe. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *kind;

/* movl 0x44, %eax */
static const unsigned char code[] = {0x8b, 0x04, 0x25, 0x44, 0, 0, 0};

static void *copy_of_code(void)
{
	void *page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : memcpy(page, code, sizeof code);
}

struct block {
	long first, second;
	int counts[4], *last;
};

static void *crash(void *function)
{
	struct block *volatile block = calloc(1, sizeof *block);
	int *volatile wild = (int *)0x1234568;
	int *volatile overwritten = (int *)0x5a5a5a5a5a5a5a5a;

	if (strstr(kind, "call"))
		((void (*)(void))function)(); /* LINE call */
	if (!strcmp(kind, "overwritten"))
		*overwritten = 1; /* LINE overwritten */
	if (!strcmp(kind, "once") && open("created", O_CREAT | O_EXCL, 0600) >= 0)
		*wild = 1; /* LINE once */
	if (!strcmp(kind, "null_lock"))
		pthread_mutex_lock((pthread_mutex_t *)function); /* LINE null_lock */
	block->last = block->counts;
	free(block);
	if (!strcmp(kind, "freed"))
		block->last[2] = 1; /* LINE freed */
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t thread;
	void *function = NULL;

	if (count < 2)
		return 2;
	kind = arguments[1];
	if (!strcmp(kind, "wild_call"))
		function = (void *)0x1234568;
	if (!strcmp(kind, "generated_call"))
		function = copy_of_code();
	pthread_create(&thread, NULL, crash, function);
	return pthread_join(thread, NULL);
}
