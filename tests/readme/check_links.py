#!/usr/bin/env python3
"""Checks that the links between the documents lead to files and headings that exist, and that the paths between backquotes exist.

check_links.py ROOT    checks each .md file below ROOT, except in hidden folders and those of builds
"""
import pathlib
import re
import sys

IGNORED = re.compile(r"(\.|build|out$)")
PATH = re.compile(r"`((?:cfile|encodings|proto|tests|third_party|tools|\.ci)/[^`\s]+)")


def documents(folder):
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink() and not IGNORED.match(path.name):
            yield from documents(path)
        elif path.suffix == ".md":
            yield path


def text_of(path):
    """The document without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """The anchors of the headings, formed as on GitHub."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def main():
    root = pathlib.Path(sys.argv[1])
    checked, problems = 0, []
    for document in documents(root):
        text = text_of(document)
        for path in PATH.findall(text):
            if "NAME" in path:
                continue  # stands for a name
            checked += 1
            if not (root / path).exists():
                problems.append(f"{document.relative_to(root)}: `{path}` does not exist")
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue  # a link to the web
            name, _, anchor = target.partition("#")
            path = document.parent / name if name else document
            checked += 1
            if not path.exists():
                problems.append(f"{document.relative_to(root)}: {target} does not exist")
            elif anchor and anchor not in anchors(path):
                problems.append(f"{document.relative_to(root)}: {target}: no such heading")
    if checked == 0:
        problems.append(f"{root}: no link found")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{checked} links and paths are right")


if __name__ == "__main__":
    main()
