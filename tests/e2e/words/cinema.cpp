// A test of two threads that may take one seat, in GoogleTest or (with CATCH) in Catch2.
#ifdef CATCH
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#else
#include <gtest/gtest.h>
#endif
#include <mutex>
#include <thread>

static std::mutex lock;
static int seats = 1, taken;

static bool has_seat()
{
	std::lock_guard<std::mutex> guard(lock);
	return seats > 0;
}

static void take_seat()
{
	if (has_seat()) {
		std::lock_guard<std::mutex> guard(lock);
		taken++;
		seats = 0;
	}
}

static int sell()
{
	std::thread one(take_seat), two(take_seat);

	one.join();
	two.join();
	return taken;
}

#ifdef CATCH
TEST_CASE("each seat is sold once")
{
	CHECK(sell() == 1);
}
#else
TEST(Cinema, SellsEachSeatOnce)
{
	EXPECT_EQ(sell(), 1);
}
#endif
