/* Table of descriptors: class, whether another process can make it ready, and its object in the
 * engine. Descriptors beyond the table are looked up in the kernel each time and count as
 * external. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "runtime/libc/family.h"
#include "runtime/interpose.h"
#include "runtime/libc/world.h"

#define FD_TABLE_SIZE 1024

struct fd_entry {
	uint8_t class;
	bool is_internal;
	bool is_of_family; /* internal when a forked child got a copy */
	bool has_object;
	uint16_t object; /* the entry that stands for the object, if has_object */
};

/* Written by calls that create, duplicate and close descriptors, and by look-ups. */
static struct {
	struct fd_entry entries[FD_TABLE_SIZE];
	struct fd_entry beyond; /* its address stands for every descriptor outside the table */
} table;

static struct fd_entry *fd_entry(int fd)
{
	return fd >= 0 && fd < FD_TABLE_SIZE ? &table.entries[fd] : NULL;
}

#define DEVICE_RANDOM makedev(1, 8)
#define DEVICE_URANDOM makedev(1, 9)

static enum fd_class fd_ask_kernel(int fd)
{
	struct stat status;

	if (platform_failed(platform_call(SYS_fstat, fd, &status)))
		return FD_PLAIN;
	switch (status.st_mode & S_IFMT) {
	case S_IFIFO:
		return FD_PIPE;
	case S_IFSOCK:
		return FD_SOCKET;
	case S_IFCHR:
		return status.st_rdev == DEVICE_RANDOM || status.st_rdev == DEVICE_URANDOM
			       ? FD_RANDOM
			       : FD_CHARACTER;
	case 0: /* anonymous inodes: eventfd, timerfd, epoll, ... */
		return FD_EVENT;
	default:
		return FD_PLAIN;
	}
}

enum fd_class fd_classify(int fd)
{
	struct fd_entry *entry = fd_entry(fd);
	enum fd_class class;

	if (entry && entry->class != FD_UNKNOWN)
		return entry->class;
	class = fd_ask_kernel(fd);
	/* Plain files are not cached: libc may close them internally and reuse the number. */
	if (entry && class != FD_PLAIN)
		entry->class = (uint8_t) class;
	return class;
}

void fd_randomise(int fd, const struct iovec *vector, int count, long result)
{
	const struct fd_entry *entry = fd_entry(fd);
	size_t left = result > 0 ? (size_t)result : 0;

	if (!entry || entry->class != FD_RANDOM)
		return;
	for (int i = 0; i < count && left; i++) {
		size_t bytes = vector[i].iov_len < left ? vector[i].iov_len : left;

		runtime_random_bytes(vector[i].iov_base, bytes);
		left -= bytes;
	}
}

bool fd_is_internal(int fd)
{
	const struct fd_entry *entry = fd_entry(fd);

	return entry && entry->is_internal;
}

bool fd_is_of_family(int fd)
{
	const struct fd_entry *entry = fd_entry(fd);

	return entry && entry->is_of_family && !family_has_stranger();
}

bool fd_is_of_signals(int fd)
{
	const struct fd_entry *entry = fd_entry(fd);

	return entry && entry->class == FD_SIGNALFD;
}

const void *fd_object(int fd)
{
	const struct fd_entry *entry = fd_entry(fd);

	if (!entry)
		return &table.beyond;
	return entry->has_object ? &table.entries[entry->object] : entry;
}

bool fd_object_is_whole(const void *object)
{
	const struct fd_entry *entry = object;

	return entry != &table.beyond && (entry->has_object || entry->class >= FD_EVENTFD);
}

uint16_t fd_number(int fd)
{
	static const uint8_t nouns[] = {[FD_PIPE] = DESCRIPTOR_PIPE,
		[FD_SOCKET] = DESCRIPTOR_SOCKET,
		[FD_CHARACTER] = DESCRIPTOR_CHARACTER,
		[FD_EVENTFD] = DESCRIPTOR_EVENTFD,
		[FD_EPOLL] = DESCRIPTOR_EPOLL,
		[FD_TIMERFD] = DESCRIPTOR_TIMERFD,
		[FD_SIGNALFD] = DESCRIPTOR_FILE,
		[FD_EVENT] = DESCRIPTOR_FILE};
	const struct fd_entry *entry = fd_entry(fd);
	const uint8_t noun = entry ? nouns[entry->class] : 0;

	return descriptor_number(noun ? noun : DESCRIPTOR_FILE, fd);
}

void fd_point(enum call_kind call, int fd, uint64_t site)
{
	struct engine_op op = {.kind = OP_FD_WRITE,
		.call = (uint8_t)call,
		.number = fd_number(fd),
		.address = fd_object(fd),
		.site = site,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op);
}

void fd_opened(int fd, enum fd_class class, bool is_internal, int peer)
{
	struct fd_entry *entry = fd_entry(fd);

	loopback_forget(fd);
	if (!entry)
		return;
	*entry = (struct fd_entry){.class = (uint8_t) class, .is_internal = is_internal};
	if (fd_entry(peer)) {
		entry->has_object = true;
		entry->object = (uint16_t)peer;
	}
}

void fd_duplicated(int fd, int copy)
{
	struct fd_entry *from = fd_entry(fd);
	struct fd_entry *to = fd_entry(copy);

	if (!to)
		return;
	if (!from) {
		*to = (struct fd_entry){0};
		return;
	}
	*to = *from;
	if (!to->has_object) {
		to->has_object = true;
		to->object = (uint16_t)fd;
	}
}

void fd_forget(int fd)
{
	struct fd_entry *entry = fd_entry(fd);

	timerfd_forget(fd);
	loopback_forget(fd);
	if (entry)
		*entry = (struct fd_entry){0};
}

void fd_watched(int epoll_fd, int fd)
{
	struct fd_entry *entry = fd_entry(epoll_fd);

	if (!entry || fd_is_internal(fd))
		return;
	loopback_watched(epoll_fd, fd);
	entry->is_of_family = (entry->is_internal || entry->is_of_family) && fd_is_of_family(fd);
	entry->is_internal = false;
}

void fd_were_inherited(void)
{
	loopback_forget_all();
	for (int fd = 0; fd < FD_TABLE_SIZE; fd++) {
		table.entries[fd].is_of_family |= table.entries[fd].is_internal;
		table.entries[fd].is_internal = false;
	}
}

void fd_was_sent(int fd)
{
	struct fd_entry *entry = fd_entry(fd);

	loopback_forget_all();
	if (entry)
		entry->is_internal = entry->is_of_family = false;
}

bool fd_waits(int fd)
{
	long flags = platform_call(SYS_fcntl, fd, F_GETFL);

	return !platform_failed(flags) && !(flags & O_NONBLOCK);
}

bool fd_is_known_socket(int fd)
{
	const struct fd_entry *entry = fd_entry(fd);

	return entry && entry->class == FD_SOCKET;
}

bool fd_is_own_epoll(int fd)
{
	const struct fd_entry *entry = fd_entry(fd);

	return entry && entry->class == FD_EPOLL;
}
