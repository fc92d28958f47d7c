"""How fast each kind of file is read, and beside it by another checkout of the product.

    python benchmarks/speed/formats.py FOLDER [--beside CHECKOUT/src] [--rounds 5]

Reads the files below FOLDER (as bytes in memory to documents, `corpus.loaders.load`), in processes that take turns;
prints megabytes a second of processor time by suffix, the best of the rounds, since machines are shared, and how long
this checkout takes to how long the other one does.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

READ = """
import json, sys, time
from pathlib import Path
from equipoise.core.errors import EquipoiseError
from equipoise.corpus.loaders import load
took = {}
for name in json.load(sys.stdin):
    path = Path(name)
    data = path.read_bytes()
    try:
        load(path, data)  # once before, for the modules of its kind
        began = time.process_time()
        load(path, data)
        took[name] = time.process_time() - began
    except EquipoiseError:
        continue
print(json.dumps(took))
"""


def seconds(source: str, files: list[str]) -> dict[str, float]:
    """How long the product at `source` takes for each file that it reads."""
    environment = os.environ | {"PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", READ]
    done = subprocess.run(
        command, input=json.dumps(files), env=environment, capture_output=True, text=True, check=True
    )
    took: dict[str, float] = json.loads(done.stdout)
    return took


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--beside", default="")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    here = str(Path(__file__).resolve().parents[2] / "src")
    sources = [here, *filter(None, [asked.beside])]
    files = sorted(str(path) for path in asked.folder.rglob("*") if path.is_file())
    rounds = [[seconds(source, files) for source in sources] for _ in range(asked.rounds)]
    best = [
        {name: min(one[at][name] for one in rounds) for name in rounds[0][at]} for at in range(len(sources))
    ]
    kinds: dict[str, list[str]] = defaultdict(list)
    for name in files:
        if all(name in took for took in best):
            kinds[Path(name).suffix].append(name)
    print("kind, files, MB, MB/s here" + ", MB/s beside, time here to there" * bool(asked.beside))
    for kind, names in kinds.items():
        size = sum(Path(name).stat().st_size for name in names) / 1e6
        took = [sum(one[name] for name in names) for one in best]
        speeds = [f"{size / spent:.2f}" for spent in took]
        ratio = [f"{took[0] / took[1]:.2f}"] if asked.beside else []
        print(", ".join([kind, str(len(names)), f"{size:.2f}", *speeds, *ratio]))


if __name__ == "__main__":
    main()
