"""The gate before the models."""

import asyncio

import pytest

from equipoise.apps.server.limits import Busy, Gate


def test_users_take_turns_however_often_one_asks():
    async def scene():
        gate, order = Gate(1, 10, 60.0), []

        async def asker(user):
            await gate.enter(user)
            order.append(user)
            await asyncio.sleep(0)
            gate.leave()

        await gate.enter("first")
        tasks = [asyncio.create_task(asker(user)) for user in ["greedy"] * 4 + ["a", "b"]]
        await asyncio.sleep(0)
        assert gate.waiting == 6
        gate.leave()
        await asyncio.gather(*tasks)
        assert gate.running == 0 and gate.waiting == 0
        return order

    assert asyncio.run(scene()) == ["greedy", "a", "b", "greedy", "greedy", "greedy"]


def test_a_full_queue_refuses_and_one_who_fills_it_makes_room_for_others():
    async def scene():
        gate = Gate(1, 3, 60.0)
        await gate.enter("first")
        greedy = [asyncio.create_task(gate.enter("greedy")) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await gate.enter("greedy")
        other = asyncio.create_task(gate.enter("other"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert isinstance(greedy[2].exception(), Busy)
        gate.leave()
        await greedy[0]
        gate.leave()
        await other
        gate.leave()
        await greedy[1]
        gate.leave()
        assert (gate.running, gate.waiting) == (0, 0)

    asyncio.run(scene())


def test_who_waits_too_long_is_refused_and_who_leaves_leaves_no_hole():
    async def scene():
        gate = Gate(1, 3, 0.01)
        await gate.enter("first")
        with pytest.raises(Busy):
            await gate.enter("second")
        leaving = asyncio.create_task(gate.enter("third"))
        await asyncio.sleep(0)
        gate.leave()  # lets the third in, which leaves before it notices
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        await gate.enter("fourth")
        assert gate.running == 1
        gate.leave()
        assert (gate.running, gate.waiting) == (0, 0)

    asyncio.run(scene())
