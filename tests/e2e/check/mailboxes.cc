// A mailbox whose letter may arrive between test and wait: raddle::check() in GoogleTest shows the lost wake-up.
#include <gtest/gtest.h>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <raddle_check.h>

static std::mutex lock;
static std::condition_variable arrived;
static bool is_full;

static void deliver()
{
	{
		std::lock_guard<std::mutex> guard(lock);
		is_full = true;
	}
	arrived.notify_one();
}

static void collect()
{
	bool has_letter;

	{
		std::lock_guard<std::mutex> guard(lock);
		has_letter = is_full;
	}
	if (has_letter)
		return;
	std::unique_lock<std::mutex> guard(lock); // the letter may have arrived by now
	arrived.wait(guard);
}

TEST(Mailbox, LosesNoLetter)
{
	EXPECT_EQ(0, raddle::check([] {
		is_full = false;
		std::thread postman(deliver);
		collect();
		postman.join();
	}));
}
