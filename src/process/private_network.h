/*
 * A network for the processes of one worker: a Linux network namespace with a loopback device and nothing else. Processes
 * in different networks can bind the same port at the same time.
 *
 * A user without privileges may make such a network only in a user namespace. Processes in there may not open files by
 * the command's /proc/PID/fd. So a helper process inside the namespaces keeps the file by which the runtime finds its
 * command.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct private_network {
	pid_t helper; /* 0: no network is open */
	int network;  /* descriptor of the namespace */
	int user;     /* descriptor of the user namespace; -1: the command's */
};

/* Makes a network. Its helper keeps `file` with the same number. Returns false if the system does not permit it. */
bool private_network_open(struct private_network *network, int file);
void private_network_close(struct private_network *network);
/* Moves the calling process into the network. Makes system calls only. Returns 0 or errno. */
int private_network_enter(const struct private_network *network);
