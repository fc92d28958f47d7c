"""A training that is killed while it runs, and then goes on."""

from dataclasses import replace

import pytest

from equipoise_lab.training import checkpoints


class Killed(Exception):
    """The end of a process."""


def broken_off(train, plan, out, monkeypatch, *, step):
    """The plan in the folder `out`, killed once its checkpoint of a step was written, and then repeated."""

    def killed(folder, name, state):
        save(folder, name, state)
        if state["place"] == [step]:
            raise Killed

    save, again = checkpoints.save, replace(plan, out=out)
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(checkpoints, "save", killed)
        train(again)
    train(again)
    return again
