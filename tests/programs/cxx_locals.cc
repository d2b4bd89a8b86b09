/* EXPECT: passed runs=50 */
/*
 * Objects with special lifetimes: thread_local ones (built on first use, destroyed at the thread's
 * end), static ones inside functions (built once, by one thread, again after a throw), and static
 * ones of the program (destroyed after main).
 */
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

static std::atomic<int> built, destroyed;

namespace
{
struct counted {
	counted()
	{
		built++;
	}
	~counted()
	{
		destroyed++;
	}
	int value = 1;
};

thread_local counted mine;
thread_local std::string text = "fresh";

struct farewell {
	~farewell()
	{
		std::printf("ok the program's own objects go last\n");
	}
};

farewell at_the_end;

struct slow {
	slow()
	{
		std::this_thread::yield();
		value = 7;
	}
	int value = 0;
};
} // namespace

static slow &shared_instance()
{
	static slow instance;

	return instance;
}

static std::atomic<int> attempts;

static int built_at_second_try()
{
	static int value = [] {
		std::this_thread::yield();
		if (++attempts == 1)
			throw std::runtime_error("not yet");
		return 9;
	}();

	return value;
}

static void check_thread_locals()
{
	std::vector<std::thread> threads;
	std::atomic<int> fresh{0};

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&] {
			mine.value++;
			fresh += text == "fresh" && mine.value == 2;
			text = "used";
		});
	for (auto &thread : threads)
		thread.join();
	CHECK(fresh == 3);
	CHECK(built == 3);
	CHECK(destroyed == 3);
	CHECK(text == "fresh"); // builds main's own, both of them
	CHECK(built == 4);
	std::thread([] {}).join();
	CHECK(built == 4);
}

static void check_function_statics()
{
	std::vector<std::thread> threads;
	std::atomic<int> complete{0}, caught{0}, nines{0};

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&] {
			complete += shared_instance().value == 7;
			try {
				nines += built_at_second_try() == 9;
			} catch (const std::runtime_error &) {
				caught++;
			}
		});
	for (auto &thread : threads)
		thread.join();
	CHECK(complete == 3);
	CHECK(attempts == 2);
	CHECK(caught == 1);
	CHECK(nines == 2);
}

int main()
{
	check_thread_locals();
	check_function_statics();
	return check_status();
}
