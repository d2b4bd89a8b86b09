/* EXPECT: passed runs=10 */
/* A program that ends no thread by pthread_exit or cancellation does not pay for libgcc_s. */
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "check.h"

static int look(struct dl_phdr_info *info, size_t size, void *is_there)
{
	(void)size;
	*(int *)is_there |= strstr(info->dlpi_name, "libgcc_s") != NULL;
	return 0;
}

static void *work(void *argument)
{
	return argument;
}

int main(void)
{
	pthread_t thread;
	int is_there = 0;

	MUST(pthread_create(&thread, NULL, work, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	dl_iterate_phdr(look, &is_there);
	CHECK(!is_there);
	return check_status();
}
