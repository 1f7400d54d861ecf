"""Streams of Spark lose and repeat no rows, whatever happens to the parts of the table. Needs no Spark: tests/campaign/spark has one."""
import json
import random
import sys
import types

import pyarrow
import pytest

import cfile


@pytest.fixture(autouse=True)
def _without_spark(monkeypatch):
    """Stands for the classes of PySpark from which the source derives its own."""
    for name in ("pyspark", "pyspark.sql", "pyspark.sql.datasource", "pyspark.sql.pandas", "pyspark.sql.pandas.types"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    for name in ("DataSource", "DataSourceReader", "DataSourceStreamReader", "InputPartition"):
        monkeypatch.setattr(sys.modules["pyspark.sql.datasource"], name, object, raising=False)
    monkeypatch.setattr(sys.modules["pyspark.sql.pandas.types"], "to_arrow_schema", lambda schema, *_, **__: schema, raising=False)
    for name in [name for name in sys.modules if name.startswith("cfile.spark")]:
        monkeypatch.delitem(sys.modules, name)
    yield
    for name in [name for name in sys.modules if name.startswith("cfile.spark")]:
        del sys.modules[name]


class Stream:
    """A query, and its checkpoint: each run makes a new reader."""

    def __init__(self, path, **options):
        self.path, self.options = path, options
        self.offset = None
        self.rows = []

    def reader(self):
        from cfile.locations import Place
        from cfile.spark_reading import StreamReader
        return StreamReader(Place(str(self.path)), pyarrow.schema([("n", pyarrow.int64())]), self.options)

    def run(self):
        reader = self.reader()
        start = reader.initialOffset() if self.offset is None else self.offset
        end = json.loads(json.dumps(reader.latestOffset()))
        self.read(start, end)

    def read(self, start, end):
        reader = self.reader()
        rows = [row for partition in reader.partitions(start, end) for batch in reader.read(partition) for row in batch.column(0).to_pylist()]
        self.rows += rows
        self.offset = end


@pytest.fixture
def path(tmp):
    return tmp / "t"


def append(path, begin, end):
    table = pyarrow.table({"n": pyarrow.array(range(begin, end), "int64")})
    (cfile.append if path.exists() else cfile.write)(path, table)


def names(path):
    return [part["name"] for part in cfile.open(path).parts]


@pytest.mark.parametrize("unread", [10, 5, 15])
@pytest.mark.parametrize("options", [{}, {"ignore_removed": "true"}])
def test_unread_rows_are_not_taken_for_dropped_ones(path, unread, options):
    append(path, 0, 10)
    append(path, 10, 20)
    stream = Stream(path, **options)
    stream.run()
    assert stream.rows == list(range(20))
    append(path, 100, 100 + unread)
    cfile.drop_parts(path, names(path)[:1])
    cfile.compact(path)
    with pytest.raises(cfile.ConflictError, match="merged with parts that it has not read"):
        stream.run()
    assert stream.rows == list(range(20))


def change_columns(path):
    cfile.add_column(path, "m", "int32")
    cfile.drop_columns(path, "m")


@pytest.mark.parametrize("change", [change_columns, lambda path: cfile.repair(path, force=True), lambda path: cfile.drop_parts(path, []),
                                    lambda path: cfile.add_columns(path, pyarrow.table({"m": range(len(cfile.open(path)))}))])
def test_merged_parts_are_known_after_other_changes(path, change):
    for begin in range(0, 60, 10):
        append(path, begin, begin + 10)
        if begin == 30:
            stream = Stream(path)
            stream.run()
    parts = names(path)
    cfile.compact(path, parts[:2])
    cfile.compact(path, names(path)[:2])  # what was merged is merged again
    cfile.compact(path, parts[4:])
    change(path)
    stream.run()
    assert stream.rows == list(range(60))
    cfile.compact(path)
    cfile.add_column(path, "late", "int32")
    stream.run()
    assert stream.rows == list(range(60))


def test_dropped_and_replaced_rows(path):
    for begin in range(0, 30, 10):
        append(path, begin, begin + 10)
    stream = Stream(path)
    stream.run()
    parts = names(path)
    cfile.append(path, pyarrow.table({"n": pyarrow.array(range(100, 110), "int64")}), replacing=[parts[1]])
    append(path, 30, 31)
    stream.run()  # as many rows as before
    assert stream.rows == list(range(31))
    cfile.drop_parts(path, parts[:1])
    append(path, 31, 32)
    with pytest.raises(cfile.ConflictError, match="were dropped or replaced: there were 31 rows up to commit 5, and there are 21 now"):
        stream.run()
    stream.options = {"ignore_removed": "true"}
    stream.run()
    assert stream.rows == list(range(32))
    cfile.drop_parts(path, names(path))
    stream.run()
    append(path, 32, 33)
    stream.run()
    assert stream.rows == list(range(33))


def test_garbage_was_collected(path):
    for begin in range(0, 40, 10):
        append(path, begin, begin + 10)
    stream = Stream(path)
    stream.run()
    cfile.compact(path, names(path)[:2])
    cfile.collect_garbage(path, 0)  # the stream has the names of the merged parts
    stream.run()
    cfile.compact(path, names(path)[:2])
    cfile.compact(path)
    cfile.collect_garbage(path, 0)
    append(path, 40, 50)
    with pytest.raises(cfile.ConflictError, match="nothing says any more whether"):
        stream.run()
    assert stream.rows == list(range(40))


def test_a_batch_is_read_again(path):
    append(path, 0, 10)
    stream = Stream(path)
    stream.run()
    start = stream.offset
    append(path, 10, 20)
    stream.run()
    end = stream.offset
    append(path, 20, 30)
    parts = names(path)
    cfile.compact(path, parts[:2])
    with pytest.raises(cfile.ConflictError, match="merged with parts that it has not read"):
        stream.read(start, end)
    stream.run()
    assert stream.rows == list(range(30))


def test_checkpoints_of_earlier_versions(path):
    append(path, 0, 10)
    stream = Stream(path)
    stream.read({"commit": -1, "rows": 0}, stream.reader().latestOffset())
    assert stream.rows == list(range(10))
    stream.offset = {"commit": 1, "rows": 10}
    append(path, 10, 20)
    with pytest.raises(cfile.ConflictError, match="an earlier version of cfile wrote the checkpoint"):
        stream.run()


def test_offsets_do_not_grow(path):
    append(path, 0, 1)
    stream = Stream(path)
    largest = 0
    for number in range(1, 200):
        append(path, number, number + 1)
        stream.run()
        largest = max(largest, len(json.dumps(stream.offset)))
        cfile.compact(path)
        if number % 50 == 0:
            cfile.collect_garbage(path, 0)
    stream.run()
    assert stream.rows == list(range(200)) and largest < 300


@pytest.mark.parametrize("seed", range(12))
def test_random_changes(path, seed):
    chance = random.Random(seed)
    append(path, 0, 3)
    written, stream = 3, Stream(path)
    read_parts = set()  # of what the parts that were read are made
    made_of = {}
    for _ in range(60):
        parts = names(path)
        for name in parts:
            made_of.setdefault(name, {name})
        begin = chance.randrange(len(parts))
        chosen = parts[begin:begin + chance.randrange(1, 4)]
        choice = chance.randrange(4)
        if choice == 0:
            append(path, written, written + 3)
            written += 3
        elif choice == 1 and len(chosen) > 1:
            are_read = {made_of[name] <= read_parts for name in chosen}
            if len(are_read) == 1:
                cfile.compact(path, chosen)
                merged, = set(names(path)) - set(parts)
                made_of[merged] = set().union(*(made_of[name] for name in chosen))
        elif choice == 2:
            stream.run()
            read_parts |= set().union(*(made_of[name] for name in names(path)))
            assert sorted(stream.rows) == list(range(written))
    stream.run()
    assert sorted(stream.rows) == list(range(written))
