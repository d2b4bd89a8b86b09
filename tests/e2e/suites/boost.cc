#define BOOST_TEST_MODULE transfers
#include <boost/test/included/unit_test.hpp>

#include "transfers.h"

BOOST_AUTO_TEST_CASE(no_threads)
{
	BOOST_TEST(read_balance() == 0);
}
BOOST_AUTO_TEST_SUITE(sections)
BOOST_AUTO_TEST_CASE(one)
{
	BOOST_TEST(balance_after(deposit_in_one_section) == 20);
}
BOOST_AUTO_TEST_CASE(two, *boost::unit_test::description("a lost deposit"))
{
	BOOST_TEST(balance_after(deposit_in_two_sections) == 20);
}
BOOST_AUTO_TEST_CASE(later, *boost::unit_test::disabled())
{
	BOOST_FAIL("disabled");
}
BOOST_AUTO_TEST_SUITE_END()
