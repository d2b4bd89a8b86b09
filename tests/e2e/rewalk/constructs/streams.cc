// Streams: the library's code calls the program's copies of functions of std::string, which call each other, and tables
// of the library are read here. The texts are long, because short ones need no memory.
#include <sstream>
#include <string>

#include "show_bits.h"

SHOW_MAIN

void construct(uint64_t number)
{
	uint64_t sum = number;

	for (int i = 0; i < 3; i++) {
		std::ostringstream out;
		std::string word;
		long read = 0;

		out << "a text that is longer than what fits: " << number << ' ' << i;
		for (int k = 0; k < i * 200; k++)
			out << static_cast<char>('a' + k % 26);
		for (char c : out.str())
			sum = sum * 31 + static_cast<unsigned char>(c);
		std::istringstream in(out.str());
		while (in >> word)
			sum += word.size();
		in.clear();
		in.str("123 words of more than sixteen");
		in >> read >> word;
		sum += static_cast<uint64_t>(read) + word.size();
	}
	show_bits(sum);
}
