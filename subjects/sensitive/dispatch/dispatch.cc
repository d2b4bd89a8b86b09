/*
 * EXPECT-BRANCH: const int sum = operation(3, 4); [benign]
 * EXPECT-BRANCH: std::printf("%s\n", shape->name()); [benign]
 *
 * A function is called through a pointer, and a method of an object through another pointer; the third thread
 * changes both pointers. Neither call is a branch in the source, but the program's path depends on the schedule.
 */
#include <atomic>
#include <cstdio>
#include <thread>

class Shape
{
      public:
	virtual ~Shape() = default;
	virtual const char *name() const = 0;
};

class Circle : public Shape
{
      public:
	const char *name() const override
	{
		return "circle";
	}
};

class Square : public Shape
{
      public:
	const char *name() const override
	{
		return "square";
	}
};

static int add(int a, int b)
{
	return a + b;
}

static int multiply(int a, int b)
{
	return a * b;
}

static Circle circle;
static Square square;
static std::atomic<const Shape *> shape_shown{&circle};
static std::atomic<int (*)(int, int)> operation_done{add};
static int sums[13];

static void turn()
{
	operation_done = multiply;
	shape_shown = &square;
}

static void compute()
{
	int (*const operation)(int, int) = operation_done;
	const int sum = operation(3, 4);

	sums[sum] = sum;
}

static void show()
{
	const Shape *const shape = shape_shown;

	std::printf("%s\n", shape->name());
}

int main()
{
	std::thread first(turn), second(compute), third(show);

	first.join();
	second.join();
	third.join();
	return 0;
}
