"""The queue before the models."""

import asyncio

import pytest

from equipoise.apps.server.fair_queue import Busy, FairQueue


def test_users_take_turns_however_often_one_asks():
    async def scene():
        queue, order = FairQueue(1, 10, 60.0), []

        async def asker(user):
            await queue.enter(user)
            order.append(user)
            await asyncio.sleep(0)
            queue.leave()

        await queue.enter("first")
        tasks = [asyncio.create_task(asker(user)) for user in ["greedy"] * 4 + ["a", "b"]]
        await asyncio.sleep(0)
        assert queue.waiting == 6
        queue.leave()
        await asyncio.gather(*tasks)
        assert queue.running == 0 and queue.waiting == 0
        return order

    assert asyncio.run(scene()) == ["greedy", "a", "b", "greedy", "greedy", "greedy"]


def test_a_full_queue_refuses_and_one_who_fills_it_makes_room_for_others():
    async def scene():
        queue = FairQueue(1, 3, 60.0)
        await queue.enter("first")
        greedy = [asyncio.create_task(queue.enter("greedy")) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await queue.enter("greedy")
        other = asyncio.create_task(queue.enter("other"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert isinstance(greedy[2].exception(), Busy)
        queue.leave()
        await greedy[0]
        queue.leave()
        await other
        queue.leave()
        await greedy[1]
        queue.leave()
        assert (queue.running, queue.waiting) == (0, 0)

    asyncio.run(scene())


def test_who_waits_too_long_is_refused_and_who_leaves_leaves_no_hole():
    async def scene():
        queue = FairQueue(1, 3, 0.01)
        await queue.enter("first")
        with pytest.raises(Busy):
            await queue.enter("second")
        leaving = asyncio.create_task(queue.enter("third"))
        await asyncio.sleep(0)
        queue.leave()  # lets the third in, which leaves before it notices
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        await queue.enter("fourth")
        assert queue.running == 1
        queue.leave()
        assert (queue.running, queue.waiting) == (0, 0)

    asyncio.run(scene())
