#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "transfers.h"

TEST_CASE("no threads, really")
{
	REQUIRE(read_balance() == 0);
}
TEST_CASE("one section")
{
	REQUIRE(balance_after(deposit_in_one_section) == 20);
}
TEST_CASE("two sections")
{
	REQUIRE(balance_after(deposit_in_two_sections) == 20);
}
