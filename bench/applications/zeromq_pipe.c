/* zeromq_pipe MESSAGES: two threads push numbers to main through one socket; a third one asks and gets answers. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <zmq.h>

static void *context;
static uint32_t messages;

static void *push(void *unused)
{
	void *socket = zmq_socket(context, ZMQ_PUSH);

	if (zmq_connect(socket, "inproc://numbers") != 0)
		exit(2);
	for (uint32_t i = 1; i <= messages; i++)
		if (zmq_send(socket, &i, sizeof i, 0) != sizeof i)
			exit(2);
	zmq_close(socket);
	return unused;
}

static void *ask(void *unused)
{
	void *socket = zmq_socket(context, ZMQ_REQ);
	uint32_t answer;

	if (zmq_connect(socket, "inproc://questions") != 0)
		exit(2);
	for (uint32_t i = 0; i < messages / 10; i++)
		if (zmq_send(socket, &i, sizeof i, 0) != sizeof i ||
			zmq_recv(socket, &answer, sizeof answer, 0) != sizeof answer || answer != i)
			exit(2);
	zmq_close(socket);
	return unused;
}

int main(int argc, char **argv)
{
	void *numbers, *questions;
	pthread_t threads[3];
	uint64_t sum = 0;
	uint32_t number;

	messages = argc > 1 ? (uint32_t)atoi(argv[1]) : 100;
	context = zmq_ctx_new();
	numbers = zmq_socket(context, ZMQ_PULL);
	questions = zmq_socket(context, ZMQ_REP);
	if (zmq_bind(numbers, "inproc://numbers") != 0 ||
		zmq_bind(questions, "inproc://questions") != 0)
		return 2;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, i == 2 ? ask : push, NULL) != 0)
			return 2;
	for (uint32_t i = 0; i < messages / 10; i++)
		if (zmq_recv(questions, &number, sizeof number, 0) != sizeof number ||
			zmq_send(questions, &number, sizeof number, 0) != sizeof number)
			return 2;
	for (uint32_t i = 0; i < 2 * messages; i++) {
		if (zmq_recv(numbers, &number, sizeof number, 0) != sizeof number)
			return 2;
		sum += number;
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	zmq_close(numbers);
	zmq_close(questions);
	zmq_ctx_term(context);
	return sum != (uint64_t)messages * (messages + 1);
}
