// If raddle_check() cannot work, it prints the reason in one line and calls nothing. The argument is the obstacle.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <raddle_check.h>

static int calls;

static int function(void *)
{
	calls++;
	return 0;
}

static int check(
	const char *strategy = nullptr, const char *replay = nullptr, int memory_model = RADDLE_SC)
{
	raddle_options options{};

	options.strategy = strategy;
	options.replay = replay;
	options.memory_model = memory_model;
	options.schedules = 10;
	return raddle_check(function, nullptr, &options);
}

static int within(void *)
{
	return check() == 2 ? 0 : 1;
}

int main(int, char **words)
{
	const std::string obstacle = words[1];
	int verdict = -1;

	if (obstacle == "strategy") {
		verdict = check("no_such_strategy");
	} else if (obstacle == "option") {
		verdict = check("pct,depth=0");
	} else if (obstacle == "model") {
		verdict = check(nullptr, nullptr, RADDLE_TSO);
	} else if (obstacle == "token") {
		verdict = check(nullptr, "gibberish");
	} else if (obstacle == "thread") {
		std::thread([&] { verdict = check(); }).join();
	} else if (obstacle == "running") {
		std::atomic<bool> stop{false};
		std::thread other([&] {
			while (!stop)
				usleep(100);
		});

		verdict = check();
		stop = true;
		other.join();
	} else if (obstacle == "child") {
		int status;
		pid_t child = fork();

		if (!child)
			_exit(check());
		waitpid(child, &status, 0);
		verdict = WEXITSTATUS(status);
	} else if (obstacle == "within") {
		return raddle_check(within, nullptr, nullptr);
	}
	return verdict == 2 && calls == 0 ? 0 : 1;
}
