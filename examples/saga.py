"""A journey that is booked as a whole or not at all: what was done is undone if a later step fails."""

from stretto import Engine, RunFailed, step, workflow


@step
def cancel(booking: str) -> None:
    print("cancelled", booking)


@step(compensate=cancel)
def book_flight(to: str) -> str:
    return f"flight to {to}"


@step(compensate=cancel)
def book_hotel(to: str, nights: int) -> str:
    return f"{nights} nights in {to}"


@step
def pay(bookings: list[str], budget: int) -> int:
    price = 100 * len(bookings)
    if price > budget:
        message = f"{price} is more than {budget}"
        raise ValueError(message)
    return price


@workflow
def journey(to: str = "Rome", nights: int = 3, budget: int = 500) -> int:
    flight = book_flight(to)
    hotel = book_hotel.after(flight)(to, nights)
    return pay([flight, hotel], budget)


if __name__ == "__main__":
    with Engine("memory").sync() as engine:
        print("paid", engine.run(journey))
        try:
            engine.run(journey, budget=10)
        except RunFailed as failure:
            print(failure)
