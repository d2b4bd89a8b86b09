/*
 * Trees and lists against what they have to hold, over random changes: what raddle-c++ links in place of libstdc++'s own
 * functions does what those do. Prints what went wrong, and ends with 1.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

using tree = std::_Rb_tree<int, int, std::_Identity<int>, std::less<int>>;

static uint64_t state = 1;

static int below(int bound)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return static_cast<int>((state >> 33) % static_cast<uint64_t>(bound));
}

static void expect(bool holds, const char *what)
{
	if (holds)
		return;
	std::printf("%s\n", what);
	std::exit(1);
}

static void compare(const tree &numbers, const std::vector<int> &wanted)
{
	expect(numbers.__rb_verify(), "the tree is not a red-black tree");
	expect(numbers.size() == wanted.size(), "the tree has another size");
	expect(std::equal(numbers.begin(), numbers.end(), wanted.begin(), wanted.end()),
		"the tree has other numbers");
	expect(std::equal(numbers.rbegin(), numbers.rend(), wanted.rbegin(), wanted.rend()),
		"the tree has other numbers, backwards");
}

static void change_trees(int rounds, int range)
{
	tree numbers;
	std::vector<int> wanted;

	for (int i = 0; i < rounds; i++) {
		const int number = below(range);
		const auto at = std::lower_bound(wanted.begin(), wanted.end(), number);

		if (below(2)) {
			numbers._M_insert_unique(number);
			if (at == wanted.end() || *at != number)
				wanted.insert(at, number);
		} else {
			numbers.erase(number);
			if (at != wanted.end() && *at == number)
				wanted.erase(at);
		}
		compare(numbers, wanted);
	}
	while (!wanted.empty()) {
		const size_t index = static_cast<size_t>(below(static_cast<int>(wanted.size())));

		numbers.erase(wanted[index]);
		wanted.erase(wanted.begin() + static_cast<long>(index));
		compare(numbers, wanted);
	}
}

static void compare(const std::list<int> &list, const std::vector<int> &wanted)
{
	expect(std::equal(list.begin(), list.end(), wanted.begin(), wanted.end()),
		"the list has other numbers");
	expect(std::equal(list.rbegin(), list.rend(), wanted.rbegin(), wanted.rend()),
		"the list has other numbers, backwards");
}

static void move_some(std::list<int> *lists, std::vector<int> *wanted)
{
	const size_t size = wanted[0].size();
	const size_t first = size ? static_cast<size_t>(below(static_cast<int>(size))) : 0;
	const size_t count =
		size ? static_cast<size_t>(below(static_cast<int>(size - first + 1))) : 0;
	const auto from = wanted[0].begin() + static_cast<long>(first);
	const auto begin = std::next(lists[0].begin(), static_cast<long>(first));

	lists[1].splice(
		lists[1].begin(), lists[0], begin, std::next(begin, static_cast<long>(count)));
	wanted[1].insert(wanted[1].begin(), from, from + static_cast<long>(count));
	wanted[0].erase(from, from + static_cast<long>(count));
}

static void change_lists(int rounds)
{
	std::list<int> lists[2];
	std::vector<int> wanted[2];

	for (int i = 0; i < rounds; i++) {
		switch (below(7)) {
		case 0:
		case 1:
			lists[0].push_back(i);
			wanted[0].push_back(i);
			break;
		case 2:
			lists[1].push_front(i);
			wanted[1].insert(wanted[1].begin(), i);
			break;
		case 3:
			if (!wanted[1].empty()) {
				lists[1].pop_back();
				wanted[1].pop_back();
			}
			break;
		case 4:
			lists[0].reverse();
			std::reverse(wanted[0].begin(), wanted[0].end());
			break;
		case 5:
			lists[0].swap(lists[1]);
			wanted[0].swap(wanted[1]);
			break;
		default:
			move_some(lists, wanted);
			break;
		}
		compare(lists[0], wanted[0]);
		compare(lists[1], wanted[1]);
	}
	lists[0].sort();
	std::sort(wanted[0].begin(), wanted[0].end());
	compare(lists[0], wanted[0]);
}

static void change_strings()
{
	std::string text = "some";

	text += " words that are longer than the string itself has room for";
	text.insert(4, "times").erase(0, 4).replace(0, 5, "at times");
	expect(text == "at times words that are longer than the string itself has room for",
		"the string has other letters");
	expect(text.find("longer") == 24 && text.rfind('r') == 65 && text.compare("at") > 0,
		"the string finds others");
	try {
		(void)text.at(100);
		expect(false, "the string has a letter too many");
	} catch (const std::out_of_range &) {
		text.clear();
	}
	expect(text.empty(), "the string is not empty");
}

int main()
{
	change_trees(3000, 10);
	change_trees(3000, 300);
	change_lists(3000);
	change_strings();
	return 0;
}
