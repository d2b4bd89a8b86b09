#include <gtest/gtest.h>

#include "transfers.h"

TEST(Transfers, NoThreads)
{
	EXPECT_EQ(read_balance(), 0);
}
TEST(Transfers, OneSection)
{
	EXPECT_EQ(balance_after(deposit_in_one_section), 20);
}
TEST(Transfers, DISABLED_Later)
{
	FAIL();
}

class Sections : public testing::TestWithParam<int>
{
};
TEST_P(Sections, Sum)
{
	EXPECT_EQ(balance_after(deposit_in_two_sections), GetParam());
}
INSTANTIATE_TEST_SUITE_P(Two, Sections, testing::Values(20));
