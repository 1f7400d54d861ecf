#!/usr/bin/env python3
"""Checks that the hexdumps of files in cfile/FORMAT.md are what `cfile-dump hexdump` prints: format_hexdumps.py FORMAT.md CFILE_DUMP

With --write, writes what cfile-dump prints into the document. The bytes of an example come from the document itself."""

import pathlib
import re
import subprocess
import sys
import tempfile

# A block of a file: its lines, and the line with its values. Lines with bytes of the file begin with the offset.
BLOCK = re.compile(r"(?<=\n)(```hexdump file [^\n]*\n)(.*?)(?=^= [^\n]*\n```)", re.S | re.M)
STORED = re.compile(r"^[0-9a-f]{4,}  ((?:[0-9a-f]{2} ?)+)", re.M)


def main():
    write = "--write" in sys.argv
    document, dump = (argument for argument in sys.argv[1:] if argument != "--write")
    text = pathlib.Path(document).read_text(encoding="utf-8")
    found = 0

    def printed(match):
        nonlocal found
        found += 1
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "example.cfile"
            path.write_bytes(b"".join(bytes.fromhex(line[1]) for line in STORED.finditer(match[2])))
            return match[1] + subprocess.run([dump, "hexdump", path], capture_output=True, check=True, timeout=100).stdout.decode()

    expected = BLOCK.sub(printed, text)
    if write:
        pathlib.Path(document).write_text(expected, encoding="utf-8")
    elif expected != text:
        line = next(i for i, (a, b) in enumerate(zip(expected.splitlines(), text.splitlines()), 1) if a != b)
        print(f"{document}:{line}: not what cfile-dump hexdump prints; {sys.argv[0]} --write writes it")
        return 1
    print(f"{found} hexdumps of files")
    return 0 if found >= 5 else 1


if __name__ == "__main__":
    sys.exit(main())
