"""Arrays and tables of numpy, pandas and pyarrow are stored, and come back as they were."""

from typing import Any

import pytest

from stretto.runtimes.python.plain import Unserialisable, json_text
from stretto.runtimes.python.storable import unstorable
from stretto.runtimes.python.values import JSON_TEXT, decode, encode, kind_of

numpy = pytest.importorskip("numpy", reason="the extra `arrow` is not installed")
pandas = pytest.importorskip("pandas", reason="the extra `arrow` is not installed")
pyarrow = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")


def back(value: Any, annotation: Any = Any) -> Any:
    return decode(encode(value, kind_of(annotation), "x"), JSON_TEXT, annotation, "x")


@pytest.mark.parametrize("annotation", [Any, numpy.ndarray])
def test_numpy_arrays(annotation: Any) -> None:
    for made in (
        numpy.array([[1.5, numpy.nan], [numpy.inf, 0.0]]),
        numpy.arange(6, dtype="int32").reshape(1, 2, 3)[:, ::2],
        numpy.array(["a", "bcd"]),
        numpy.array([], dtype="datetime64[s]"),
        numpy.array(True),
    ):
        found = back(made, annotation)
        numpy.testing.assert_array_equal(found, made)
        assert (found.dtype, found.shape) == (made.dtype, made.shape)
        found[...] = found  # it can be written to


def test_numpy_scalars_are_plain_values() -> None:
    scalars = [numpy.int64(3), numpy.float32(1.5), numpy.bool_(True), numpy.float64(2.5)]
    assert json_text(scalars, "x") == "[3,1.5,true,2.5]"


def test_arrays_of_objects_are_refused() -> None:
    with pytest.raises(
        Unserialisable, match="its codec failed: TypeError: a numpy array of objects can not be"
    ):
        back([numpy.array([object()])])


@pytest.mark.parametrize("annotation", [Any, pandas.DataFrame])
def test_pandas_frames(annotation: Any) -> None:
    made = pandas.DataFrame({"a": [1, 2], "b": ["x", None], "c": [0.5, float("nan")]}, index=["i", "j"])
    pandas.testing.assert_frame_equal(back(made, annotation), made)


@pytest.mark.parametrize("name", ["rows", None, 7])
def test_pandas_series(name: Any) -> None:
    made = pandas.Series([1.5, None], name=name)
    pandas.testing.assert_series_equal(back(made, pandas.Series), made)


def test_arrow_tables() -> None:
    made = pyarrow.table({"a": [1, None], "b": [["x"], []]})
    assert back(made, pyarrow.Table).equals(made)
    assert back({"t": made})["t"].equals(made)


def test_annotations_of_arrays_are_known() -> None:
    for each in (numpy.ndarray, pandas.DataFrame, list.__class_getitem__(pyarrow.Table)):
        assert unstorable(each, returned=False) is None


# ----------------------------------------------------------------------------------- as it was, or not at all
RECORDS = [(1, 2.5, "a"), (3, 4.5, "bc")]
FIELDS = [("a", ">i4"), ("b", "f8"), ("c", "U2")]
KEPT: dict[str, Any] = {
    "records": numpy.array(RECORDS, dtype=FIELDS),
    "aligned": numpy.array([(1, 2.5)], dtype=numpy.dtype([("a", "i1"), ("b", "f8")], align=True)),
    "nested": numpy.array([((1, 2), [3, 4])], dtype=[("p", [("x", "i2"), ("y", "i2")]), ("q", "i8", (2,))]),
    "titled": numpy.zeros(2, dtype=[(("the title", "name"), "i4")]),
    "big-endian": numpy.array([1, 2], dtype=">i4"),
    "days": numpy.array(["2026-01-01", "NaT"], dtype="M8[D]"),
    "seconds": numpy.array([1, 2], dtype="m8[25s]"),
    "bytes": numpy.array([b"a", b"bc"]),
    "raw": numpy.array([b"ab"], dtype="V2"),
    "complex": numpy.array([1 + 2j, numpy.nan]),
    "half": numpy.array([1.5], dtype="f2"),
    "one": numpy.array(5),
    "no rows": numpy.zeros((0, 3)),
    "fortran": numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)),
    "strided": numpy.arange(10)[::-3],
}


@pytest.mark.parametrize("name", KEPT)
def test_arrays_of_all_kinds_come_back(name: str) -> None:
    made = KEPT[name]
    found = back(made)
    assert (found.dtype, found.shape) == (made.dtype, made.shape)
    numpy.testing.assert_array_equal(found, made)
    assert found.flags.writeable
    assert found.flags.c_contiguous or found.flags.f_contiguous == made.flags.f_contiguous


MASKED: dict[str, Any] = {
    "masked": numpy.ma.array([1, 2, 3], mask=[0, 1, 0]),
    "no mask": numpy.ma.array([1.5, 2.5]),
    "fill value": numpy.ma.array([1, 2], mask=[True, True], fill_value=-1, hard_mask=True),
    "records": numpy.ma.array(RECORDS, dtype=FIELDS, mask=[(0, 1, 0), (1, 0, 0)]),
    "one": numpy.ma.array(5, mask=True),
    "texts": numpy.ma.array(["a", "b"], mask=[1, 0], fill_value="?"),
}


@pytest.mark.parametrize("name", MASKED)
def test_masks_of_arrays_come_back(name: str) -> None:
    made = MASKED[name]
    found = back([made], Any)[0]
    assert type(found) is numpy.ma.MaskedArray
    assert (found.mask is numpy.ma.nomask) == (made.mask is numpy.ma.nomask)
    numpy.testing.assert_array_equal(found.mask, made.mask)
    assert (found.dtype, found.hardmask) == (made.dtype, made.hardmask)
    assert found.data.tobytes() == made.data.tobytes()
    assert found.fill_value == made.fill_value


REFUSED: dict[str, Any] = {
    "recarray": numpy.rec.array(RECORDS, dtype=FIELDS),
    "objects in records": numpy.array([(1, "a")], dtype=[("a", "i4"), ("b", "O")]),
    "the masked constant": numpy.ma.masked,
    "a record": numpy.array(RECORDS, dtype=FIELDS)[0],
    "nanoseconds": numpy.datetime64("2026-01-01T00:00:00.000000001"),
    "no time": numpy.datetime64("NaT", "s"),
    "no duration": numpy.timedelta64("NaT", "s"),
    "months": numpy.timedelta64(3, "M"),
    "a long number": numpy.longdouble(1) / 3,
    "a timestamp": pandas.Timestamp("2026-01-01"),
    "duplicates": pandas.DataFrame([[1, 2]], columns=["a", "a"]),
    "lists": pandas.DataFrame({"a": [[1], [2, 3]]}),
    "tuples": pandas.DataFrame({"a": [(1,), (2,)]}),
    "dictionaries": pandas.DataFrame({"a": [{"x": 1}, {"y": 2}]}),
    "a mix": pandas.DataFrame({"a": [{"x": 1}, [1]]}),
    "optional integers": pandas.DataFrame({"a": pandas.Series([1, None], dtype=object)}),
    "attributes": pandas.Series([1], name=pandas.Timestamp("2026-01-01")),
    "a subclass": type("Mine", (pandas.DataFrame,), {})({"a": [1]}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_come_back_changed_is_refused(name: str) -> None:
    with pytest.raises(Unserialisable):
        back(REFUSED[name])


INDEX = pandas.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["n", None])
FRAMES: dict[str, Any] = {
    "categories": pandas.DataFrame(
        {"a": pandas.Categorical(["p", "q"], categories=["q", "p"], ordered=True)}
    ),
    "index of pairs": pandas.DataFrame({"v": [1, 2]}, index=INDEX),
    "columns of pairs": pandas.DataFrame([[1, 2]], columns=INDEX),
    "integers as columns": pandas.DataFrame({1: [1], 2: [2]}),
    "named columns": pandas.DataFrame({"a": [1]}).rename_axis("c", axis=1),
    "a zone": pandas.DataFrame({"t": pandas.to_datetime(["2026-01-01", None]).tz_localize("Europe/Berlin")}),
    "nanoseconds": pandas.DataFrame({"t": pandas.to_datetime([1, 2]), "d": pandas.to_timedelta([1, 2])}),
    "days in a row": pandas.DataFrame({"v": [1, 2, 3]}, index=pandas.date_range("2026-01-01", periods=3)),
    "months": pandas.DataFrame({"v": [1, 2]}, index=pandas.period_range("2026-01", periods=2, freq="M")),
    "optional numbers": pandas.DataFrame({"i": pandas.array([1, None]), "b": pandas.array([True, None])}),
    "small numbers": pandas.DataFrame({"i": [1], "f": [1.5]}).astype({"i": "int8", "f": "float32"}),
    "intervals": pandas.DataFrame({"i": pandas.interval_range(0, 2)}),
    "bytes": pandas.DataFrame({"b": [b"x", b"y"]}),
    "no rows": pandas.DataFrame({"a": pandas.Series([], dtype="float32")}),
    "nothing": pandas.DataFrame(),
    "a step": pandas.DataFrame({"a": [1, 2]}, index=pandas.RangeIndex(4, 0, -2)),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_all_kinds_come_back(name: str) -> None:
    pandas.testing.assert_frame_equal(back(FRAMES[name]), FRAMES[name], check_exact=True)


def test_what_is_said_of_frames_comes_back() -> None:
    made = pandas.DataFrame({("a", 1): [1]})
    made.attrs["unit"] = "m"
    assert back(made).attrs == {"unit": "m"}
    series = back(made[("a", 1)])
    assert series.name == ("a", 1)
    assert series.attrs == {"unit": "m"}


def test_finer_scalars_of_numpy_are_plain_values() -> None:
    scalars = [numpy.timedelta64(3, "s"), numpy.datetime64("2026-01-01"), numpy.complex64(1 + 2j)]
    assert back(scalars) == ["PT3S", "2026-01-01", 1 + 2j]
    assert back(numpy.longdouble(1.5)) == 1.5


def test_arrays_that_were_stored_before_are_read() -> None:
    stored = (
        '{"$stretto":["numpy.ndarray",{"dtype":"<i2","shape":[2],"data":{"$stretto":["bytes","AQACAA=="]}}]}'
    )
    assert decode(stored, JSON_TEXT, Any, "x").tolist() == [1, 2]
