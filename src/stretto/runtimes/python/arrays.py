"""Codecs of arrays and tables: numpy as bytes, pandas and pyarrow in Arrow's own format. A value comes back
as it was, or is refused.

Imported when the first value of one of these libraries is stored or read; a library that is not installed is
left out.
"""

import importlib
from collections.abc import Callable, Iterator
from numbers import Real
from types import ModuleType
from typing import Any, Final

from stretto.runtimes.python.codecs import codec

KINDS: Final = frozenset("biufcmMSUV")  # of what an array may hold: numbers, times, texts and bytes
LABELS: Final = (str, Real, type(None))


def _installed(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _only(value: Any, *classes: type) -> None:
    """Refuse values of subclasses, which would come back as values of their base class."""
    if type(value) not in classes:
        name = classes[0].__qualname__
        raise TypeError(f"it would come back as `{name}`: convert it before, or register a codec for it")


# ------------------------------------------------------------------------------------------------------ numpy
def _register_numpy(numpy: Any) -> None:
    plain = numpy.ndarray, numpy.memmap

    def encode(array: Any) -> Any:
        _only(array, *plain)
        return encoded(array)

    def encoded(array: Any) -> Any:
        if array.dtype.hasobject or not set(_kinds(array.dtype)) <= KINDS:
            raise TypeError("a numpy array of objects can not be stored: give it a dtype of numbers or texts")
        described = numpy.lib.format.dtype_to_descr(array.dtype)
        if numpy.lib.format.descr_to_dtype(described) != array.dtype:
            raise TypeError(f"its dtype {array.dtype} would come back as another one")
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        made = {"dtype": described, "shape": list(array.shape), "data": array.tobytes(order)}
        return made if order == "C" else {**made, "order": order}

    def decode(content: Any) -> Any:
        dtype = numpy.lib.format.descr_to_dtype(_described(content["dtype"]))
        made = numpy.frombuffer(content["data"], dtype=dtype)
        return made.reshape(content["shape"], order=content.get("order", "C")).copy("K")

    def encode_masked(array: Any) -> Any:
        _only(array, numpy.ma.MaskedArray)
        fill = numpy.array(array.fill_value, dtype=array.dtype)
        mask = None if array.mask is numpy.ma.nomask else encoded(array.mask)
        return {"data": encoded(array.data), "mask": mask, "fill": encoded(fill), "hard": array.hardmask}

    def decode_masked(content: Any) -> Any:
        mask = numpy.ma.nomask if content["mask"] is None else decode(content["mask"])
        fill = decode(content["fill"])[()]
        return numpy.ma.MaskedArray(
            decode(content["data"]), mask=mask, fill_value=fill, hard_mask=content["hard"]
        )

    codec(numpy.ndarray, name="numpy.ndarray", encode=encode, decode=decode)
    codec(numpy.ma.MaskedArray, name="numpy.ma.MaskedArray", encode=encode_masked, decode=decode_masked)


def _kinds(dtype: Any) -> Iterator[str]:
    """The kinds of the numbers and texts that a dtype is made of."""
    if dtype.subdtype is not None:
        yield from _kinds(dtype.subdtype[0])
    elif dtype.names is not None:
        for name in dtype.names:
            yield from _kinds(dtype.fields[name][0])
    else:
        yield dtype.kind


def _described(stored: Any) -> Any:
    """The description of a dtype with the tuples of which JSON has made lists."""
    if isinstance(stored, str):
        return stored
    return [
        (
            tuple(name) if isinstance(name, list) else name,
            _described(held),
            *(tuple(each) if isinstance(each, list) else each for each in shape),
        )
        for name, held, *shape in stored
    ]


# ----------------------------------------------------------------------------------------- pyarrow and pandas
def _register_arrow(arrow: Any) -> None:
    ipc = importlib.import_module("pyarrow.ipc")

    def encode(table: Any) -> bytes:
        sink = arrow.BufferOutputStream()
        with ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

    def decode(content: bytes) -> Any:
        return ipc.open_stream(content).read_all()

    codec(arrow.Table, name="pyarrow.Table", encode=encode, decode=decode)
    pandas = _installed("pandas")
    if pandas is not None:
        _register_pandas(
            pandas,
            lambda frame: encode(arrow.Table.from_pandas(frame)),
            lambda content: decode(content).to_pandas(),
        )


def _register_pandas(pandas: Any, to_bytes: Callable[[Any], bytes], of_bytes: Callable[[bytes], Any]) -> None:
    def encode_frame(frame: Any) -> Any:
        _only(frame, pandas.DataFrame)
        frequency = getattr(frame.index, "freqstr", None)
        content = to_bytes(frame) if frequency is None else [to_bytes(frame), frequency]
        _refuse_changes(pandas, frame, decode_frame(content))
        return content

    def decode_frame(content: Any) -> Any:
        if isinstance(content, bytes):
            return of_bytes(content)
        found = of_bytes(content[0])
        if getattr(found.index, "freqstr", None) is None:
            found.index.freq = content[1]
        return found

    def encode_series(series: Any) -> Any:
        _only(series, pandas.Series)
        if not isinstance(series.name, LABELS) and not (
            isinstance(series.name, tuple) and all(isinstance(each, LABELS) for each in series.name)
        ):
            raise TypeError("its name is not a text, a number, a flag or a tuple of these")
        return [series.name, encode_frame(series.to_frame("values"))]

    def decode_series(parts: Any) -> Any:
        name = tuple(parts[0]) if isinstance(parts[0], list) else parts[0]
        return decode_frame(parts[1])["values"].rename(name)

    codec(pandas.DataFrame, name="pandas.DataFrame", encode=encode_frame, decode=decode_frame)
    codec(pandas.Series, name="pandas.Series", encode=encode_series, decode=decode_series)


def _refuse_changes(pandas: Any, frame: Any, found: Any) -> None:
    """Arrow has no word for everything that a frame may hold, and takes the nearest one without saying so."""
    try:
        pandas.testing.assert_frame_equal(frame, found, check_exact=True, check_index_type=True)
    except AssertionError as error:
        text = " ".join(str(error).split())
        raise TypeError(f"it would come back changed: {text:.300}") from None
    if not _is_same(frame.attrs, found.attrs):
        raise TypeError("its `attrs` would come back changed")
    for number, dtype in enumerate(frame.dtypes):
        if dtype.kind == "O" and not _is_same(frame.iloc[:, number].tolist(), found.iloc[:, number].tolist()):
            name = frame.columns[number]
            raise TypeError(f"the objects in its column `{name}` would come back changed")


def _is_same(value: Any, found: Any) -> bool:
    """Whether two values have the same classes throughout, and are equal; `nan` is like `nan`."""
    if type(value) is not type(found):
        return False
    if isinstance(value, list | tuple):
        return len(value) == len(found) and all(map(_is_same, value, found))
    if isinstance(value, dict):
        return list(value) == list(found) and all(_is_same(value[key], found[key]) for key in value)
    same = value is found or value == found or (value != value and found != found)  # noqa: PLR0124
    return bool(same)


if (_numpy := _installed("numpy")) is not None:
    _register_numpy(_numpy)
if (_arrow := _installed("pyarrow")) is not None:
    _register_arrow(_arrow)
