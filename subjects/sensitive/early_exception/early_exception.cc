/*
 * EXPECT-BRANCH: if (!is_open.load()) [benign]
 *
 * The exception example: a session that was closed too early throws, and the sending thread takes
 * that as an answer. The branch decides, the exception follows from it.
 */
#include <atomic>
#include <stdexcept>
#include <thread>

static std::atomic<bool> is_open{true};
static int sent;

static void send(int message)
{
	if (!is_open.load())
		throw std::runtime_error("the session is closed");
	sent += message;
}

int main()
{
	std::thread user([] { send(1); });
	std::thread owner([] {
		try {
			send(0);
		} catch (const std::runtime_error &) {
			sent = -1;
		}
	});

	user.join();
	is_open.store(false);
	owner.join();
	return 0;
}
