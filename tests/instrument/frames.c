/* Accesses to locals, and to copies of parameters, in frames with and without a frame pointer that reaches them. */
struct block {
	long words[8];
};

void change(long *words);

long aligned_local(int index, long value)
{
	_Alignas(64) long words[8];

	change(words);
	words[3] = value;
	change(words);
	words[1] = words[3] + 1;
	change(words);
	return words[1] + words[index & 7];
}

long either_local(int index, int is_first)
{
	_Alignas(64) long first[8], second[8];
	long *chosen = is_first ? first + 2 : second + 2;

	change(first);
	change(second);
	chosen[1] = 5;
	change(first);
	return first[index & 7] + *chosen;
}

long variable_length(int count, int index)
{
	_Alignas(64) long words[8];
	long many[count];

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
