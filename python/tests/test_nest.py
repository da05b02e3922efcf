"""Nested structures: order of leaves, packing, errors."""

import collections
import unittest

from tensorbraid import nest

Point = collections.namedtuple("Point", "y x")


class NestTest(unittest.TestCase):
    def test_leaves_of_dictionaries_are_in_the_order_of_their_sorted_keys(self):
        self.assertEqual(nest.flatten({"b": 1, "a": (2, [3])}), [2, 3, 1])
        self.assertEqual(nest.flatten(collections.OrderedDict([("b", 1), ("a", 2)])), [2, 1])
        self.assertEqual(nest.flatten(Point(1, [2, 3])), [1, 2, 3])
        self.assertEqual(nest.flatten("abc"), ["abc"])
        self.assertEqual(nest.flatten(None), [None])
        self.assertEqual(nest.flatten([]), [])
        with self.assertRaises(TypeError):
            nest.flatten({1: 2, "a": 3})

    def test_packing_restores_types_and_the_order_of_keys(self):
        for structure in ([1, (2, [3])], {"b": 1, "a": {"c": 2}}, Point(1, (2,)), 5,
                          collections.OrderedDict([("b", 1), ("a", 2)])):
            packed = nest.pack_sequence_as(structure, nest.flatten(structure))
            self.assertEqual(packed, structure)
            self.assertIs(type(packed), type(structure))
        packed = nest.pack_sequence_as(collections.OrderedDict([("b", 1), ("a", 2)]), [10, 20])
        self.assertEqual(list(packed.items()), [("b", 20), ("a", 10)])
        with self.assertRaisesRegex(ValueError, "3 leaves"):
            nest.pack_sequence_as(Point(1, [2, 3]), [1, 2])
        with self.assertRaises(TypeError):
            nest.pack_sequence_as([1, 2], 5)
        with self.assertRaises(ValueError):
            nest.pack_sequence_as(1, [5, 6])

    def test_mapping_compares_the_structures(self):
        def add(a, b):
            return a + b

        self.assertEqual(nest.map_structure(add, [1, (2,)], [1, (2,)]), [2, (4,)])
        self.assertEqual(nest.map_structure(add, [1, (2,)], [1, [2]], check_types=False), [2, (4,)])
        with self.assertRaises(TypeError):
            nest.map_structure(add, [1, (2,)], [1, [2]])
        for other in ([1, 2], [1, (2, 3)], [1, (2,), 3]):
            with self.assertRaises(ValueError):
                nest.map_structure(add, [1, (2,)], other)
        with self.assertRaisesRegex(ValueError, "keys"):
            nest.map_structure(add, {"a": 1}, {"b": 1})
        with self.assertRaises(TypeError):
            nest.map_structure(5, [1])
        with self.assertRaisesRegex(ValueError, "foo"):
            nest.map_structure(add, [1], [2], foo=1)

    def test_namedtuples_of_the_same_name_and_fields_are_the_same_type(self):
        same = collections.namedtuple("Point", "y x")
        other = collections.namedtuple("Other", "y x")
        nest.assert_same_structure(Point(1, 2), same(1, 2))
        nest.assert_same_structure({"a": 1}, collections.OrderedDict(a=1))
        for wrong in (other(1, 2), (1, 2)):
            with self.assertRaises(TypeError):
                nest.assert_same_structure(Point(1, 2), wrong)

    def test_a_shallow_structure_leaves_parts_whole(self):
        self.assertEqual(nest.flatten_up_to([1, 2], [[1, 2], (3,)]), [[1, 2], (3,)])
        self.assertEqual(nest.flatten_up_to([1, [2]], [[1, 2], (3,)], check_types=False), [[1, 2], 3])
        self.assertEqual(nest.flatten_up_to(1, [1, 2]), [[1, 2]])
        self.assertEqual(nest.map_structure_up_to([1, 2], lambda x, y: (x, y), [[1, 2], (3,)], [4, 5]),
                         [([1, 2], 4), ((3,), 5)])
        for shallow, value, error in (([1, 2], [1, 2, 3], ValueError), ([1, [2]], [1, 2], TypeError),
                                      ([1, [2]], [1, (2,)], TypeError), ({"a": 1}, {"b": 2}, ValueError)):
            with self.assertRaises(error):
                nest.flatten_up_to(shallow, value)

    def test_paths_name_the_leaves(self):
        self.assertEqual(nest.flatten_with_joined_string_paths({"a": [1, {"c": 2}], "b": 3}),
                         [("a/0", 1), ("a/1/c", 2), ("b", 3)])
        self.assertEqual(nest.flatten_dict_items({(4, 5): (6, 8), "a": 1}), {4: 6, 5: 8, "a": 1})
        with self.assertRaises(ValueError):
            nest.flatten_dict_items({(4, 5): (6,)})


if __name__ == "__main__":
    unittest.main()
