/*
 * EXPECT-BRANCH: if (waiting.begin()->first == 1) [benign]
 * EXPECT-BRANCH: if (done.begin() == done.end()) [benign]
 * EXPECT-BRANCH: if (name.size() > 10) [benign]
 *
 * A map, a list and a string, which one thread changes and others read, all under a lock. Functions
 * inside libstdc++'s library change them.
 */
#include <cstdio>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::map<int, int> waiting;
static std::list<int> done;
static std::string name = "none";

static void change()
{
	const std::lock_guard<std::mutex> guard(lock);

	waiting[1] = 7;
	done.push_back(5);
	name = "a name that is too long for the string itself";
}

static void look_at_waiting()
{
	const std::lock_guard<std::mutex> guard(lock);

	if (waiting.begin()->first == 1)
		std::puts("the first is here");
}

static void look_at_done()
{
	const std::lock_guard<std::mutex> guard(lock);

	if (done.begin() == done.end())
		std::puts("nothing is done");
}

static void look_at_name()
{
	const std::lock_guard<std::mutex> guard(lock);

	if (name.size() > 10)
		std::puts("it has a name");
}

int main()
{
	waiting[5] = 3;
	std::thread first(change), second(look_at_waiting), third(look_at_done),
		fourth(look_at_name);

	first.join();
	second.join();
	third.join();
	fourth.join();
	return 0;
}
