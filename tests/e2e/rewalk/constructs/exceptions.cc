// C++ exceptions: by value and by reference, through frames with destructors, thrown again, caught by type; virtual calls.
#include <stdexcept>
#include <string>
#include <vector>

#include "show_bits.h"

SHOW_MAIN

namespace
{

struct guard {
	uint64_t &count;
	explicit guard(uint64_t &count) : count(count)
	{
		count += 1;
	}
	~guard()
	{
		count += 100;
	}
};

struct shape {
	virtual ~shape() = default;
	virtual uint64_t area() const = 0;
};

struct square : shape {
	uint64_t side;
	explicit square(uint64_t side) : side(side)
	{
	}
	uint64_t area() const override
	{
		return side * side;
	}
};

struct bar : shape {
	uint64_t width, height;
	bar(uint64_t width, uint64_t height) : width(width), height(height)
	{
		if (width > height * 3)
			throw std::out_of_range("too wide");
	}
	uint64_t area() const override
	{
		return width * height;
	}
};

__attribute__((noinline)) uint64_t risky(uint64_t depth, uint64_t &count)
{
	guard here(count);

	if (depth == 0)
		throw static_cast<int>(count);
	if (depth == 7)
		throw std::runtime_error("seven");
	return risky(depth - 1, count) + 1;
}

__attribute__((noinline)) uint64_t attempt(uint64_t depth)
{
	uint64_t count = 0;

	try {
		return risky(depth, count);
	} catch (int &value) {
		return count * 1000 + static_cast<uint64_t>(value);
	} catch (const std::exception &error) {
		return count * 7 + std::string(error.what()).size();
	}
}

__attribute__((noinline)) uint64_t again(uint64_t depth)
{
	uint64_t count = 0;

	try {
		try {
			return risky(depth, count);
		} catch (...) {
			count += 5;
			throw;
		}
	} catch (int value) {
		return count + static_cast<uint64_t>(value);
	} catch (const std::runtime_error &) {
		return count * 3;
	}
}

} // namespace

void construct(uint64_t number)
{
	std::vector<shape *> shapes;
	uint64_t sum = 0;

	for (uint64_t i = 1; i < 10; i++) {
		show_bits(attempt(i));
		show_bits(again(i + number));
	}
	for (uint64_t i = 0; i < 8; i++) {
		try {
			shapes.push_back(i % 2 ? static_cast<shape *>(new square(i + number))
					       : new bar(i * number, i + 3));
		} catch (const std::out_of_range &) {
			sum += 1000000;
		}
	}
	for (shape *each : shapes) {
		sum += each->area();
		delete each;
	}
	show_bits(sum);
}
