#!/usr/bin/env python3
"""Checks the hexdumps of whole files in cfile/FORMAT.md: format_hexdumps.py FORMAT.md CFILE_DUMP [--write]

Makes a file from the bytes of each hexdump, and compares the hexdump with what `cfile-dump hexdump` prints for this file. With --write,
replaces the hexdumps in FORMAT.md by what cfile-dump prints."""

import pathlib
import re
import subprocess
import sys
import tempfile

# A fenced block with the hexdump of a file. Group 1 is the line of the fence, group 2 the hexdump. The line with the values follows.
BLOCK = re.compile(r"(?<=\n)(```hexdump file [^\n]*\n)(.*?)(?=^= [^\n]*\n```)", re.S | re.M)
# A line with bytes of the file. Such a line begins with the offset; lines with bytes before compression are indented.
STORED = re.compile(r"^[0-9a-f]{4,}  ((?:[0-9a-f]{2} ?)+)", re.M)


def main():
    write = "--write" in sys.argv
    document, dump = (argument for argument in sys.argv[1:] if argument != "--write")
    text = pathlib.Path(document).read_text(encoding="utf-8")
    found = 0

    def printed(match):
        """The fence and what cfile-dump prints for the bytes of this hexdump."""
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
