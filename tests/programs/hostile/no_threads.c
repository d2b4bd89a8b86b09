/* EXPECT: passed runs=5 */
/* Never makes a thread. */
#include <stdio.h>

int main(void)
{
	printf("alone\n");
	return 0;
}
