/* Accesses to locals, and to copies of parameters, in frames with and without a frame pointer that reaches them. */
#include <stdio.h>
#include <string.h>

struct block {
	long words[8];
};

void change(long *words);

long aligned_local(int index, long value)
{
	_Alignas(64) long words[8] = {0};

	change(words);
	words[3] = value;
	change(words);
	words[1] = words[3] + 1;
	change(words);
	return words[1] + words[index & 7];
}

long either_local(int index, int is_first)
{
	_Alignas(64) long first[8] = {0}, second[8] = {0};
	long *chosen = is_first ? first + 2 : second + 2;

	change(first);
	change(second);
	chosen[1] = 5;
	change(first);
	return first[index & 7] + *chosen;
}

long variable_length(int count, int index)
{
	_Alignas(64) long words[8] = {0};
	long many[count];

	memset(many, 0, sizeof many);
	change(words);
	change(many);
	many[index] = words[index & 7];
	change(many);
	return many[0];
}

long copied_parameter(struct block block, int index)
{
	change(block.words);
	block.words[2] = index;
	change(block.words);
	return block.words[index & 7];
}

long others(long *words, int index)
{
	words[index] = words[1];
	return words[2];
}

__attribute__((noinline)) void change(long *words)
{
	static long next;

	words[0] += next++ % 1000;
}

int main(void)
{
	struct block block = {{1, 2, 3, 4, 5, 6, 7, 8}};

	for (int i = 0; i < 3; i++) {
		printf("%ld\n", aligned_local(1, i));
		printf("%ld\n", either_local(3, 1));
		printf("%ld\n", copied_parameter(block, i));
		printf("%ld\n", variable_length(9, i + 1));
		printf("%ld\n", others(block.words, i + 3));
	}
	return 0;
}
