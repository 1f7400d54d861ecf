"""Files of the user in every directory that is written into, cached into, overwritten or collected. See tests/campaign/nothing_lost."""
import functools
import os
import subprocess

import pyarrow
import pyarrow.parquet

import cfile

HEX = "0123456789abcdef"
# Names like our own. A table, a part and a cache have such files and folders.
OWN = ("table.cft", "part-HEX", "part-HEX/0000-id.cfile", "part-HEX/columns.packed", "part-HEX/part.cft", "chunk-HEX.cft", "columns-HEX",
       "dropped-HEX", "temporary-HEX", ".table.cft.17-3.cfile-tmp", "table.lock", "cfile-cache", "ab/HEXHEX", "0000-id.cfile",
       "columns.packed", "probe-HEX", ".cfile-tmp")
TABLE = pyarrow.table({"id": [3, 1, 2], "name": ["c", "a", "b"]})


def strange(chance, name):
    """A name that is not quite `name`, or not at all."""
    while "HEX" in name:
        name = name.replace("HEX", "".join(chance.choice(HEX) for _ in range(32)), 1)
    return chance.choice([name + ".txt", name + "x", name + "~", "my-" + name, name.upper() + "A", f"{name}-notes/thesis.txt",
                          f"Documents/{name}", name.replace("-", "_").replace(".", "_") + "_", "notes.txt", ".hidden", "a/b/c"])


def plant(chance, folder, parts=()):
    """Puts files below `folder` whose names are not quite our own. Returns their contents by path."""
    canaries = {}
    for _ in range(chance.randrange(1, 6)):
        name = strange(chance, chance.choice(OWN))
        path = folder / chance.choice(["", "", *parts]) / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(chance.randbytes(chance.choice([0, 5, 5000])))
        except OSError:
            continue  # one of the folders is a file
        old = chance.choice([0, 10**6])
        os.utime(path, (path.stat().st_mtime - old,) * 2)
        canaries[path] = path.read_bytes()
    return canaries


def changes(chance, folder, tool):
    """Calls that write, cache, overwrite, collect or repair; each may be refused."""
    table = folder / "table"
    call = functools.partial
    pyarrow.parquet.write_table(TABLE, folder / "in.parquet")
    opened = cfile.open(table)  # a column, if a column was written in the place of the table
    parts = [part["name"] for part in opened.parts] if isinstance(opened, cfile.Table) else []
    places = [table, folder / "other", folder / "new"]
    place = chance.choice(places)
    return [
        call(cfile.write, place, TABLE, overwrite=True), call(cfile.write, place, TABLE), call(cfile.write, place, TABLE["id"], overwrite=True),
        call(cfile.from_parquet, folder / "in.parquet", place, overwrite=True), call(cfile.append, table, TABLE), call(cfile.compact, table),
        call(cfile.collect_garbage, table, 0), call(cfile.drop_parts, table, parts[:1]), call(cfile.repair, table, salvage=True),
        call(cfile.repair, table, drop_damaged=True), call(cfile.write_part, place, TABLE), call(cfile.to_parquet, table, place / "out.parquet"),
        call(subprocess.run, [tool, "gc", "--older-than", "0", place], capture_output=True, check=False), call(cache, place), call(cache, folder / "cache"),
    ]


def cache(directory):
    """Reads a table at a URL through a cache in this directory."""
    import misbehaving_server as server
    direct, _ = server.servers()
    options = server.REGION | {"endpoint": direct}
    url = "s3://bucket/cached/t"
    try:
        cfile.open(url, storage_options=options)
    except cfile.NotFoundError:
        cfile.write(url, pyarrow.table({"id": range(100_000)}), encoding="plain", compression="none", storage_options=options)
    cfile.open(url, storage_options=options | {"cache": str(directory), "cache_bytes": 1 << 17}).to_arrow()


def keep_canaries(chance, folder, tool):
    """Plants canaries, and makes changes. Asserts that each canary stays as it is. Returns the number of changes."""
    cfile.write(folder / "table", TABLE)
    cfile.append(folder / "table", TABLE)
    for name in ("other", "cache"):
        (folder / name).mkdir(mode=0o700)
    parts = [part["name"] for part in cfile.open(folder / "table").parts]
    canaries = plant(chance, folder / "other") | plant(chance, folder / "cache")
    if chance.random() < 0.7:
        canaries |= plant(chance, folder / "table", parts)
    done = 0
    for _ in range(12):
        made = chance.choice(changes(chance, folder, tool))
        try:
            made()
        except (cfile.Error, OSError):
            pass  # refused
        done += 1
        for path, content in canaries.items():
            assert path.is_file() and path.read_bytes() == content, f"{made}: {path} has changed"
    return done
