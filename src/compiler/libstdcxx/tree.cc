/*
 * The node operations of std::map, std::set and the other trees. libstdc++ keeps them in its
 * library, where raddle-c++ cannot instrument them. Programs that raddle-c++ links get these
 * instrumented versions (decision 15).
 *
 * Red-black trees after Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", chapter
 * 13, with parent links. The header node's parent is the root; its left and right are the first and
 * the last node. The symbols are weak: a program's own library takes precedence.
 */
#include <bits/stl_tree.h>

namespace raddle_tree
{
using node = std::_Rb_tree_node_base;

static node *first_below(node *at)
{
	while (at->_M_left)
		at = at->_M_left;
	return at;
}

static node *last_below(node *at)
{
	while (at->_M_right)
		at = at->_M_right;
	return at;
}

static bool is_red(const node *at)
{
	return at && at->_M_color == std::_S_red;
}

/* Links `by` (may be null) in the place of `old`, whose own links stay. */
static void replace(node *old, node *by, node &header)
{
	node *const up = old->_M_parent;

	if (header._M_parent == old)
		header._M_parent = by;
	else if (up->_M_left == old)
		up->_M_left = by;
	else
		up->_M_right = by;
	if (by)
		by->_M_parent = up;
}

static void rotate_left(node *at, node &header)
{
	node *const up = at->_M_right;

	at->_M_right = up->_M_left;
	if (up->_M_left)
		up->_M_left->_M_parent = at;
	replace(at, up, header);
	up->_M_left = at;
	at->_M_parent = up;
}

static void rotate_right(node *at, node &header)
{
	node *const up = at->_M_left;

	at->_M_left = up->_M_right;
	if (up->_M_right)
		up->_M_right->_M_parent = at;
	replace(at, up, header);
	up->_M_right = at;
	at->_M_parent = up;
}

static void rotate(node *at, bool is_left, node &header)
{
	if (is_left)
		rotate_left(at, header);
	else
		rotate_right(at, header);
}

/* Moves a red node with a red parent up, or ends it with one or two rotations. */
static void mend_red(node *at, node &header)
{
	while (at != header._M_parent && is_red(at->_M_parent)) {
		node *const up = at->_M_parent->_M_parent;
		const bool is_left = at->_M_parent == up->_M_left;
		node *const uncle = is_left ? up->_M_right : up->_M_left;

		up->_M_color = std::_S_red;
		if (is_red(uncle)) {
			at->_M_parent->_M_color = uncle->_M_color = std::_S_black;
			at = up;
			continue;
		}
		if (at == (is_left ? at->_M_parent->_M_right : at->_M_parent->_M_left)) {
			at = at->_M_parent;
			rotate(at, is_left, header);
		}
		at->_M_parent->_M_color = std::_S_black;
		rotate(up, !is_left, header);
	}
	header._M_parent->_M_color = std::_S_black;
}

/* Restores equal black heights: paths through `at` (null: a leaf) below `up` have one black node too few. */
static void mend_black(node *at, node *up, node &header)
{
	while (at != header._M_parent && !is_red(at)) {
		const bool is_left = at == up->_M_left;
		node *sibling = is_left ? up->_M_right : up->_M_left;

		if (is_red(sibling)) {
			sibling->_M_color = std::_S_black;
			up->_M_color = std::_S_red;
			rotate(up, is_left, header);
			sibling = is_left ? up->_M_right : up->_M_left;
		}
		if (!is_red(sibling->_M_left) && !is_red(sibling->_M_right)) {
			sibling->_M_color = std::_S_red;
			at = up;
			up = up->_M_parent;
			continue;
		}
		if (!is_red(is_left ? sibling->_M_right : sibling->_M_left)) {
			(is_left ? sibling->_M_left : sibling->_M_right)->_M_color = std::_S_black;
			sibling->_M_color = std::_S_red;
			rotate(sibling, !is_left, header);
			sibling = is_left ? up->_M_right : up->_M_left;
		}
		sibling->_M_color = up->_M_color;
		up->_M_color = std::_S_black;
		(is_left ? sibling->_M_right : sibling->_M_left)->_M_color = std::_S_black;
		rotate(up, is_left, header);
		return;
	}
	if (at)
		at->_M_color = std::_S_black;
}

/* Updates first and last for the removal of `at`, which has at most one child. */
static void move_ends(const node *at, node &header)
{
	if (header._M_left == at)
		header._M_left = at->_M_right ? first_below(at->_M_right) : at->_M_parent;
	if (header._M_right == at)
		header._M_right = at->_M_left ? last_below(at->_M_left) : at->_M_parent;
}

static node *next(node *at)
{
	node *up = at->_M_parent;

	if (at->_M_right)
		return first_below(at->_M_right);
	while (at == up->_M_right) {
		at = up;
		up = up->_M_parent;
	}
	/* If the root is the last node, the loop has passed the header, and `at` is the header. */
	return at->_M_right == up ? at : up;
}

static node *previous(node *at)
{
	node *up = at->_M_parent;

	/* The header alone is red and its own grandparent. */
	if (is_red(at) && up->_M_parent == at)
		return at->_M_right;
	if (at->_M_left)
		return last_below(at->_M_left);
	while (at == up->_M_left) {
		at = up;
		up = up->_M_parent;
	}
	return up;
}
} // namespace raddle_tree

namespace std
{
__attribute__((weak)) _Rb_tree_node_base *_Rb_tree_increment(_Rb_tree_node_base *at) throw()
{
	return raddle_tree::next(at);
}

__attribute__((weak)) const _Rb_tree_node_base *_Rb_tree_increment(
	const _Rb_tree_node_base *at) throw()
{
	return raddle_tree::next(const_cast<_Rb_tree_node_base *>(at));
}

__attribute__((weak)) _Rb_tree_node_base *_Rb_tree_decrement(_Rb_tree_node_base *at) throw()
{
	return raddle_tree::previous(at);
}

__attribute__((weak)) const _Rb_tree_node_base *_Rb_tree_decrement(
	const _Rb_tree_node_base *at) throw()
{
	return raddle_tree::previous(const_cast<_Rb_tree_node_base *>(at));
}

__attribute__((weak)) void _Rb_tree_insert_and_rebalance(const bool is_left,
	_Rb_tree_node_base *node, _Rb_tree_node_base *up, _Rb_tree_node_base &header) throw()
{
	node->_M_parent = up;
	node->_M_left = node->_M_right = nullptr;
	node->_M_color = _S_red;
	if (up == &header) {
		header._M_parent = header._M_left = header._M_right = node;
	} else if (is_left) {
		up->_M_left = node;
		if (header._M_left == up)
			header._M_left = node;
	} else {
		up->_M_right = node;
		if (header._M_right == up)
			header._M_right = node;
	}
	raddle_tree::mend_red(node, header);
}

__attribute__((weak)) _Rb_tree_node_base *_Rb_tree_rebalance_for_erase(
	_Rb_tree_node_base *const node, _Rb_tree_node_base &header) throw()
{
	_Rb_tree_node_base *at, *up = node->_M_parent;
	_Rb_tree_color lost = node->_M_color;

	if (node->_M_left && node->_M_right) {
		_Rb_tree_node_base *const heir = raddle_tree::first_below(node->_M_right);

		lost = heir->_M_color;
		at = heir->_M_right;
		up = heir;
		if (heir != node->_M_right) {
			up = heir->_M_parent;
			raddle_tree::replace(heir, at, header);
			heir->_M_right = node->_M_right;
			heir->_M_right->_M_parent = heir;
		}
		raddle_tree::replace(node, heir, header);
		heir->_M_left = node->_M_left;
		heir->_M_left->_M_parent = heir;
		heir->_M_color = node->_M_color;
	} else {
		at = node->_M_left ? node->_M_left : node->_M_right;
		raddle_tree::move_ends(node, header);
		raddle_tree::replace(node, at, header);
	}
	if (lost == _S_black)
		raddle_tree::mend_black(at, up, header);
	return node;
}
} // namespace std
