"""The end of an output, however much there is."""

import asyncio
import os

from stretto.runtimes.tail import Tail


def tail_of(data: bytes, most: int = 10) -> Tail:
    async def read() -> Tail:
        tail = Tail(most)
        await asyncio.to_thread(os.write, tail.write, data)
        tail.started()
        async with asyncio.timeout(10):
            await tail.ended.wait()
        tail.close()
        return tail

    return asyncio.run(read())


def test_all_of_a_short_one() -> None:
    tail = tail_of(b"a\nb\n")
    assert (tail.text, tail.size) == ("a\nb\n", 4)


def test_the_last_whole_lines_of_a_long_one() -> None:
    tail = tail_of(b"first line\nsecond\nlast\n")
    assert (tail.text, tail.size) == ("last\n", 23)


def test_the_end_of_one_long_line() -> None:
    assert tail_of(b"0123456789abcdef").text == "6789abcdef"
    assert tail_of(b"0123456789abcde\n").text == "6789abcde\n"


def test_what_can_not_be_stored_is_replaced() -> None:
    assert tail_of(b"a\0b\xff").text == "a\ufffdb\ufffd"


def test_closing_takes_what_is_there_and_no_more() -> None:
    async def read() -> str:
        tail = Tail(100)
        os.write(tail.write, b"there")
        tail.close()  # somebody still holds the other end
        tail.close()
        tail.started()
        return tail.text

    assert asyncio.run(read()) == "there"
