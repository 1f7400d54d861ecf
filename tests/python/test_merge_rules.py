"""Tables with a merge rule: each way of reading gives the rows that count, or is refused by name."""
import datetime
import pickle
import random
import shutil

import fsspec
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import cfile

DAY = datetime.date(2024, 1, 1)


def rows_of(ids, value, gone=(), day=0):
    """A pyarrow.Table with these ids in ascending order."""
    ids = sorted(ids)
    return pyarrow.table({"id": pyarrow.array(ids, "int64"), "name": [f"n{one}" for one in ids], "value": [value + one for one in ids],
                          "gone": [one in gone for one in ids], "day": [DAY + datetime.timedelta(day)] * len(ids)})


def newest_of(parts, bound=None):
    """What readers must return, sorted by id."""
    rows = {row["id"]: row for part in parts for row in part.to_pylist()}
    return [rows[key] for key in sorted(rows) if not rows[key]["gone"] and not (bound and rows[key]["day"] < bound)]


PARTS = [rows_of(range(100), 0), rows_of(range(50, 120, 3), 1000, gone=(50, 53), day=5), rows_of(range(300, 310), 0, day=9)]
ROWS = newest_of(PARTS)


@pytest.fixture
def path(tmp):
    cfile.write(tmp / "t", PARTS[0], sorted_by="id", merge="newest", deleted_column="gone", time_column="day")
    for part in PARTS[1:]:
        cfile.append(tmp / "t", part)
    return tmp / "t"


def by_id(rows):
    return sorted(rows, key=lambda row: row["id"])


def test_scans(path):
    table = cfile.open(path)
    assert len(table) == table.info["num_rows"] == len(ROWS) == len(table) < sum(len(part) for part in PARTS)
    assert table.merge_rule == {"deleted_column": "gone", "time_column": "day", "time_bound": None}
    assert by_id(table.to_pylist()) == ROWS
    assert by_id(table.to_batches().read_all().to_pylist()) == ROWS
    assert by_id(pyarrow.table(table).to_pylist()) == ROWS
    assert sorted(table["id"].to_pylist()) == [row["id"] for row in ROWS]
    assert len(table["id"]) == len(ROWS)
    where = cfile.col("value") >= 1000
    found = [row for row in ROWS if row["value"] >= 1000]
    assert by_id(table.scan(where).to_pylist()) == found
    assert table.scan(where).count() == len(found)
    assert table.scan("gone").count() == 0
    assert table.scan(limit=7).count() == len(table.scan(limit=7).to_pylist()) == 7
    assert table.head(3).to_pylist() == table.to_pylist()[:3]
    assert table.scan(limit=3, reverse=True).to_pylist() == table.to_pylist()[-3:]
    with cfile.open(path, stored_rows=True) as stored:
        assert len(stored) == len(stored.to_pylist()) == sum(len(part) for part in PARTS)
        assert stored[1]["id"] == 1 and stored.merge_rule == table.merge_rule
    assert by_id(pickle.loads(pickle.dumps(table)).to_pylist()) == ROWS
    assert "134 stored rows" in repr(table) and "stored rows" in repr(table["id"]) and "stored" in table._repr_html_()


def test_frames(path):
    duckdb, pandas, polars = (pytest.importorskip(name) for name in ("duckdb", "pandas", "polars"))
    table = cfile.open(path)
    ids = [row["id"] for row in ROWS]
    assert sorted(table.to_pandas()["id"]) == ids and isinstance(table.to_pandas(), pandas.DataFrame)
    assert table.to_polars().sort("id")["id"].to_list() == ids
    lazy = cfile.scan_polars(path)
    assert lazy.sort("id").collect()["id"].to_list() == ids
    assert lazy.select(polars.len()).collect().item() == len(ids)
    assert lazy.filter(polars.col("value") >= 1000).select(polars.len()).collect().item() == sum(row["value"] >= 1000 for row in ROWS)
    assert lazy.select(polars.col("value").min(), low=polars.col("id").max()).collect().rows() == [(0, 309)]
    assert lazy.head(2).collect().height == 2
    dataset = table.to_dataset()
    assert dataset.count_rows() == len(ids)
    assert by_id(pyarrow.dataset.dataset([dataset]).to_table().to_pylist()) == ROWS  # Arrow's own engine
    assert by_id(dataset.to_table(filter=pyarrow.dataset.field("gone")).to_pylist()) == []
    rows = table
    assert rows is not None  # DuckDB finds the variables by their names
    for source in ("rows", "dataset"):
        query = f"SELECT count(*), min(value), max(id), count(*) FILTER (WHERE value >= 1000) FROM {source}"
        assert duckdb.sql(query).fetchall() == [(len(ids), 0, 309, sum(row["value"] >= 1000 for row in ROWS))]


def test_keys(path):
    table = cfile.open(path)
    for row in ROWS:
        assert table.get(row["id"]) == row
    assert table.get(50) is None and table.get(200) is None
    assert table.get(56, columns=["value"]) == {"value": 1056}
    assert table.key_range(48, 58).to_pylist() == [row for row in ROWS if 48 <= row["id"] < 58]
    assert table.key_range(columns=["id"]).to_pylist() == [{"id": row["id"]} for row in ROWS]
    assert table.key_range(53, 54).to_pylist() == [] and len(table.key_range(308)) == 2
    table.close()
    with pytest.raises(ValueError, match="closed"):
        table.get(1)


def test_row_numbers_are_refused(path):
    table = cfile.open(path)
    calls = [lambda: table[0], lambda: table[0:2], lambda: table[[1]], lambda: table.take([1]).to_arrow(), lambda: next(iter(table)),
             lambda: table["id"][0], lambda: table["id"][:2], lambda: next(iter(table["id"])), lambda: table["id"].take([0]).to_arrow(),
             lambda: table.seek(5), lambda: table.find(5), lambda: table["id"].seek(5), lambda: table.scan()[1:],
             lambda: table.statistics, lambda: table["id"].statistics]
    for number, call in enumerate(calls):
        with pytest.raises(cfile.ArgumentError, match="stored_rows=True"):
            call()
            pytest.fail(str(number))


def test_threads_and_ranges(tmp):
    """Many rows, so that threads and ranges divide them."""
    parts = [rows_of(range(0, 400_000), 0), rows_of(range(100_000, 500_000, 2), 7, gone=range(200_000, 300_000), day=2)]
    cfile.write(tmp / "t", parts[0], sorted_by="id", merge="newest", deleted_column="gone")
    cfile.append(tmp / "t", parts[1])
    expected = newest_of(parts)
    total = sum(row["value"] for row in expected)
    for threads in (1, 3):
        values = cfile.open(tmp / "t", threads=threads).scan(columns=["value"]).to_arrow()["value"]
        assert (len(values), pyarrow.compute.sum(values).as_py()) == (len(expected), total)
    pieces = pickle.loads(pickle.dumps(cfile.fragments(tmp / "t", 5, columns=["value"])))
    cfile.append(tmp / "t", rows_of([5], 99))  # fragments have the rows of their moment
    assert len(pieces) > 1 and sum(piece.count() for piece in pieces) == len(expected)
    assert sum(pyarrow.compute.sum(piece.to_arrow()["value"]).as_py() or 0 for piece in pieces) == total
    assert cfile.scan_polars(tmp / "t").select("id").collect().height == len(expected)


def test_random_tables(tmp):
    chance = random.Random(7)
    for turn in range(5):
        path, parts, bound = tmp / f"t{turn}", [], None
        for part in range(1 + turn):
            ids = chance.sample(range(30), chance.randrange(1, 20))
            parts.append(rows_of(ids, 100 * part, gone=chance.sample(ids, len(ids) // 3), day=part))
            if part:
                cfile.upsert(path, parts[-1].take(chance.sample(range(len(ids)), len(ids))))
            else:
                cfile.write(path, parts[0], sorted_by=["id", "name"], merge="newest", deleted_column="gone", time_column="day")
        if turn > 2:
            bound = DAY + datetime.timedelta(2)
            cfile.raise_time_bound(path, bound)
            assert cfile.open(path).merge_rule["time_bound"] == bound
        expected = newest_of(parts, bound)
        for _ in range(2):
            table = cfile.open(path)
            assert by_id(table.to_pylist()) == expected == table.key_range().to_pylist()
            assert [table.get((one, f"n{one}")) for one in range(30)] == [
                next((row for row in expected if row["id"] == one), None) for one in range(30)]
            cfile.compact(path)
        assert len(cfile.open(path, stored_rows=True)) == len(expected)


def test_writing(tmp, path):
    with pytest.raises(cfile.ArgumentError, match="keep the last row of each key"):
        cfile.append(path, pyarrow.concat_tables([rows_of([1], 0), rows_of([1], 5)]))
    for memory in (1 << 30, 1 << 12):
        twice = pyarrow.concat_tables([rows_of(range(500), 0), rows_of(range(500), 5)])
        with pytest.raises(cfile.ArgumentError, match="keep the last row of each key"):
            cfile.upsert(path, twice, memory_limit_bytes=memory)
        with pytest.raises(cfile.ArgumentError, match="keep the last row of each key"):
            cfile.write(tmp / "new", twice, sorted_by="id", merge="newest", memory_limit_bytes=memory)
    assert by_id(cfile.open(path).to_pylist()) == ROWS
    rows = rows_of([1], 0)
    for options in ({"merge": "newest"}, {"merge": "oldest", "sorted_by": "id"}, {"sorted_by": "id", "deleted_column": "gone"},
                    {"merge": "newest", "sorted_by": "id", "deleted_column": "missing"},
                    {"merge": "newest", "sorted_by": "id", "deleted_column": "name"},
                    {"merge": "newest", "sorted_by": "id", "time_column": "name"}):
        with pytest.raises(cfile.ArgumentError):
            cfile.write(tmp / "new", rows, **options)
    cfile.write(tmp / "plain", rows)
    with pytest.raises(cfile.ArgumentError, match="no merge rule"):
        cfile.upsert(tmp / "plain", rows)
    with pytest.raises(cfile.ArgumentError, match="no merge rule"):
        cfile.raise_time_bound(tmp / "plain", DAY)
    cfile.append(path, rows_of([7], 70).append_column("more", [["x"]]), evolve=True)
    assert cfile.open(path).get(7)["more"] == "x"
    # The rows of another table, and a Parquet file, are those that count.
    cfile.write(tmp / "copy", cfile.open(path), sorted_by="id")
    assert cfile.open(tmp / "copy").merge_rule is None and len(cfile.open(tmp / "copy")) == len(ROWS)
    cfile.to_parquet(path, tmp / "t.parquet")
    assert pyarrow.parquet.read_table(tmp / "t.parquet").to_pylist() == by_id(cfile.open(path).to_pylist())
    cfile.to_parquet(cfile.open(path), tmp / "t.parquet", columns=["value"])
    assert pyarrow.parquet.read_table(tmp / "t.parquet")["value"] == cfile.open(path)["value"].to_arrow()


def test_nothing_comes_back(path):
    names = [part["name"] for part in cfile.open(path).parts]
    with pytest.raises(cfile.ArgumentError, match="stored_rows=True"):
        cfile.drop_parts(path, names[1:2])
    cfile.drop_parts(path, names[2:])
    assert by_id(cfile.open(path).to_pylist()) == newest_of(PARTS[:2])
    cfile.drop_parts(path, names[1:2], stored_rows=True)
    assert cfile.open(path).to_pylist() == PARTS[0].to_pylist()


def test_replacing_stored_rows(tmp, path):
    rows = rows_of([500], 1)
    replaced = [part["name"] for part in cfile.open(path).parts][1:2]
    for number, replace in enumerate((
            lambda table, **options: cfile.append(table, rows, replacing=replaced, **options),
            lambda table, **options: cfile.commit(table, [cfile.write_part(table, rows)], replacing=replaced, **options))):
        table = tmp / f"copy {number}"
        shutil.copytree(path, table)
        with pytest.raises(cfile.ArgumentError, match="stored_rows=True"):
            replace(table)
        replace(table, stored_rows=True)
        assert by_id(cfile.open(table).to_pylist()) == newest_of([PARTS[0], rows, *PARTS[2:]])


def test_other_file_systems(path):
    memory = fsspec.filesystem("memory")
    memory.put(str(path), "/rules/t", recursive=True)
    table = cfile.open("memory://rules/t")
    assert by_id(table.to_pylist()) == ROWS == table.key_range().to_pylist() and table.get(56) == ROWS[[r["id"] for r in ROWS].index(56)]
    with pytest.raises(cfile.ArgumentError, match="fragments"):
        cfile.fragments("memory://rules/t")


def test_spark_readers(path):
    pytest.importorskip("pyspark", "4.1")
    import cfile.spark
    options = {"path": str(path)}
    source = cfile.spark.CfileSource(options)
    schema = source.schema()
    reader = source.reader(schema)
    rows = [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]
    assert by_id(rows) == ROWS
    with pytest.raises(cfile.ArgumentError, match="stored_rows"):
        source.streamReader(schema).latestOffset()
    stream = cfile.spark.CfileSource({**options, "stored_rows": "true"}).streamReader(schema)
    parts = stream.partitions(stream.initialOffset(), stream.latestOffset())
    assert sum(batch.num_rows for part in parts for batch in stream.read(part)) == sum(len(part) for part in PARTS)
