/* kinds [NAME [ROUNDS]]: as kinds.c, of what programs in C++ do. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{

long rounds;
std::mutex mutex;

long maps(int me)
{
	std::map<int, long> map;
	for (long i = 0; i < rounds; i++) {
		map[static_cast<int>(i * 7919 % 1009)] += i + me;
		if (i % 5 == 0)
			map.erase(static_cast<int>(i * 31 % 1009));
	}
	return static_cast<long>(map.size());
}

long hashes(int me)
{
	std::unordered_map<int, long> map;
	for (long i = 0; i < rounds; i++) {
		map[static_cast<int>(i * 7919 % 1009)] += i + me;
		if (i % 5 == 0)
			map.erase(static_cast<int>(i * 31 % 1009));
	}
	return static_cast<long>(map.size());
}

long strings(int me)
{
	long sum = me;
	for (long i = 0; i < rounds; i++) {
		std::string text = "number ";
		text += std::to_string(i);
		text += " of some more than fit";
		sum += static_cast<long>(text.size()) + (text.find("of") != std::string::npos);
	}
	return sum;
}

// Texts that grow by characters, and are read in parts.
long characters(int me)
{
	long sum = me;
	for (long i = 0; i < rounds; i++) {
		std::string text;
		for (int k = 0; k < 100; k++)
			text += static_cast<char>('a' + k % 26);
		sum += static_cast<long>(text.substr(3, 40).size());
	}
	return sum;
}

long streams(int me)
{
	long sum = me;
	for (long i = 0; i < rounds; i++) {
		std::ostringstream out;
		out << "number " << i << " of " << me << ": " << static_cast<double>(i) * 0.5;
		sum += static_cast<long>(out.str().size());
	}
	return sum;
}

struct shape {
	virtual ~shape() = default;
	virtual long area() const = 0;
};
struct square : shape {
	long side;
	explicit square(long s) : side(s)
	{
	}
	long area() const override
	{
		return side * side;
	}
};
struct box : shape {
	long a, b;
	box(long x, long y) : a(x), b(y)
	{
	}
	long area() const override
	{
		return a * b;
	}
};

long virtuals(int me)
{
	std::vector<std::unique_ptr<shape>> shapes;
	for (int i = 0; i < 64; i++)
		if (i % 3)
			shapes.push_back(std::make_unique<square>(i + me));
		else
			shapes.push_back(std::make_unique<box>(i, me));
	long sum = 0;
	for (long i = 0; i < rounds; i++)
		for (const auto &one : shapes)
			sum += one->area();
	return sum;
}

__attribute__((noinline)) long may_throw(long i)
{
	if (i % 4 == 0)
		throw std::runtime_error("fourth");
	return i;
}

long exceptions(int me)
{
	long sum = me;
	for (long i = 0; i < rounds; i++)
		try {
			sum += may_throw(i);
		} catch (const std::runtime_error &) {
			sum--;
		}
	return sum;
}

long vectors(int me)
{
	long sum = me;
	for (long i = 0; i < rounds; i++) {
		std::vector<int> numbers;
		for (int k = 0; k < 100; k++)
			numbers.push_back(static_cast<int>(k * 7919 + i) % 101);
		std::sort(numbers.begin(), numbers.end());
		sum += numbers[50];
	}
	return sum;
}

long guards(int me)
{
	static std::map<int, long> map;
	long sum = 0;
	for (long i = 0; i < rounds; i++) {
		std::lock_guard<std::mutex> guard(mutex);
		sum += map[static_cast<int>(i * 7919 % 101)] += me;
	}
	return sum;
}

long functions(int me)
{
	std::function<long(long)> add = [me](long i) { return i + me; };
	long sum = 0;
	for (long i = 0; i < rounds; i++)
		sum += add(i);
	return sum;
}

const struct {
	const char *name;
	long (*work)(int);
	long rounds;
} kinds[] = {{"maps", maps, 100000}, {"hashes", hashes, 300000}, {"strings", strings, 60000},
	{"characters", characters, 10000}, {"streams", streams, 8000},
	{"virtuals", virtuals, 20000}, {"exceptions", exceptions, 10000},
	{"vectors", vectors, 2000}, {"guards", guards, 40000}, {"functions", functions, 700000}};

} // namespace

int main(int argc, char **argv)
{
	for (const auto &kind : kinds) {
		if (argc < 2)
			std::puts(kind.name);
		if (argc < 2 || std::strcmp(argv[1], kind.name) != 0)
			continue;
		rounds = argc > 2 ? std::atol(argv[2]) : kind.rounds;
		long results[2] = {};
		std::thread first([&] { results[0] = kind.work(0); }),
			second([&] { results[1] = kind.work(1); });
		first.join();
		second.join();
		std::printf("%ld\n", results[0] ^ results[1]);
		return 0;
	}
	return argc < 2 ? 0 : 2;
}
