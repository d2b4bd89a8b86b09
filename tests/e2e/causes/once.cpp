// Waits for routines that run once: once self | guard | lock.
#include <cstring>
#include <mutex>
#include <thread>

static std::once_flag flag;
static std::mutex lock;
static int level;

static int level_now()
{
	std::call_once(flag, [] {
		std::lock_guard<std::mutex> guard(lock); // ROUTINE
		level = 3;
	}); // ENTERED
	return level;
}

static void raise_level()
{
	std::lock_guard<std::mutex> guard(lock); // LOCKED
	std::call_once(flag, [] {});
}

static void initialise_itself()
{
	static std::once_flag own;
	static void (*again)() = [] { std::call_once(own, [] {}); }; // AGAIN

	std::call_once(own, [] { again(); }); // OUTER
}

struct config {
	int value;
	config();
};

static config &config_now()
{
	static config only; // ONLY
	return only;
}

config::config() : value(config_now().value + 1)
{
}

static std::once_flag early;

static void enter_early()
{
	std::call_once(early, [] { std::thread(enter_early).join(); }); // EARLY
}

int main(int, char **arguments)
{
	void (*body)() = [] { level_now(); };

	if (!strcmp(arguments[1], "early"))
		enter_early();
	if (!strcmp(arguments[1], "joinable"))
		std::thread unjoined([] {}); // JOINABLE
	if (!strcmp(arguments[1], "self"))
		body = initialise_itself;
	if (!strcmp(arguments[1], "guard"))
		body = [] { config_now(); };
	std::thread one(body), other(strcmp(arguments[1], "lock") ? [] {} : raise_level);
	one.join();
	other.join();
}
