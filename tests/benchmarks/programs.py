"""How the benchmarks run programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]


def pin_to_one_core():
    """Pins this process and its children to one core, so that peers that start threads have only one core, too."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[len(cores) // 2]})
    # On some processors (Zen 3) glibc's memcpy by `rep movsb` is several times slower at some alignments. This setting
    # avoids it, so that memcpy is as fast as possible.
    os.environ["GLIBC_TUNABLES"] = "glibc.cpu.x86_rep_movsb_threshold=1000000000"


def run(*command):
    """Runs the program. Returns a list of dictionaries, one per line of its output."""
    command = [str(part) for part in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{sys.argv[0]}: {' '.join(command)} failed")
    return [json.loads(line) for line in done.stdout.splitlines()]
