#!/usr/bin/env python3
"""Checks that the links between the documents lead to files and headings that exist, that each document can be reached from README.md,
and that the paths between backquotes and the documents that sources name exist.

check_links.py ROOT           checks each .md file below ROOT, except in hidden folders and those of builds
check_links.py --html FOLDER  checks the links between the .html files in FOLDER
"""
import pathlib
import re
import sys
import urllib.parse

IGNORED = re.compile(r"(\.|build|out$)")
PATH = re.compile(r"`((?:cfile|encodings|proto|tests|third_party|tools|\.ci)/[^`\s]+)")
PAGE = re.compile(r"(?:cfile|encodings|tests|tools)/[\w/.-]*\.md\b")  # in sources


def files(folder, suffixes):
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink() and not IGNORED.match(path.name):
            yield from files(path, suffixes)
        elif path.suffix in suffixes:
            yield path


def text_of(path):
    """The document without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """The anchors of the headings, formed as on GitHub."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def check_documents(root):
    """Returns the number of links and paths, and the problems."""
    checked, problems, leads_to = 0, [], {}
    for document in files(root, {".md"}):
        text = text_of(document)
        for path in PATH.findall(text):
            if "NAME" in path:
                continue  # stands for a name
            checked += 1
            if not (root / path).exists():
                problems.append(f"{document.relative_to(root)}: `{path}` does not exist")
        leads_to[document.resolve()] = set()
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue  # a link to the web
            name, _, anchor = target.partition("#")
            path = document.parent / name if name else document
            leads_to[document.resolve()].add(path.resolve())
            checked += 1
            if not path.exists():
                problems.append(f"{document.relative_to(root)}: {target} does not exist")
            elif anchor and anchor not in anchors(path):
                problems.append(f"{document.relative_to(root)}: {target}: no such heading")
    reached, new = set(), {(root / "README.md").resolve()}
    while new:
        reached |= new
        new = {path for document in new for path in leads_to.get(document, ())} - reached
    problems += [f"{document}: no link from README.md leads there" for document in leads_to if document not in reached]
    for source in files(root, {".h", ".cc", ".py"}):
        for path in PAGE.findall(source.read_text(encoding="utf-8", errors="replace")):
            checked += 1
            if not (root / path).exists():
                problems.append(f"{source.relative_to(root)}: {path} does not exist")
    return checked, problems


def check_html(folder):
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}
    names = {page: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for page, text in texts.items()}
    checked, problems = 0, []
    for page, text in texts.items():
        for target in set(re.findall(r'\b(?:href|src)="([^"]+)"', text)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = urllib.parse.unquote(target).partition("#")
            checked += 1
            if name and not (folder / name).exists() or anchor and anchor not in names.get(name or page, ()):
                problems.append(f"{page}: {target} does not exist")
    return checked, problems


def main():
    checked, problems = check_html(pathlib.Path(sys.argv[2])) if sys.argv[1] == "--html" else check_documents(pathlib.Path(sys.argv[1]))
    if checked == 0:
        problems.append("no link found")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{checked} links and paths, 0 findings")


if __name__ == "__main__":
    main()
