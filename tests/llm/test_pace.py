import asyncio
import time

import pytest

from src.llm.pace import FLOOR, LEAST, PAUSE, START, TOLERATED, Pace


async def in_line(pace, count, hold_s=0.01, again=False, order=None, name="", tokens=1):
    """Send `count` requests that are all answered after a while."""

    async def one():
        ticket = await pace.enter(tokens, again=again)
        if order is not None:
            order.append(name)
        await asyncio.sleep(hold_s)
        pace.answered(ticket)
        pace.leave()

    await asyncio.gather(*(one() for _ in range(count)))


async def sent(pace, count):
    """Let requests through one by one and leave at once; return their tickets."""
    tickets = []
    for _ in range(count):
        tickets.append(await pace.enter(1, again=False))
        pace.leave()
    return tickets


async def open_pace(most=100):
    pace = Pace(most)
    (ticket,) = await sent(pace, 1)
    pace.answered(ticket)
    return pace


def test_the_first_goes_alone_and_the_start_is_twenty():
    async def main():
        pace = Pace(100)
        waiting = [asyncio.create_task(pace.enter(1, again=False)) for _ in range(60)]
        await asyncio.sleep(0.02)
        alone = sum(task.done() for task in waiting)
        pace.answered(waiting[0].result())
        await asyncio.sleep(0.02)
        after = sum(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        return alone, after

    assert asyncio.run(main()) == (1, START)


@pytest.mark.parametrize("most", [1, 3, 40])
def test_it_grows_to_the_most_and_not_beyond_and_only_where_others_wait(most):
    async def main():
        pace = Pace(most)
        await in_line(pace, 5, hold_s=0)
        before = pace.concurrency
        await in_line(pace, 200)
        return before, pace.concurrency

    assert asyncio.run(main()) == (min(START, most), most)


def test_a_fault_of_the_endpoint_pauses_growth_and_ends_being_alone():
    async def main():
        pace = Pace(100)
        await sent(pace, 1)
        pace.faulted()
        begun = pace.concurrency
        crowd = asyncio.create_task(in_line(pace, 60, hold_s=0.05))
        await asyncio.sleep(0.02)
        for _ in range(5):
            pace.faulted()
            for _ in range(PAUSE):
                pace.answered(1)
        paused = pace.concurrency
        await crowd
        return begun, paused, pace.concurrency

    begun, paused, after = asyncio.run(main())
    assert begun == paused == START
    assert after > START


def test_an_isolated_rejection_changes_nothing():
    async def main():
        pace = await open_pace()
        for _ in range(20):
            tickets = await sent(pace, 100)
            pace.throttled(tickets[50])
        return pace.rate, pace.concurrency

    assert asyncio.run(main()) == (None, START)


def test_rejections_lower_the_concurrency_once_per_episode_and_never_below_the_least():
    async def main(most):
        pace = await open_pace(most)
        for count in (60, 4, 4):
            for ticket in await sent(pace, count):
                pace.throttled(ticket)
        return pace.concurrency

    assert asyncio.run(main(100)) == int(START * 0.8)
    assert asyncio.run(main(LEAST)) == LEAST
    assert asyncio.run(main(1)) == 1


def test_what_was_sent_before_a_cut_cuts_no_second_time():
    async def main():
        pace = await open_pace()
        tickets = await sent(pace, 40)
        for ticket in tickets:
            pace.throttled(ticket)
        return [step.why for step in pace.history], pace.rate

    why, rate = asyncio.run(main())
    assert why == ["start", "first answer", "too many requests"]
    assert rate == 41  # what was sent in the last second


def test_a_quota_is_found_by_the_share_that_is_not_rejected():
    async def main(quota):
        pace = await open_pace()
        for ticket in await sent(pace, 100):
            pace.throttled(ticket)
        level, filled, end = 0.0, time.monotonic(), time.monotonic() + 2.5
        served = rejected = 0
        while time.monotonic() < end:
            (ticket,) = await sent(pace, 1)
            level, filled = min(level + (time.monotonic() - filled) * quota, 5), time.monotonic()
            if level >= 1:
                level -= 1
                served += 1
                pace.answered(ticket)
            else:
                rejected += 1
                pace.throttled(ticket)
        return served / 2.5, rejected, pace.rate

    served, rejected, rate = asyncio.run(main(60))
    assert 50 <= served <= 65
    assert 48 <= rate <= 75
    assert rejected < 0.3 * 2.5 * served


def test_an_outage_lowers_the_rate_to_a_polite_one_and_recovery_doubles_it():
    async def main():
        pace = await open_pace()
        for ticket in await sent(pace, 60):
            pace.throttled(ticket)
        for _ in range(40):  # a quota that is known: some are answered, then none
            (ticket,) = await sent(pace, 1)
            pace.answered(ticket)
        start, sends = time.monotonic(), 0
        while pace.rate > 5:
            (ticket,) = await sent(pace, 1)
            sends += 1
            pace.throttled(ticket)
        fell = time.monotonic() - start
        start = time.monotonic()
        while pace.rate < 50:
            (ticket,) = await sent(pace, 1)
            pace.answered(ticket)
        return fell, sends, time.monotonic() - start

    fell, sends, rose = asyncio.run(main())
    assert fell < 3
    assert sends < 30
    assert rose < 5
    assert FLOOR > 0.1


def test_what_was_rejected_goes_before_what_is_new():
    async def main():
        pace, order = await open_pace(most=1), []
        held = await pace.enter(1, again=False)
        new = [asyncio.create_task(in_line(pace, 1, 0, order=order, name="new")) for _ in range(5)]
        await asyncio.sleep(0)
        again = [asyncio.create_task(in_line(pace, 1, 0, again=True, order=order, name="again")) for _ in range(5)]
        await asyncio.sleep(0.01)
        pace.answered(held)
        pace.leave()
        await asyncio.gather(*new, *again)
        return order

    assert asyncio.run(main()) == ["new", *["again"] * 5, *["new"] * 4]  # the first stood at the gate already


def test_a_limit_per_minute_is_spread_over_the_minute():
    async def main():
        start = time.monotonic()
        pace = Pace(100, requests_per_minute=600)
        await in_line(pace, 14, 0)  # ten at once, then one every tenth of a second
        return time.monotonic() - start

    assert 0.35 <= asyncio.run(main()) < 1.5


def test_an_amount_larger_than_a_limit_passes_later_and_does_not_hang():
    async def main():
        start = time.monotonic()
        pace = Pace(100, tokens_per_minute=60_000)
        await in_line(pace, 1, 0, tokens=1500)
        first = time.monotonic() - start
        await in_line(pace, 3, 0, tokens=100)
        return first, time.monotonic() - start

    first, all_of_it = asyncio.run(main())
    assert 0.45 <= first < 1.2
    assert 0.75 <= all_of_it < 2


def test_a_cancelled_wait_leaves_the_line_in_order():
    async def main():
        pace = await open_pace(most=1)
        held = await pace.enter(1, again=False)
        waiting = [asyncio.create_task(in_line(pace, 1, 0)) for _ in range(4)]
        await asyncio.sleep(0.01)
        waiting[0].cancel()
        waiting[2].cancel()
        await asyncio.sleep(0)
        pace.answered(held)
        pace.leave()
        await asyncio.wait_for(asyncio.gather(waiting[1], waiting[3]), 1)
        await asyncio.wait_for(in_line(pace, 5, 0), 1)
        return [task.cancelled() for task in waiting]

    assert asyncio.run(main()) == [True, False, True, False]


def test_nobody_waits_once_it_is_stopped():
    async def main():
        pace = await open_pace(most=1)
        await pace.enter(1, again=False)
        waiting = [asyncio.create_task(pace.enter(1, again=False)) for _ in range(50)]
        await asyncio.sleep(0.01)
        waited = not any(task.done() for task in waiting)
        pace.stop()
        return waited, len(await asyncio.wait_for(asyncio.gather(*waiting), 1))

    assert asyncio.run(main()) == (True, 50)


def test_the_history_tells_what_happened_and_is_bounded():
    async def main():
        pace = await open_pace()
        await in_line(pace, 300)
        for ticket in await sent(pace, 30):
            pace.throttled(ticket)
        return pace.history

    history = asyncio.run(main())
    assert history.maxlen == 1000
    assert [step.why for step in history][:3] == ["start", "first answer", "growing"]
    assert history[-1].why == "too many requests"
    assert history[-1].rate > 0
    assert [step.seconds for step in history] == sorted(step.seconds for step in history)
    assert len(history) < 40
    assert TOLERATED < 0.1
