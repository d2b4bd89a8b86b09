// Example for Catch2: c++ catch2.cc -lraddle-check. A failed REQUIRE is an exception, which ends the schedule.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <thread>

#include <raddle_check.h>

#include "stock.h"

TEST_CASE("one of two customers gets the last piece")
{
	auto one_gets_it = [] {
		stock stock;
		bool got[2];

		stock_set_up(&stock, 1);
		std::thread one([&] { got[0] = stock_take(&stock); });
		std::thread two([&] { got[1] = stock_take(&stock); });
		one.join();
		two.join();
		if (got[0] == got[1])
			throw std::logic_error("both customers got the same piece");
	};

	REQUIRE(raddle::check(one_gets_it) == 0);
}

TEST_CASE("pieces are taken in order")
{
	stock stock;

	stock_set_up(&stock, 1);
	REQUIRE(stock_take(&stock));
	REQUIRE_FALSE(stock_take(&stock));
}
