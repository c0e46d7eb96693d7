"""Codecs of arrays and tables: numpy as bytes, pandas and pyarrow in Arrow's own format.

Imported when the first value of one of these libraries is stored or read; a library that is not installed is
left out.
"""

import importlib
from types import ModuleType
from typing import Any

from stretto.runtimes.python.codecs import codec


def _installed(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _register_numpy(numpy: Any) -> None:
    def encode(array: Any) -> Any:
        if array.dtype.hasobject:
            raise TypeError("a numpy array of objects can not be stored: give it a dtype of numbers or texts")
        return {"dtype": array.dtype.str, "shape": list(array.shape), "data": array.tobytes()}

    def decode(content: Any) -> Any:
        made = numpy.frombuffer(content["data"], dtype=numpy.dtype(content["dtype"]))
        return made.reshape(content["shape"]).copy()

    codec(numpy.ndarray, name="numpy.ndarray", encode=encode, decode=decode)


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
    if pandas is None:
        return
    codec(
        pandas.DataFrame,
        name="pandas.DataFrame",
        encode=lambda frame: encode(arrow.Table.from_pandas(frame)),
        decode=lambda content: decode(content).to_pandas(),
    )
    codec(
        pandas.Series,
        name="pandas.Series",
        encode=lambda series: [series.name, encode(arrow.Table.from_pandas(series.to_frame("values")))],
        decode=lambda parts: decode(parts[1]).to_pandas()["values"].rename(parts[0]),
    )


if (_numpy := _installed("numpy")) is not None:
    _register_numpy(_numpy)
if (_arrow := _installed("pyarrow")) is not None:
    _register_arrow(_arrow)
