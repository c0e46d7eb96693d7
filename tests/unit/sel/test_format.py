"""`String.format`."""

import pytest
from tests.unit.sel.evaluation import kind, run

from stretto.sel import Kind


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("'%s-%s', 'ab', 1", "ab-1"),
        ("'%2$s %1$s', 'a', 'b'", "b a"),
        ("'%s %<s %s', 'a', 'b'", "a a b"),
        ("'%S|%5s|%-5s|%.2s', 'ab', 'c', 'd', 'efg'", "AB|    c|d    |ef"),
        ("'100%% %n'", "100% \n"),
        ("'%5%|%-3%|'", "    %|%  |"),
        ("'%d %5d %05d %+d % d %,d %(d', 1, 2, 3, 4, 5, 1234567, -6", "1     2 00003 +4  5 1,234,567 (6)"),
        ("'%(d %d %-4d|', 7, -7, 7", "7 -7 7   |"),
        ("'%x %X %o %#x %#o %08x', 255, 255, 8, 255, 8, 255", "ff FF 10 0xff 010 000000ff"),
        ("'%x %x', -1, -4294967297", "ffffffff fffffffeffffffff"),
        ("'%c%c', 65, 128512", "A😀"),
        ("'%b %b %b %B', true, null, 'x', false", "true false true FALSE"),
        ("'%h %h %h %h', 'a', true, 1, null", "61 4cf 1 null"),
        ("'%h %h %h %h', false, 4294967296, 1.5, new Map()", "4d5 1 3ff80000 0"),
        ("'%.2f %.0f %f', 1.005, 2.5, 0.1", "1.01 3 0.100000"),
        ("'%08.2f %,.1f %+.1f %(.1f', 3.14159, 12345.67, 1.0, -1.0", "00003.14 12,345.7 +1.0 (1.0)"),
        ("'%e %.2E %.0e', 12345.678, 0.00012, 9.6", "1.234568e+04 1.20E-04 1e+01"),
        ("'%e', 0.0", "0.000000e+00"),
        ("'%g %g %.3g %g', 123.456, 0.00001234, 99999.0, 0.0", "123.456 1.23400e-05 1.00e+05 0.00000"),
        (
            "'%f %f %f %(f %+f', 0.0/0, 1.0/0, -1.0/0, -1.0/0, 1.0/0",
            "NaN Infinity -Infinity (Infinity) +Infinity",
        ),
        ("'%s %s', new int[]{1, 2}, new DateTime(0)", "[1, 2] 1970-01-01T00:00:00.000Z"),
        ("'%d %c', null, null", "null null"),
        ("'%.1010f', 1.0", "1." + "0" * 1010),
    ],
)
def test_text(arguments: str, text: str) -> None:
    assert run(f"String.format({arguments});") == text


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "'%d', 1.0",
        "'%f', 1",
        "'%s'",
        "'%3$s', 'a'",
        "'%<s', 'a'",
        "'%q', 1",
        "'%tY', 0",
        "'%'",
        "'%-s', 'a'",
        "'%05s', 'a'",
        "'%.2d', 1",
        "'%0d', 1",
        "'%-05d', 1",
        "'%++d', 1",
        "'%+x', 1",
        "'%c', 'a'",
        "'%c', -1",
        "'%.1c', 65",
        "'%9999999999d', 1",
    ],
)
def test_what_makes_no_sense(arguments: str) -> None:
    assert kind(f"String.format({arguments});") is Kind.ILLEGAL_ARGUMENT


def test_the_pattern_is_a_string() -> None:
    assert kind("String.format(5);") is Kind.CLASS_CAST


def test_python_formats_mean_nothing() -> None:
    assert run("String.format('{0.__class__} %s', 'x');") == "{0.__class__} x"
