/* EXPECT: passed runs=1 */
/* Never makes a thread. */
#include <stdio.h>

int main(void)
{
	printf("alone\n");
	return 0;
}
