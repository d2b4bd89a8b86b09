// The same as ways.c for what only C++ has: virtual functions, members, closures, exceptions.
#include <functional>
#include <memory>
#include <thread>
#include <vector>

int by_virtual, by_base, by_member, by_closure, by_exception, by_pointer, by_thread, by_vector;

#define KEEP __attribute__((noinline, optnone))

struct shape {
	virtual ~shape() = default;
	virtual void mark(int *) = 0;
};

struct circle : shape {
	KEEP void mark(int *to) override
	{
		*to = 1; /* touches by_virtual */
	}
};

struct square : shape {
	KEEP void mark(int *to) override
	{
		*to = 1; /* touches by_virtual */
	}
};

struct other_shape {
	virtual ~other_shape() = default;
	KEEP virtual void mark(int *to)
	{
		*to = 1; /* touches by_base */
	}
};

struct holder {
	int *held;
	void (holder::*method)();
	KEEP void use()
	{
		*held = 1; /* touches by_member[] */
	}
};

KEEP static void thrower()
{
	throw &by_exception;
}

KEEP static void catcher()
{
	try {
		thrower();
	} catch (int *caught) {
		*caught = 1; /* touches by_exception[] */
	}
}

KEEP static void smart()
{
	std::unique_ptr<int *> pointer(new int *(&by_pointer));

	**pointer = 1; /* touches by_pointer */
}

KEEP static void vector()
{
	std::vector<int *> all;

	for (int i = 0; i < 5; i++)
		all.push_back(&by_vector);
	for (int *one : all)
		*one = 1; /* touches by_vector */
}

int main(int count, char **)
{
	std::unique_ptr<shape> one(count > 1 ? static_cast<shape *>(new circle) : new square);
	other_shape other;
	holder holding{&by_member, &holder::use};
	std::function<void()> closure = [to = &by_closure] {
		*to = 1; /* touches by_closure */
	};

	one->mark(&by_virtual);
	other.mark(&by_base);
	(holding.*holding.method)();
	closure();
	catcher();
	smart();
	vector();
	std::thread([] {
		by_thread = 1; /* touches by_thread */
	}).join();
	return !(by_virtual && by_base && by_member && by_closure && by_exception && by_pointer &&
		 by_thread && by_vector);
}
