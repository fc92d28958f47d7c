"""Kills the primary of a store under load again and again, promotes its replica, and counts what was lost."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from failover import failover


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    times = parser.parse_args().times
    lost = confirmed = 0
    longest = retries = 0.0
    for number in range(1, times + 1):
        seen = failover()
        lost, confirmed = lost + len(seen.lost), confirmed + seen.confirmed
        longest = max(longest, *(reader.longest_s for reader in seen.readers))
        retries = max(retries, *(reader.most_in_a_row for reader in seen.readers))
        wrong = [line for reader in seen.readers for line in reader.wrong]
        print(
            f"{number}: {seen.confirmed} changes confirmed, {len(seen.lost)} lost, "
            f"{sum(r.reads for r in seen.readers)} reads, {sum(r.failed for r in seen.readers)} asked again, "
            f"longest without an answer {max(r.longest_s for r in seen.readers):.2f} s, wrong {wrong}",
            flush=True,
        )
        if wrong:
            sys.exit(1)
    print(
        f"{times} failovers: {confirmed} changes confirmed, {lost} lost; at most {retries:.0f} tries in a row in vain, "
        f"{longest:.2f} s without an answer"
    )
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
