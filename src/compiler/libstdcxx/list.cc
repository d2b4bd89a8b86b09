/* Node operations of std::list, as in tree.cc. The nodes form a ring through the list object. */
#include <list>

namespace std
{
namespace __detail
{
__attribute__((weak)) void _List_node_base::_M_hook(_List_node_base *const before) noexcept
{
	_M_next = before;
	_M_prev = before->_M_prev;
	before->_M_prev->_M_next = this;
	before->_M_prev = this;
}

__attribute__((weak)) void _List_node_base::_M_unhook() noexcept
{
	_M_prev->_M_next = _M_next;
	_M_next->_M_prev = _M_prev;
}

/* Moves [first, end), from any list, in front of this node. */
__attribute__((weak)) void _List_node_base::_M_transfer(
	_List_node_base *const first, _List_node_base *const end) noexcept
{
	_List_node_base *const last = end->_M_prev, *const before = _M_prev;

	if (this == end)
		return;
	first->_M_prev->_M_next = end;
	end->_M_prev = first->_M_prev;
	before->_M_next = first;
	first->_M_prev = before;
	last->_M_next = this;
	_M_prev = last;
}

__attribute__((weak)) void _List_node_base::_M_reverse() noexcept
{
	_List_node_base *at = this;

	do {
		_List_node_base *const next = at->_M_next;

		at->_M_next = at->_M_prev;
		at->_M_prev = next;
		at = next;
	} while (at != this);
}

/* The neighbours must point to the other list object; an empty list is its own neighbour. */
__attribute__((weak)) void _List_node_base::swap(_List_node_base &a, _List_node_base &b) noexcept
{
	const bool is_a_empty = a._M_next == &a, is_b_empty = b._M_next == &b;
	const _List_node_base old = a;

	a = b;
	b = old;
	if (is_b_empty)
		a._M_next = a._M_prev = &a;
	else
		a._M_next->_M_prev = a._M_prev->_M_next = &a;
	if (is_a_empty)
		b._M_next = b._M_prev = &b;
	else
		b._M_next->_M_prev = b._M_prev->_M_next = &b;
}
} // namespace __detail
} // namespace std
