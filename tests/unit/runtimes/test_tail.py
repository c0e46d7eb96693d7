"""The end of an output, however much there is."""

import asyncio
import os

from tests.waiting import PATIENCE

from stretto.runtimes.process import Tail


def tail_of(data: bytes, most: int = 10) -> Tail:
    async def read() -> Tail:
        tail = Tail(most)
        await asyncio.to_thread(os.write, tail.write, data)
        tail.started()
        async with asyncio.timeout(PATIENCE):
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


def test_all_of_it_is_handed_on() -> None:
    async def read() -> list[bytes]:
        taken: list[bytes] = []
        tail = Tail(4, taken.append, taken.append)
        os.write(tail.write, b"0123456789")
        tail.started()
        async with asyncio.timeout(PATIENCE):
            await tail.ended.wait()
        assert tail.text == "6789"
        return taken

    assert asyncio.run(read()) == [b"0123456789", b"0123456789"]


def test_who_prints_for_ever_is_not_read_for_ever() -> None:
    async def read() -> int:
        tail = Tail(10)
        source = os.open("/dev/zero", os.O_RDONLY)
        os.dup2(source, tail._read)  # there always is something more
        tail.close()
        os.close(source)
        tail.started()
        return tail.size

    assert asyncio.run(read()) == 64 * 65_536
