#include "base/files/inherited.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Descriptors below this number are checked at the start of main. A shell passes small numbers
 * only; raddle closes all larger ones.
 */
#define INHERITED_MAX 256

/* Written once, by inherited_note(). */
static struct {
	bool is_noted;
	bool is_open[INHERITED_MAX];
} inherited;

void inherited_note(void)
{
	for (int fd = 3; fd < INHERITED_MAX; fd++)
		inherited.is_open[fd] = fcntl(fd, F_GETFD) >= 0;
	inherited.is_noted = true;
}

void inherited_close_others_on_exec(void)
{
	unsigned first = 3;

	if (!inherited.is_noted)
		return;
	for (unsigned fd = 3; fd < INHERITED_MAX; fd++) {
		if (!inherited.is_open[fd])
			continue;
		/* fails before Linux 5.11: the target then inherits more descriptors */
		if (fd > first)
			(void)syscall(
				SYS_close_range, first, fd - 1, (unsigned)CLOSE_RANGE_CLOEXEC);
		first = fd + 1;
	}
	(void)syscall(SYS_close_range, first, UINT_MAX, (unsigned)CLOSE_RANGE_CLOEXEC);
}
