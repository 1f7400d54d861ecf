#!/usr/bin/env python3
"""Checks the modules of the source tree: which folder may include which, that no includes form a cycle, and how many
source files a folder holds. Also checks that one source decides what the version of a file means.

  tests/rooms/check_rooms.py           exits with 1 if a rule is broken
  tests/rooms/check_rooms.py --draw    also prints the rooms and their arrows

A header and its source are one unit: the first include of a source, which stands alone, is its header. The rules are
the tables below. A folder that they do not name is an error, so a new module is a decision.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_FILES = 45  # source files in one folder
MOST_HEADERS = 60  # public headers: users include each by its path, so none is merged with another

# Each module, and the modules that it may include besides itself.
ENCODINGS = {
    "encodings/core": [],
    "encodings/kernels": ["encodings/core"],
    "encodings/hybrid": ["encodings/core", "encodings/kernels"],
    "encodings/kudu": ["encodings/core", "encodings/kernels", "encodings/hybrid"],
    "encodings/parquet": ["encodings/core", "encodings/kernels", "encodings/hybrid"],
    "encodings/own": ["encodings/core", "encodings/kernels", "encodings/hybrid", "encodings/kudu", "encodings/parquet"],
}
# The registry and parquet.h are the top of encodings/.
ENCODINGS["encodings"] = list(ENCODINGS)

# Modules of cfile/core and cfile/parts also include the public headers (cfile) and encodings/. The core includes no part.
CORE = {
    "io": [],
    "wire": [],
    "format": ["wire", "io"],
    "write": ["format", "io"],
    "read": ["format", "io"],
}
# Parts may include all modules of the core, and these parts.
PARTS = {
    "scan": [],
    "inspect": [],
    "table/schema": [],
    "table/manifest": [],
    "table/storage": [],
    "table/packed": ["table/manifest"],
    "table/merge": ["table/manifest", "scan"],
    "table/commit": ["table/manifest", "table/storage"],
    "table": ["table/manifest", "table/storage", "table/packed", "table/commit", "table/merge", "scan", "inspect"],
    "table/where": ["scan"],
    "records": ["table", "scan"],
    "records/protobuf": ["records", "table"],
    "arrow": ["table", "table/manifest", "scan"],
    "arrow/schema": ["arrow"],
    "arrow/ipc": ["arrow", "arrow/schema"],
    "parquet/metadata": [],
    "parquet": ["parquet/metadata", "arrow", "arrow/schema", "records", "table", "table/manifest", "inspect"],
    "salvage": ["table", "table/manifest", "table/commit", "table/storage", "scan", "inspect"],  # Repair rebuilds tables
    "http": [],
    "c": [],
}
# The folders whose files are checked, and the other folders of the project.
TOPS = ("cfile/", "encodings/", "tools/", "proto/", "tests/")
THIRD_PARTY = ("absl/", "hwy/", "nanobind/", "xxhash.h")  # included with quotes
# The modules of encodings/ that public headers may include. They hold numbers, types and macros, but no encoding.
PUBLIC = ["encodings/core"]
# A header that defines private parts of classes of another header is one unit with it.
PRIVATE_HALVES = {
    "cfile/core/read/reader_access.h": "cfile/reader.h",
    "cfile/parts/table/scan_parts.h": "cfile/table_scan.h",
    "cfile/parts/table/open_table.h": "cfile/table.h",
    "cfile/parts/table/where/constant_text.h": "cfile/filter.h",
}
# What a private part of cfile/ does not do itself: compare a version or an oldest reader. It asks for a property of
# file_policy.h.
DECISION = re.compile(r"(==|!=|\bcase)\s*(cfile::)?(FormatVersion|OldestReader)::k|(FormatVersion|OldestReader)::k\w+\s*(==|!=)")
DECIDES = "cfile/core/format/file_policy.cc"
# Libraries with one door: what the path of a file begins with that may include their headers. No file includes generated headers.
DOORS = {
    "CLI/": "tools/command.cc",
    "curl/": "cfile/parts/http/",
    "google/protobuf/": "cfile/parts/records/protobuf/",
    "nlohmann/": "tests/",
    "openssl/": "cfile/parts/http/",
    "pugixml": "cfile/parts/http/",
    "re2/": "cfile/parts/scan/",
}


def allowed():
    rules = {room: set(others) for room, others in ENCODINGS.items()}
    rules["cfile"] = set(PUBLIC)
    for room, others in CORE.items():
        rules[f"cfile/core/{room}"] = {f"cfile/core/{other}" for other in others} | set(ENCODINGS) | {"cfile"}
    core = {f"cfile/core/{room}" for room in CORE}
    for room, others in PARTS.items():
        rules[f"cfile/parts/{room}"] = {f"cfile/parts/{other}" for other in others} | core | set(ENCODINGS) | {"cfile"}
    for room in ("tools", "tools/dump", "tools/import", "tools/input", "tools/records", "tools/report", "tools/table", "tools/columns"):
        rules[room] = {"cfile"} | ({"tools"} if room != "tools" else set())
    for room in ("tools/dump", "tools/import"):
        rules[room].add("tools/records")
    rules["tools/import"].add("tools/input")
    rules["tools/columns"] |= {"tools/dump", "encodings"}  # walks the registry
    rules["tools/report"] |= {"tools/dump", "tools/columns"}
    rules["tools/python/native"] = {"cfile", "encodings"}
    return rules


def includes_of(path):
    """The project's files, and the headers of DOORS, that a file includes, as written."""
    written = re.findall(r'^\s*#\s*include\s*(["<][^">]+[">])', path.read_text(), re.MULTILINE)
    return [name[1:-1] for name in written if name[0] == '"' or name[1:].startswith((*TOPS, *DOORS))]


def header_of(source, includes):
    """The header of a source: its first include, which stands alone before all others. None if there is no such include."""
    match = re.match(r'(?://[^\n]*\n)*\n?#include "([^"]+)"\n\n', source.read_text())
    return match[1] if match and match[1] in includes else None


def read_tree():
    """Returns {file: [included files]} and {file: unit}, all as paths from the root."""
    includes, unit = {}, {}
    for top in ("encodings", "cfile", "tools"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            name = path.relative_to(ROOT).as_posix()
            includes[name] = includes_of(path)
            header = header_of(path, includes[name]) if path.suffix == ".cc" else PRIVATE_HALVES.get(name)
            unit[name] = PRIVATE_HALVES.get(header, header) or name
    return includes, unit


def room_of(name):
    return name.rpartition("/")[0]


def cycles_of(arrows):
    """The strongly connected sets of more than one unit (Tarjan's algorithm, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in arrows:
        if start in index:
            continue
        work = [(start, iter(arrows[start]))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(arrows.get(target, ()))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while not members or members[-1] != node:
                        members.append(stack.pop())
                        on_stack.discard(members[-1])
                    if len(members) > 1:
                        found.append(sorted(members))
    return found


def problems():
    rules = allowed()
    includes, unit = read_tree()
    found = []
    arrows = collections.defaultdict(set)
    files = collections.Counter()
    for name, targets in includes.items():
        room = room_of(name)
        files[room] += 1
        if name.endswith(".cc") and not name.endswith("/main.cc") and unit[name] == name:
            found.append(f"{name}: the first include, alone before all others, is the header that the source implements")
        if name.startswith(("cfile/core/", "cfile/parts/")) and name != DECIDES and DECISION.search((ROOT / name).read_text()):
            found.append(f"{name} compares a version or an oldest reader: only {DECIDES} may do that")
        if room not in rules:
            found.append(f"{name}: tests/rooms/check_rooms.py has no rule for the module {room}")
            continue
        for target in targets:
            if not target.startswith(TOPS):
                found += [f"{name} includes {target}: only {door} may do that" for library, door in DOORS.items()
                          if target.startswith(library) and not name.startswith(door)]
                if not target.startswith((*THIRD_PARTY, *DOORS)):
                    found.append(f"{name} includes {target}: an include names the path from the root")
                continue
            other = room_of(target)
            if other != room and other not in rules[room]:
                found.append(f"{name} includes {target}: {room} may not include {other}")
            if unit[name] != unit.get(target, target):
                arrows[unit[name]].add(unit.get(target, target))
    for cycle in cycles_of({one: sorted(others) for one, others in sorted(arrows.items())}):
        found.append("these include each other in a cycle: " + ", ".join(cycle))
    for room, count in sorted(files.items()):
        most = MOST_HEADERS if room == "cfile" else MOST_FILES
        if count > most:
            found.append(f"{room} holds {count} source files, at most {most} are allowed")
    return found, files, {(room_of(a), room_of(b)) for a, others in arrows.items() for b in others if room_of(a) != room_of(b)}


def main():
    found, files, arrows = problems()
    if "--draw" in sys.argv[1:]:
        for room in sorted(files):
            print(f"{room} ({files[room]} files): {', '.join(sorted(b for a, b in arrows if a == room)) or '-'}")
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{len(files)} modules, {len(arrows)} arrows, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
