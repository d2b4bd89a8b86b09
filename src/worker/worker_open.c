/* Opens and closes a worker: its contract, files, captures and judge. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "exchange/contract_exchange.h"
#include "exchange/contract_fault.h"
#include "process/children.h"
#include "process/launch.h"
#include "worker/worker_internal.h"

static const char *worker_open_remedy(const char *path, int number)
{
	if (number == EMFILE)
		return "; raise ulimit -n";
	return number == ENOENT && strncmp(path, "/dev/", 5) == 0 ? "; mount /dev" : "";
}

static int worker_open_files(struct worker *worker, struct error *err)
{
	const char *input = worker->params.input ? worker->params.input : "/dev/null";

	worker->input = open(input, O_RDONLY | O_CLOEXEC);
	if (worker->input < 0)
		return error_set(err, ERROR_IO, "standard input %s cannot be opened (%s)%s", input,
			strerror(errno), worker_open_remedy(input, errno));
	worker->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (worker->null < 0)
		return error_set(err, ERROR_IO, "/dev/null cannot be opened (%s)%s",
			strerror(errno), worker_open_remedy("/dev/null", errno));
	if (worker->params.output == OUTPUT_DISCARD && !worker->params.check)
		return 0;
	if (capture_open(&worker->capture, err) < 0)
		return ERROR_IO;
	/* A judge needs the complete output: a cut could make it refuse a good run. */
	worker->capture.keeps_all = worker->params.check != NULL;
	/* Shown output keeps two separate streams. Kept output is one text in order. */
	if (worker->params.output == OUTPUT_SHOW && capture_open(&worker->capture_error, err) < 0)
		return ERROR_IO;
	return 0;
}

/* The runtime then opens the contract as a file of the network's helper. */
static int worker_open_network(struct worker *worker, struct error *err)
{
	if (!private_network_open(&worker->network, worker->block.file))
		return error_set(err, ERROR_MISSING,
			"the system permits no network namespace for the program; use -j 1");
	contract_block_name(&worker->block, worker->network.helper);
	return 0;
}

int worker_open(struct worker *worker, const struct worker_params *params, struct error *err)
{
	int result;

	*worker = (struct worker){
		.params = *params,
		.block.file = -1,
		.input = -1,
		.null = -1,
		.capture.file = -1,
		.capture_error.file = -1,
		.judge.output = -1,
	};
	children_init();
	result = contract_block_open(&worker->block, &params->sizes, err);
	if (result == 0 && !params->remote)
		result = contract_separate(&worker->block, err);
	contract_fault_watch();
	if (result == 0 && params->has_network)
		result = worker_open_network(worker, err);
	if (result == 0) {
		worker->contract = worker->block.contract;
		worker->contract->plan.sanitizer_status =
			launch_sanitizer_status(&params->target->traits);
		children_watch(&worker->block.shared->doorbell);
		worker->environment = launch_environment(
			&params->target->traits, params->runtime, worker->block.path);
		result = worker_open_files(worker, err);
	}
	if (result == 0)
		result = judge_open(&worker->judge, params->check, err);
	if (result < 0)
		worker_close(worker);
	return result;
}

static void worker_open_close_file(int *file)
{
	if (*file >= 0)
		(void)close(*file); /* an input, or /dev/null: no data can be lost */
	*file = -1;
}

void worker_close(struct worker *worker)
{
	worker_kill(worker);
	if (worker->contract)
		children_unwatch(&worker->block.shared->doorbell);
	private_network_close(&worker->network);
	contract_block_close(&worker->block);
	worker->contract = NULL;
	launch_environment_free(worker->environment);
	worker->environment = NULL;
	capture_close(&worker->capture);
	capture_close(&worker->capture_error);
	worker_open_close_file(&worker->input);
	worker_open_close_file(&worker->null);
	judge_close(&worker->judge);
}
