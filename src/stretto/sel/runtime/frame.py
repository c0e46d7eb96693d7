"""The state of one evaluation: its variables and what it has used up."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn, TypeAlias

from stretto.sel.environment import BUDGET, Budget, Environment, Missing
from stretto.sel.errors import Kind, SelError
from stretto.sel.numbers import LONG_MAX, LONG_MIN, MOST, MOST_DIGITS, short_text
from stretto.sel.runtime.boxing import boxed
from stretto.sel.syntax.source import utf16_length
from stretto.sel.values import PRESETS, Array, Value

VALUE_SIZE: Final = 32
CHARACTER_SIZE: Final = 2
CHARACTERS_PER_VISIT: Final = 64
Method: TypeAlias = Callable[..., Value]
"""A method of a script: frame, receiver, arguments."""
MASK: Final = 2**64 - 1
GOLDEN: Final = 0x9E3779B97F4A7C15


class AbsentError(Exception):
    """Ends an evaluation whose host answered `Missing`; `Expression.evaluate` turns it into that answer."""

    def __init__(self, missing: Missing) -> None:
        super().__init__(missing)
        self.missing = missing


class Frame:
    """Made for one evaluation and thrown away with it, so that nothing is ever shared."""

    __slots__ = ("_random", "bindings", "environment", "fuel", "letters", "limits", "names", "result", "room")

    def __init__(self, bindings: Mapping[str, Any], environment: Environment) -> None:
        limits = environment.limits
        self.bindings = bindings
        self.environment = environment
        self.limits = limits
        self.fuel = limits.visit - 1  # visits left
        self.room = limits.memory - 1  # memory left
        self.letters = limits.string - 1  # characters that may still be stored
        self.names: dict[str, Value] = {}
        self.result: Value = None
        self._random: int | None = None
        budget = environment.budget
        if budget is not None:
            self.fuel = min(self.fuel, budget.visits_at_once)
            self.room = min(self.room, budget.memory_at_once)

    # --------------------------------------------------------------------------------------- variables
    def bind(self, name: str) -> Value:
        """The value of a name that no variable has yet: a class, a binding, or null."""
        if name in PRESETS:
            value = PRESETS[name]
        elif name in self.bindings:
            value = self.fresh(self.bindings[name])
        else:
            return None
        self.names[name] = value
        return value

    def knows(self, name: str) -> bool:
        """Whether a name has a value, here or outside."""
        return name in self.names or name in PRESETS or name in self.bindings

    def fresh(self, outside: object) -> Value:
        """A value from outside, copied, so that the script can not change what others hold."""
        value = boxed(outside, exact=self.environment.exact)
        self.pay_for(value)
        return value

    # ------------------------------------------------------------------------------------------ limits
    def spend(self, visits: int) -> None:
        """Use up some visits."""
        self.fuel -= visits
        if self.fuel < 0:
            self.exhausted(0)

    def charge(self, budget: Budget) -> None:
        """Take what this evaluation has used from the budget that it shares with others."""
        budget.visits -= min(self.limits.visit - 1, budget.visits_at_once) - max(self.fuel, 0)
        budget.memory -= min(self.limits.memory - 1, budget.memory_at_once) - max(self.room, 0)

    def scan(self, length: int) -> None:
        """Use up the visits of going through that many characters: none for a short string."""
        if length >= CHARACTERS_PER_VISIT:
            self.spend(length // CHARACTERS_PER_VISIT)

    def pay(self, memory: int) -> None:
        """Use up some memory."""
        self.room -= memory
        if self.room < 0:
            self.exhausted(0)

    def pay_text(self, length: int) -> None:
        """Use up the memory of that many characters, before they are made."""
        self.pay(CHARACTER_SIZE * length)

    def afford(self, length: int) -> None:
        """Make sure there is memory for that many characters, which will be paid for when they exist."""
        if CHARACTER_SIZE * length > self.room:
            self.pay_text(length)

    def pay_for(self, value: Value) -> None:
        """Use up the memory of a new value, with all that is in it."""
        if type(value) is str:
            self.pay(VALUE_SIZE + CHARACTER_SIZE * utf16_length(value))
        elif isinstance(value, Array):
            self.pay(VALUE_SIZE * (len(value) + 1) + CHARACTER_SIZE * sum(map(len, filter(_is_text, value))))
        elif type(value) is dict:
            self.pay(VALUE_SIZE * (len(value) + 1))
            for item in value.values():
                self.pay_for(item)
        else:
            self.pay(VALUE_SIZE)

    def append(self, length: int) -> None:
        """Use up some of the characters that variables, arrays and maps may be given."""
        self.letters -= length
        self.check_string(self.limits.string - self.letters - 1)

    def check_string(self, length: int) -> None:
        """Refuse to make or store more characters than allowed."""
        if length >= self.limits.string:
            raise _over("string", f"The strings of the script have {self.limits.string} characters or more")

    def kept(self, value: Value) -> Value:
        """A value that a variable, array or map is about to hold. Strings count as copied."""
        if type(value) is str:
            self.append(len(value))
        return value

    def check_stack(self, depth: int) -> None:
        """Refuse to hold more operands than allowed."""
        if depth > self.limits.stack:
            raise SelError(
                Kind.INDEX_OUT_OF_BOUNDS,
                f"More than {self.limits.stack} operands are held at once",
                limit="stack",
            )

    def exhausted(self, depth: int) -> NoReturn:
        """Say which limit was passed, the operand stack first."""
        self.check_stack(depth)
        budget, limits = self.environment.budget, self.limits
        if self.fuel < 0:
            if budget is not None and budget.visits_at_once < limits.visit - 1:
                raise _over(BUDGET, f"The evaluation takes more than its share of {budget.visits} steps")
            raise _over("visit", f"The evaluation takes {limits.visit} steps or more")
        if budget is not None and budget.memory_at_once < limits.memory - 1:
            raise _over(
                BUDGET, f"The evaluation takes more than its share of {budget.memory} bytes of memory"
            )
        raise _over("memory", f"The evaluation takes {limits.memory} bytes of memory or more")

    # ---------------------------------------------------------------------------- the moment and chance
    def now(self) -> int:
        """The moment of this evaluation, the same however often it is asked."""
        millis = self.environment.now_millis
        if millis is None:
            raise SelError(Kind.ILLEGAL_STATE, "This expression asks for the time, and none was given")
        return millis

    def random_bits(self) -> int:
        """The next 64 bits of the stream that the seed begins (splitmix64)."""
        state = self.environment.seed if self._random is None else self._random
        self._random = state = (state + GOLDEN) & MASK
        state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        state = (state ^ (state >> 27)) * 0x94D049BB133111EB & MASK
        return state ^ (state >> 31)


def within(frame: Frame, result: Value, what: str, *numbers: object) -> Value:
    """The result of an operation that does not wrap: an integer that has too many digits, or that needs more
    than 64 bits where these are the limit, is an error. `what` shows the operation, with the numbers.
    """
    if type(result) is not int or LONG_MIN <= result <= LONG_MAX:
        return result
    exact = frame.environment.exact
    if exact and -MOST < result < MOST:
        frame.pay(result.bit_length() // 8)
        return result
    limit = f"{MOST_DIGITS:,} digits" if exact else "64 bits"
    shown = what.format(*map(short_text, numbers))
    raise SelError(Kind.ARITHMETIC, f"Integer overflow: {shown} needs more than {limit}")


def _is_text(value: Value) -> bool:
    return type(value) is str


def _over(limit: str, message: str) -> SelError:
    return SelError(Kind.ILLEGAL_STATE, message, limit=limit)
