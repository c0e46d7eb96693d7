"""Arrays and tables of numpy, pandas and pyarrow are stored, and come back as they were."""

from typing import Any

import pytest

from stretto.runtimes.python.plain import Unserialisable, json_text
from stretto.runtimes.python.values import JSON_TEXT, decode, encode, kind_of, unstorable

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
