"""Rows of numbers."""

from stretto.engine.intervals import PAGE, Intervals


def test_neighbours_become_one_row() -> None:
    numbers = Intervals()
    assert [numbers.add(number) for number in (5, 3, 4, 9, 4)] == [True, True, True, True, False]
    assert numbers.rows() == [(3, 5), (9, 9)]
    assert (len(numbers), list(numbers)) == (4, [3, 4, 5, 9])
    assert (numbers.lowest, numbers.highest) == (3, 9)


def test_an_empty_set_has_no_ends() -> None:
    numbers = Intervals()
    assert (numbers.lowest, numbers.highest, len(numbers), numbers.rows()) == (None, None, 0, [])
    assert 1 not in numbers
    assert not numbers.remove(1)


def test_a_number_taken_out_splits_its_row() -> None:
    numbers = Intervals([(1, 9)])
    assert [numbers.remove(number) for number in (5, 1, 9, 5)] == [True, True, True, False]
    assert numbers.rows() == [(2, 4), (6, 8)]
    assert Intervals([(4, 4)]).remove(4)


def test_rows_that_touch_or_overlap_are_joined() -> None:
    assert Intervals([(8, 9), (1, 2), (3, 3), (2, 6)]).rows() == [(1, 6), (8, 9)]
    assert Intervals([(1, 1), (5, 5), (9, 12), (2, 10)]).rows() == [(1, 12)]
    assert Intervals([(1, 20), (5, 6)]).rows() == [(1, 20)]


def test_what_is_in_it() -> None:
    numbers = Intervals([(1, 1), (3, 7)])
    assert [number in numbers for number in (0, 1, 2, 3, 7, 8)] == [False, True, False, True, True, False]
    assert "3" not in numbers
    assert numbers.row_of(5) == (3, 7)
    assert numbers.row_of(2) is None


def test_sets_are_equal_by_what_they_hold() -> None:
    assert Intervals([(1, 3)]) == Intervals([(3, 3), (1, 2)])
    assert Intervals([(1, 3)]) != Intervals([(1, 2)])
    assert Intervals() != []


def test_many_rows_stand_in_many_pages() -> None:
    many = 4 * PAGE
    numbers = Intervals()
    for number in range(2 * many, 0, -2):
        numbers.add(number)
    assert len(numbers.rows()) == len(numbers) == many
    assert all(number in numbers for number in range(2, 2 * many + 1, 2))
    for number in range(3, 2 * many, 2):
        numbers.add(number)
    assert numbers.rows() == [(2, 2 * many)]
