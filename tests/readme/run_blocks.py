#!/usr/bin/env python3
"""Runs the examples of a document and compares their output with the document.

run_blocks.py DOCUMENT cpp PROGRAM [NUMBER]   runs PROGRAM, which was built from the ```cpp block with this number (default: 1); the
                                              same for ```c
run_blocks.py DOCUMENT sh DIRECTORY           runs each block that begins with ```sh run, with DIRECTORY first in PATH

A document may be a C++ header; its blocks stand in comments. All blocks run in one directory, which is empty at first, one after
another; each must succeed. If the next block begins with ```text, it is the expected standard output, in which ... at the end of
a line stands for any text.
"""
import os
import re
import subprocess
import sys
import tempfile


def blocks(document):
    """Yields (info string, contents, line number) of each fenced block."""
    with open(document, encoding="utf-8") as lines:
        text = re.sub(r"^// ?", "", lines.read(), flags=re.MULTILINE)
    for match in re.finditer(r"^```(\S.*)\n((?:.*\n)*?)```$", text, re.MULTILINE):
        yield match[1].strip(), match[2], text.count("\n", 0, match.start()) + 1


def matches(expected, printed):
    """True if the line `printed` matches the line `expected` of the document."""
    if expected.endswith("..."):
        return printed.startswith(expected[:-3])
    return expected == printed


def check(where, command, expected, environment, directory):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=environment,
                            cwd=directory, check=False)
    if result.returncode != 0:
        sys.exit(f"{where}: ends with {result.returncode}; it printed:\n{result.stdout}")
    if expected is None:
        return
    shown, printed = expected.splitlines(), result.stdout.splitlines()
    if len(shown) != len(printed) or not all(map(matches, shown, printed)):
        sys.exit(f"{where}: shows\n{expected}but prints\n{result.stdout}")


def main():
    document, language, tools = sys.argv[1:4]
    number = int(sys.argv[4]) if len(sys.argv) > 4 else 1  # of the block from which the program was built
    environment = dict(os.environ, LC_ALL="C.UTF-8")
    if language == "sh":
        environment["PATH"] = tools + os.pathsep + environment["PATH"]
    shown = list(blocks(document)) + [("", "", 0)]
    num_run = 0
    with tempfile.TemporaryDirectory() as directory:
        for (info, contents, line), (next_info, next_contents, _) in zip(shown, shown[1:]):
            if language != "sh" and info == language:
                number -= 1
                if number != 0:
                    continue
                command = [tools]
            elif language == "sh" and info == "sh run":
                command = ["bash", "-euo", "pipefail", "-c", contents]
            else:
                continue
            check(f"{document}:{line}", command, next_contents if next_info == "text" else None, environment, directory)
            num_run += 1
    if num_run == 0:
        sys.exit(f"{document}: no block to run")
    print(f"{num_run} blocks of {document} do what they show")


if __name__ == "__main__":
    main()
