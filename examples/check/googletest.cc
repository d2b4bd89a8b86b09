// Example for GoogleTest: c++ googletest.cc -lraddle-check -lgtest -lgtest_main. raddle_check.h supports EXPECT_ and ASSERT_ behind gtest.h.
#include <gtest/gtest.h>
#include <thread>

#include <raddle_check.h>

#include "stock.h"

TEST(Stock, OneGetsIt)
{
	EXPECT_EQ(0, raddle::check([] {
		stock stock;
		bool got[2];

		stock_set_up(&stock, 1);
		std::thread one([&] { got[0] = stock_take(&stock); });
		std::thread two([&] { got[1] = stock_take(&stock); });
		one.join();
		two.join();
		EXPECT_NE(got[0], got[1]);
	}));
}

TEST(Stock, TakesInOrder)
{
	stock stock;

	stock_set_up(&stock, 1);
	EXPECT_TRUE(stock_take(&stock));
	EXPECT_FALSE(stock_take(&stock));
}
