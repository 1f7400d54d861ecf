"""Writes what any library passes, sorts it, appends to it, and leaves nothing after an error."""
import concurrent.futures
import math
import os
import threading

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import cfile
from cfile import _native

TABLE = pyarrow.table({"id": [3, 1, 2], "name": ["c", "a", "b"]})
SOURCES = {
    "table": lambda: TABLE,
    "reader": lambda: pyarrow.RecordBatchReader.from_stream(TABLE),
    "batch": lambda: TABLE.to_batches()[0],
    "chunks": lambda: pyarrow.chunked_array([TABLE.to_batches()[0].to_struct_array()]),
    "struct array": lambda: TABLE.to_batches()[0].to_struct_array(),
    "polars": lambda: polars.DataFrame(TABLE),
    "pandas": lambda: TABLE.to_pandas(),
    "duckdb": lambda: duckdb.connect().from_arrow(TABLE),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("sorted_by", [None, "id", ["name"], ["name", "id"]])
def test_tables_of_each_library(stored, source, sorted_by):
    rows = TABLE.to_pylist()
    assert stored(SOURCES[source](), sorted_by=sorted_by).to_pylist() == (rows if sorted_by is None else sorted(rows,
        key=lambda row: row["id"]))


def test_own_objects_are_written(stored, tmp):
    table = stored(TABLE)
    for number, source in enumerate([table, table[:], table.take([0, 1, 2]), table.scan(cfile.col("id") > 0),
            *cfile.fragments(tmp / "data")]):
        assert stored(source, name=f"copy{number}").to_pylist() == TABLE.to_pylist()
    assert stored(table["name"], name="column").to_arrow().to_pylist() == ["c", "a", "b"]


@pytest.mark.parametrize("source", [pyarrow.array([3, 1, 2]), pyarrow.chunked_array([[3], [1, 2]]), polars.Series([3, 1, 2]),
                                    pandas.Series([3, 1, 2])], ids=lambda source: type(source).__module__)
@pytest.mark.parametrize("is_sorted", [True, False])
def test_arrays_of_each_library(stored, source, is_sorted):
    column = stored(source, sorted_by=is_sorted)
    assert list(column) == ([1, 2, 3] if is_sorted else [3, 1, 2])
    assert column.is_sorted == is_sorted
    if is_sorted:
        assert column.find(2) == 1 and column.seek(4) == 3 and column.key_range(2, 3).to_pylist() == [2]


def test_empty_tables_are_sorted(stored):
    for number, options in enumerate([{}, {"sorted_by": "id"}, {"sorted_by": ["name", "id"]}]):
        table = stored(TABLE[:0], name=f"t{number}", **options)
        assert len(table) == 0 and table.to_arrow().schema.types == TABLE.schema.types and table.columns == ["id", "name"]
        if options:
            assert table.find(1 if options["sorted_by"] == "id" else ("a", 1)) is None
    assert list(stored(pyarrow.array([], "int32"), name="f", sorted_by=True)) == []


def test_tables_without_columns(tmp):
    with pytest.raises(cfile.Error):
        cfile.write(tmp / "t", pyarrow.table({}))
    assert os.listdir(tmp) == []


def test_mistakes_in_arguments(tmp):
    for error, text, data, options in [
        (cfile.ArgumentError, "no column x", TABLE, {"sorted_by": "x"}),
        (cfile.ArgumentError, "names of columns", TABLE, {"sorted_by": True}),
        (cfile.ArgumentError, "sorted_by=True", pyarrow.array([1]), {"sorted_by": "id"}),
        (cfile.ArgumentError, "without a dict", pyarrow.array([1]), {"encoding": {"id": "plain"}}),
        (TypeError, "__arrow_c_stream__", [1, 2], {}),
        (TypeError, "__arrow_c_stream__", None, {}),
        ((cfile.Error, ValueError), "strange", TABLE, {"encoding": "strange"}),
        ((cfile.Error, ValueError), "strange", TABLE, {"compression": "strange"}),
        ((cfile.Error, ValueError), "strange", TABLE, {"goal": "strange"}),
        ((cfile.Error, KeyError, ValueError), "strange", TABLE, {"encoding": {"strange": "plain"}}),
        ((cfile.Error, ValueError), "NaN", pyarrow.table({"f": [1.0, math.nan, 2.0]}), {"sorted_by": "f"}),
        ((cfile.Error, ValueError), "null", pyarrow.array([1, None]), {"sorted_by": True}),
    ]:
        with pytest.raises(error, match=text):
            cfile.write(tmp / "t", data, **options)
        assert os.listdir(tmp) == []


OPTIONS = [({"encoding": "plain"}, "encoding", {"plain"}), ({"encoding": {"id": "rle"}}, "encoding", {"rle"}),
           ({"compression": "none"}, "compressed", {False}),
           ({"compression": {"name": "zstd"}, "encoding": {"name": "plain"}}, "compressed", None),
           ({"goal": "size"}, "encoding", None), ({"goal": {"id": "speed"}}, "encoding", None), ({"block_size_bytes": 512}, "encoding",
               None)]


@pytest.mark.parametrize("options, what, expected", OPTIONS)
def test_options_reach_the_files(stored, options, what, expected):
    table = stored(pyarrow.table({"id": range(1000), "name": ["x" * 50] * 1000}), **options)
    assert table.to_arrow().column("id").to_pylist() == list(range(1000))
    if expected is not None:
        assert {block[what] for block in table["id"].blocks} == expected
    if "block_size_bytes" in options:
        assert len(table["id"].blocks) > 1
    if options.get("compression") == {"name": "zstd"}:
        assert {block["compressed"] for block in table["name"].blocks} == {True}


def test_small_parts_are_one_file(tmp):
    def names(table):
        return sorted(path.name for path in (tmp / table).glob("part-*/*") if path.suffix != ".cft")
    loose = ["0000-id.cfile", "0001-name.cfile"]
    cfile.write(tmp / "t", TABLE)
    assert names("t") == ["columns.packed"]
    cfile.append(tmp / "t", TABLE, pack_below_bytes=0, bloom_filter={"name": 10})
    assert names("t") == [*loose, "columns.packed"]
    cfile.write(tmp / "loose", TABLE, sorted_by="id", pack_below_bytes=0)
    assert names("loose") == loose
    cfile.commit(tmp / "loose", [cfile.write_part(tmp / "loose", TABLE, sorted_by="id", pack_below_bytes=0)])
    assert names("loose") == sorted(2 * loose)
    pyarrow.parquet.write_table(TABLE, tmp / "f.parquet")
    cfile.from_parquet(tmp / "f.parquet", tmp / "p", pack_below_bytes=0)
    assert names("p") == loose
    with pytest.raises(TypeError, match="pack_below_bytes"):
        cfile.write(tmp / "x", TABLE, pack_below_bytes=-1)
    for call, place in ((cfile.write, "x"), (cfile.append, "t"), (cfile.write_part, "t")):
        with pytest.raises(cfile.ArgumentError, match="pack_below_bytes: expected a number, found {'id': 0}"):
            call(tmp / place, TABLE, pack_below_bytes={"id": 0})


def test_every_encoding_and_codec(stored):
    for number, codec in enumerate(cfile.codecs()):
        assert list(stored(pyarrow.array([5] * 99), name=f"c{number}", compression=codec)) == [5] * 99
    made = 0
    for number, encoding in enumerate(cfile.encodings()):
        for array in (pyarrow.array([5] * 99), pyarrow.array(["a"] * 99), pyarrow.array([0.5] * 99)):
            try:
                column = stored(array, name=f"e{number}{array.type}", encoding=encoding)
            except (cfile.Error, ValueError):
                continue  # the encoding is not for this type
            assert list(column) == array.to_pylist()
            made += 1
    assert made > len(cfile.encodings())


def test_bloom_filters(stored):
    plain = stored(pyarrow.table({"id": range(0, 10000, 2)}), name="plain")
    table = stored(pyarrow.table({"id": range(0, 10000, 2)}), name="bloom", bloom_filter={"id": 12})
    assert table.info["size_bytes"] > plain.info["size_bytes"]
    assert table.scan(cfile.col("id") == 5).count() == 0 and table.scan(cfile.col("id") == 6).count() == 1


class Failing:
    """A stream that raises an exception in its second batch."""

    def __init__(self, error, table=TABLE):
        self.error, self.table = error, table

    def __arrow_c_stream__(self, requested_schema=None):
        def batches():
            yield from self.table.to_batches()
            raise self.error
        self.reader = pyarrow.RecordBatchReader.from_batches(self.table.schema, batches())
        return self.reader.__arrow_c_stream__()


@pytest.mark.parametrize("options", [{}, {"sorted_by": "id"}, {"sorted_by": ["id", "name"]}, {"sorted_by": "id", "memory_limit_bytes": 1}])
def test_a_failing_stream_leaves_nothing(tmp, options):
    big = pyarrow.concat_tables([TABLE] * 5)
    with pytest.raises(Exception, match="broken pipe of clay"):
        cfile.write(tmp / "t", Failing(ValueError("broken pipe of clay"), big), **options)
    assert os.listdir(tmp) == []


def test_a_failing_array_leaves_nothing(tmp):
    class Array(Failing):
        def __arrow_c_stream__(self, requested_schema=None):
            def batches():
                yield from self.table.to_batches()
                raise self.error
            frame = pyarrow.RecordBatchReader.from_batches(self.table.schema, batches())
            return frame.__arrow_c_stream__()
    with pytest.raises(Exception, match="clay"):
        cfile.write(tmp / "f", Array(ValueError("clay")))
    assert os.listdir(tmp) == []


def test_a_failing_append_changes_nothing(stored, tmp):
    stored(TABLE)
    files = sorted(str(path) for path in tmp.rglob("*"))
    with pytest.raises(Exception, match="clay"):
        cfile.append(tmp / "data", Failing(ValueError("clay")))
    with pytest.raises(cfile.Error):
        cfile.append(tmp / "data", pyarrow.table({"id": [1], "other": ["x"]}))
    with pytest.raises(cfile.Error):
        cfile.append(tmp / "data", pyarrow.table({"id": ["text"], "name": ["x"]}))
    assert sorted(str(path) for path in tmp.rglob("*")) == files
    assert cfile.open(tmp / "data").to_pylist() == TABLE.to_pylist()


def test_overwrite(stored, tmp):
    stored(TABLE)
    with pytest.raises(cfile.ExistsError, match="overwrite=True"):
        cfile.write(tmp / "data", TABLE)
    old = cfile.open(tmp / "data")
    for data, kind in [(TABLE[:1], cfile.Table), (pyarrow.array([1]), cfile.Column), (pyarrow.array([2]), cfile.Column), (TABLE,
            cfile.Table)]:
        cfile.write(tmp / "data", data, overwrite=True)
        assert type(cfile.open(tmp / "data")) is kind
        assert os.listdir(tmp) == ["data"]
    with pytest.raises(Exception, match="clay"):
        cfile.write(tmp / "data", Failing(ValueError("clay")), overwrite=True)
    assert os.listdir(tmp) == ["data"] and cfile.open(tmp / "data").to_pylist() == TABLE.to_pylist()
    assert len(old) == 3
    # A table may be replaced by what is read from it.
    cfile.write(tmp / "data", cfile.open(tmp / "data").scan(cfile.col("id") > 1), overwrite=True)
    assert cfile.open(tmp / "data").to_arrow().column("id").to_pylist() == [3, 2]
    cfile.write(f"{tmp}/data/", TABLE, overwrite=True)
    assert os.listdir(tmp) == ["data"]


@pytest.mark.parametrize("data", [pyarrow.array([1]), TABLE], ids=["file", "table"])
def test_one_of_several_writers_of_a_new_path_succeeds(tmp, data):
    def write(path):
        try:
            start.wait()
            cfile.write(path, data)
            return 1
        except (cfile.ExistsError, cfile.ConflictError):
            return 0
    start = threading.Barrier(3)
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        for number in range(20):
            assert sum(threads.map(write, [tmp / str(number)] * 3)) == 1


def _from_parquet(path, tmp):
    pyarrow.parquet.write_table(TABLE, tmp.parent / f"{tmp.name}.parquet")
    cfile.from_parquet(tmp.parent / f"{tmp.name}.parquet", path, overwrite=True)


OVERWRITERS = {
    "a table": lambda path, tmp: cfile.write(path, TABLE, overwrite=True),
    "a sorted table": lambda path, tmp: cfile.write(path, TABLE, sorted_by="id", overwrite=True),
    "a file": lambda path, tmp: cfile.write(path, pyarrow.array([1]), overwrite=True),
    "a Parquet file": _from_parquet,
}
HEX = "0123456789abcdef" * 2


def _tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("foreign", [
    "notes.txt", "table.cft/x", "Documents/thesis.txt", "temporary-notes/thesis.txt", "part-notes/thesis.txt", ".hidden", "chunk-list.txt",
    "table.txt", "columns-1.txt", f"chunk-{HEX.upper()}.cft", f"part-{HEX}/thesis.txt", f"part-{HEX}/sub/0000-id.cfile", f"part-{HEX}x/a",
    "PART/notes.txt", "PART/dropped-notes.txt", "PART/0000-id.txt", "PART/part-1.txt", "PART/.cfile-tmp", "PART/folder/0000-id.cfile",
])
@pytest.mark.parametrize("overwriter", OVERWRITERS)
def test_overwrite_removes_only_what_tables_write(tmp, overwriter, foreign):
    """Canaries in a directory that is a table (in the root and in a part), and in one that is none."""
    cfile.write(tmp / "table", TABLE)
    part = cfile.open(tmp / "table").parts[0]["name"]
    for folder in ("table", "none"):
        if folder == "none" or not foreign.startswith("table.cft"):
            path = tmp / folder / foreign.replace("PART", part)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("precious")
    before = _tree(tmp)
    for folder in ("table", "none", "none/Documents", "table/part-new", f"table/{part}/0000-id.cfile"):
        if folder == "table" and foreign.startswith("table.cft"):
            continue
        if (tmp / folder).exists() or folder.startswith("table"):
            with pytest.raises(cfile.ArgumentError):
                OVERWRITERS[overwriter](tmp / folder, tmp)
    assert _tree(tmp) == before


@pytest.mark.parametrize("overwriter", OVERWRITERS)
def test_overwrite_replaces_only_own_files(tmp, overwriter):
    for name, content in (("text", b"precious"), ("short", b"kuducfl"), ("other", b"PAR1" + bytes(100) + b"PAR1")):
        (tmp / name).write_bytes(content)
    (tmp / "folder").mkdir()
    (tmp / "folder" / "table.cft").write_text("another kind of table")
    (tmp / "link").symlink_to(tmp / "text")
    (tmp / "folders").symlink_to(tmp / "folder")
    (tmp / "dangling").symlink_to(tmp / "absent")
    os.mkfifo(tmp / "pipe")
    before = sorted(os.listdir(tmp))
    for name in before:
        with pytest.raises(cfile.ArgumentError, match="overwrite=True replaces only"):
            OVERWRITERS[overwriter](tmp / name, tmp)
    assert sorted(os.listdir(tmp)) == before and (tmp / "text").read_bytes() == b"precious" and (tmp / "link").is_symlink()
    # What the library has written, in all of its states, and a file without bytes.
    cfile.write(tmp / "own", TABLE)
    for change in (lambda: cfile.append(tmp / "own", TABLE), lambda: cfile.compact(tmp / "own"),
                   lambda: cfile.add_column(tmp / "own", "x", "int8"), lambda: cfile.add_columns(tmp / "own", pyarrow.table({"ü b": range(6)})), lambda: cfile.drop_columns(tmp / "own", "x"),
                   lambda: cfile.write_part(tmp / "own", pyarrow.table({"id": [1], "name": ["x"], "ü b": [1]}))):
        change()
    (tmp / "own" / ".table.cft.17-3.cfile-tmp").touch()
    (tmp / "own" / "table.lock").touch()
    (tmp / "empty").touch()
    for name in ("own", "empty"):
        OVERWRITERS[overwriter](tmp / name, tmp)
        assert len(cfile.open(tmp / name)) > 0
    assert sorted(os.listdir(tmp)) == sorted([*before, "own", "empty"])


def test_files_that_appear_while_a_table_is_replaced(tmp):
    cfile.write(tmp / "t", TABLE)

    def batches():
        yield from TABLE.to_batches()
        (tmp / "t" / "notes.txt").write_text("precious")
    with pytest.raises(cfile.ArgumentError, match="notes.txt"):
        cfile.write(tmp / "t", pyarrow.RecordBatchReader.from_batches(TABLE.schema, batches()), overwrite=True)
    assert os.listdir(tmp) == ["t"] and (tmp / "t" / "notes.txt").read_text() == "precious" and len(cfile.open(tmp / "t")) == 3


def test_paths_with_a_zero_byte(tmp, monkeypatch):
    monkeypatch.chdir(tmp)
    cfile.write("l4", TABLE)
    cfile.write("f", pyarrow.array([1]))
    before = _tree(tmp)
    for call in (lambda path: cfile.write(path, TABLE), lambda path: cfile.write(path, pyarrow.array([2]), overwrite=True), cfile.open,
                 lambda path: cfile.append(path, TABLE), lambda path: cfile.write_part(path, TABLE), lambda path: cfile.commit(path, []),
                 lambda path: cfile.to_parquet("l4", path), lambda path: cfile.from_parquet(path, "new"), cfile.compact, cfile.fragments,
                 lambda path: cfile.from_parquet("x.parquet", path, overwrite=True), cfile.collect_garbage, cfile.repair, cfile.scan_polars,
                 lambda path: cfile.drop_parts(path, []), lambda path: cfile.rename_column(path, "id", "x")):
        for path in ("l4\0.cfile", "f\0.cfile", b"l4\0"):
            with pytest.raises((ValueError, TypeError), match="zero byte|expected a path|expected str"):
                call(path)
    with pytest.raises(ValueError, match="embedded null byte"):
        _native.Location("f\0.cfile")
    assert _tree(tmp) == before


def test_nothing_is_written_into_tables(tmp):
    cfile.write(tmp / "t", TABLE)
    part = cfile.open(tmp / "t").parts[0]["name"]
    before = _tree(tmp)
    for inside in ("sub", f"{part}/0000-id.cfile", "table.cft", "a/b"):
        for call in (lambda path: cfile.write(path, TABLE), lambda path: cfile.write(path, pyarrow.array([1]), overwrite=True),
                     lambda path: cfile.to_parquet(tmp / "t", path)):
            with pytest.raises(cfile.ArgumentError, match="inside"):
                call(tmp / "t" / inside)
    assert _tree(tmp) == before


def test_overwrite_through_a_link(tmp):
    cfile.write(tmp / "target", TABLE)
    (tmp / "link").symlink_to(tmp / "target")
    cfile.write(tmp / "link", TABLE[:1], overwrite=True)
    assert len(cfile.open(tmp / "link")) == 1
    assert len(cfile.open(tmp / "target")) == 3


def test_an_empty_folder_is_filled(tmp):
    (tmp / "t").mkdir()
    cfile.write(tmp / "t", TABLE)
    assert len(cfile.open(tmp / "t")) == 3


def test_append(stored, tmp):
    stored(TABLE)
    before = cfile.open(tmp / "data")
    cfile.append(tmp / "data", pyarrow.table({"name": ["d"], "id": [4]}), encoding="plain")
    cfile.append(tmp / "data", polars.DataFrame({"id": [5], "name": ["e"]}))
    cfile.append(tmp / "data", pandas.DataFrame({"id": [6], "name": ["f"]}))
    after = cfile.open(tmp / "data")
    assert len(before) == 3 and after["id"].to_arrow().to_pylist() == [3, 1, 2, 4, 5, 6]
    assert after["name"].to_arrow().to_pylist() == list("cabdef") and len(after.parts) == 4
    with pytest.raises(cfile.NotFoundError):
        cfile.append(tmp / "absent", TABLE)


@pytest.mark.parametrize("sorted_by, key", [("id", 21), (["id", "name"], (21, "a"))])
def test_sorted_tables_can_be_searched_after_append(stored, tmp, sorted_by, key):
    stored(TABLE, sorted_by=sorted_by)
    cfile.append(tmp / "data", pyarrow.table({"id": [11, 21], "name": ["a", "a"]}))
    table = cfile.open(tmp / "data")
    assert table.find(key) == 4
    with pytest.raises((cfile.Error, ValueError)):
        cfile.append(tmp / "data", pyarrow.table({"id": [41, 31], "name": ["a", "a"]}))
    assert len(cfile.open(tmp / "data")) == 5


@pytest.mark.parametrize("names", [["a.b", "c d", "ü", "x" * 200, "a/b", "..", "CON", "'", '"', "\n", "value", "%2F"]])
def test_odd_names_of_columns(stored, names):
    table = stored(pyarrow.table({name: [number, number + 1] for number, name in enumerate(names)}))
    assert table.columns == names
    for number, name in enumerate(names):
        assert list(table[name]) == [number, number + 1]
        assert table.scan(cfile.col(name) == number, columns=[name]).to_pylist() == [{name: number}]
    assert polars.DataFrame(table).columns == names and table[0] == {name: number for number, name in enumerate(names)}


BOUNDED = """
    import cfile, numpy, pyarrow

    ROWS = 1_000_000
    schema = pyarrow.schema([pyarrow.field("n", pyarrow.int64(), nullable=False)])

    def batches():
        random = numpy.random.default_rng(1)
        for _ in range(BATCHES):
            yield pyarrow.record_batch([random.integers(0, 2**62, ROWS)], schema=schema)

    def peak():
        with open("/proc/self/status") as status:  # ru_maxrss would include what the parent had
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))

    for _ in batches():
        break
    cfile.write("warm", pyarrow.table({"n": [1, 2]}), sorted_by="n")
    before = peak()
    cfile.write("t", pyarrow.RecordBatchReader.from_batches(schema, batches()), encoding="plain", compression="none", **OPTIONS)
    used = peak() - before
    table = cfile.open("t")
    assert len(table) == BATCHES * ROWS
    previous = -1
    if "sorted_by" in OPTIONS:
        for batch in table.to_batches():
            values = batch.column(0).to_numpy()
            assert values[0] >= previous and (values[1:] >= values[:-1]).all()
            previous = values[-1]
    print(used)
"""


@pytest.mark.parametrize("batches, options, most_mib", [(40, {}, 100), (20, {"sorted_by": "n", "memory_limit_bytes": 24 << 20}, 130)])
def test_streams_larger_than_memory(run, batches, options, most_mib):
    """320 MB of rows, and 160 MB that are sorted. The bound is less than the size of the rows."""
    used = int(run(BOUNDED.replace("OPTIONS", repr(options)).replace("BATCHES", str(batches))))
    print(f"{used} MiB")
    assert used < most_mib


@pytest.mark.parametrize("error", [ValueError("odd"), KeyboardInterrupt(), StopAsyncIteration("odd"), OSError(5, "odd")])
def test_exceptions_of_generators_come_through(tmp, error):
    table = pyarrow.table({"n": [1]})

    def batches():
        yield from table.to_batches()
        raise error from ZeroDivisionError()
    with pytest.raises(type(error)) as caught:
        cfile.write(tmp / "t", batches())
    assert caught.value is error and isinstance(error.__cause__, ZeroDivisionError)
    with pytest.raises((cfile.Error, KeyboardInterrupt)) as caught:
        cfile.write(tmp / "t", pyarrow.RecordBatchReader.from_batches(table.schema, batches()))
    assert error in (caught.value, caught.value.__cause__) and list(tmp.iterdir()) == []
