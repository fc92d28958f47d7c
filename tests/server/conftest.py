"""Servers for tests; without the extra `serve` there are none."""

from importlib.util import find_spec

if find_spec("fastapi") is None:
    collect_ignore_glob = ["*"]
else:
    from served import live, opened, serve, served

    __all__ = ["live", "opened", "serve", "served"]
