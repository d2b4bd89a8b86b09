#include <criterion/criterion.h>

#include "transfers.h"

Test(transfers, no_threads)
{
	cr_assert(read_balance() == 0);
}
Test(transfers, one_section)
{
	cr_assert(balance_after(deposit_in_one_section) == 20);
}
Test(sections, two)
{
	cr_assert(balance_after(deposit_in_two_sections) == 20);
}
