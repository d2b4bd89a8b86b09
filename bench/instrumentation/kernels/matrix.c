/* Multiplication of matrices, row by row with a transposed factor. */
#include <stdio.h>

#define SIZE 320

static double left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];
long rows_done;

int main(void)
{
	double sum = 0;

	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			left[i][j] = (i * 3 + j) % 7;
			right[i][j] = (i + j * 5) % 11; /* transposed */
		}
	for (int i = 0; i < SIZE; i++) {
		for (int j = 0; j < SIZE; j++) {
			double cell = 0;

			for (int k = 0; k < SIZE; k++)
				cell += left[i][k] * right[j][k];
			product[i][j] = cell;
		}
		rows_done++;
	}
	for (int i = 0; i < SIZE; i++)
		sum += product[i][(i * 13) % SIZE];
	printf("%.1f %ld\n", sum, rows_done);
	return 0;
}
