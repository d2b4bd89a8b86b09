/*
 * The link of parallel/remote/link.h over MPI. An MPI error is treated like the loss of a rank: the
 * ranks that wait for it notice. OpenMPI 4 ends the job when a rank dies, unless mpirun has
 * --enable-recovery.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parallel/remote/link.h"

/* A message being sent: its bytes must stay valid. */
struct sending {
	struct sending *next;
	MPI_Request request;
	char bytes[];
};

static struct sending *sendings;
static struct link link_mpi;

static void link_mpi_free_sent(void)
{
	for (struct sending **at = &sendings; *at;) {
		struct sending *sending = *at;
		int is_done = 0;

		/* an error also ends the sending */
		if (MPI_Test(&sending->request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
			!is_done) {
			at = &sending->next;
			continue;
		}
		*at = sending->next;
		free(sending);
	}
}

static void link_mpi_send(uint32_t to, uint32_t tag, const void *bytes, size_t size)
{
	struct sending *sending = malloc(sizeof *sending + size);

	if (!sending)
		abort();
	if (size)
		memcpy(sending->bytes, bytes, size);
	link_mpi_free_sent();
	if (MPI_Isend(sending->bytes, (int)size, MPI_BYTE, (int)to, (int)tag, MPI_COMM_WORLD,
		    &sending->request) != MPI_SUCCESS) {
		free(sending);
		return;
	}
	sending->next = sendings;
	sendings = sending;
}

/* A long message never completes if its sender dies: no rank may block on it. */
struct receiving {
	struct receiving *next; /* started later */
	MPI_Request request;
	struct link_message message;
};

static struct receiving *receivings;

static void link_mpi_begin_receiving(void)
{
	struct receiving **last = &receivings, *receiving;
	MPI_Status status;
	int is_there = 0, size = 0;

	if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status) !=
			MPI_SUCCESS ||
		!is_there || MPI_Get_count(&status, MPI_BYTE, &size) != MPI_SUCCESS)
		return;
	receiving = calloc(1, sizeof *receiving);
	if (!receiving)
		abort();
	receiving->message.bytes = malloc((size_t)size + 1);
	if (!receiving->message.bytes)
		abort();
	receiving->message.bytes[size] = '\0';
	receiving->message.size = (size_t)size;
	receiving->message.from = (uint32_t)status.MPI_SOURCE;
	receiving->message.tag = (uint32_t)status.MPI_TAG;
	if (MPI_Irecv(receiving->message.bytes, size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
		    MPI_COMM_WORLD, &receiving->request) != MPI_SUCCESS) {
		free(receiving->message.bytes);
		free(receiving);
		return;
	}
	while (*last)
		last = &(*last)->next;
	*last = receiving;
}

/* Returns true if an older message of the same sender is still incomplete. */
static bool link_mpi_has_older_message(const struct receiving *receiving)
{
	for (const struct receiving *i = receivings; i != receiving; i = i->next)
		if (i->message.from == receiving->message.from)
			return true;
	return false;
}

static bool link_mpi_receive(struct link_message *message)
{
	link_mpi_free_sent();
	link_mpi_begin_receiving();
	for (struct receiving **at = &receivings; *at; at = &(*at)->next) {
		struct receiving *receiving = *at;
		int is_done = 0;

		if (link_mpi_has_older_message(receiving) ||
			MPI_Test(&receiving->request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
			!is_done)
			continue;
		*message = receiving->message;
		*at = receiving->next;
		free(receiving);
		return true;
	}
	return false;
}

static void link_mpi_end(bool all_are_here)
{
	if (all_are_here)
		(void)MPI_Finalize(); /* errors are irrelevant, because the process ends */
				      /* if a rank is lost, MPI_Finalize would wait for it */
}

__attribute__((visibility("default"))) link_entry raddle_link_begin;

const struct link *raddle_link_begin(struct error *err)
{
	int rank, ranks;

	if (MPI_Init(NULL, NULL) != MPI_SUCCESS ||
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
		MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
		MPI_Comm_size(MPI_COMM_WORLD, &ranks) != MPI_SUCCESS) {
		(void)error_set(err, ERROR_MISSING,
			"MPI cannot be used here; start with mpirun -n N raddle run --mpi");
		return NULL;
	}
	link_mpi = (struct link){
		.rank = (uint32_t)rank,
		.ranks = (uint32_t)ranks,
		.send = link_mpi_send,
		.receive = link_mpi_receive,
		.end = link_mpi_end,
	};
	return &link_mpi;
}
