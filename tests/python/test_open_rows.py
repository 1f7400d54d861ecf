"""What tables, columns and selections have in common: close, with, pickle and head; and what write takes."""
import pickle

import polars
import pyarrow
import pyarrow.dataset
import pytest

import cfile


def write_numbers(path):
    cfile.write(path, pyarrow.table({"n": pyarrow.array(range(10)), "s": [f"s{i}" for i in range(10)]}), sorted_by="n",
                pack_below_bytes=0)


def test_close(tmp_path):
    write_numbers(tmp_path / "t")
    with cfile.open(tmp_path / "t") as table:
        column, rows = table["n"], table.scan(cfile.col("n") > 1)
        begun = table.to_batches()
        assert column[0] == 0
    for call in (lambda: table[0], table.to_arrow, lambda: column[0], lambda: column.seek(1), rows.count, table.verify):
        with pytest.raises(ValueError, match="t was closed"):
            call()
    assert len(table) == 10 and "closed" not in repr(rows)
    assert begun.read_all().num_rows == 10
    table.close()  # again
    with cfile.open(next((tmp_path / "t").glob("part-*/*-n.cfile"))) as file:
        pass
    with pytest.raises(ValueError, match="was closed"):
        file.to_arrow()


def test_pickle(tmp_path, monkeypatch):
    write_numbers(tmp_path / "t")
    monkeypatch.chdir(tmp_path)
    table = cfile.open("t")
    things = (table, table["n"], table[2:5], table.take([7]), table.scan(cfile.col("n") > 6, columns=["s"], limit=2))
    expected = [thing.to_pylist() for thing in things]
    stored = pickle.dumps(things)
    file = pickle.dumps(cfile.open(next((tmp_path / "t").glob("part-*/*-n.cfile"))))
    cfile.append("t", pyarrow.table({"n": [99], "s": ["new"]}))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")  # relative paths hold
    assert [thing.to_pylist() for thing in pickle.loads(stored)] == expected == [thing.to_pylist() for thing in things]
    assert pickle.loads(file).to_pylist() == list(range(10))
    assert len(cfile.open("../t")) == 11
    with open(next((tmp_path / "t").glob("part-*/*-n.cfile")), "rb") as opened, pytest.raises(TypeError):
        pickle.dumps(cfile.open(opened))


def test_head(tmp_path):
    write_numbers(tmp_path / "t")
    table = cfile.open(tmp_path / "t")
    assert [row["n"] for row in table.head(2).to_pylist()] == [0, 1]
    assert table["n"].head().to_pylist() == [0, 1, 2, 3, 4]
    assert table.scan(cfile.col("n") > 3).head(2).to_arrow()["n"].to_pylist() == [4, 5]
    assert table.scan(reverse=True, limit=1).head(2).to_arrow()["n"].to_pylist() == [9]
    assert table.take([5, 1, 2]).head(2).to_arrow()["n"].to_pylist() == [5, 1]
    assert table[8:].head(5).count() == 2
    with pytest.raises(ValueError, match="-1"):
        table.head(-1)


def test_inputs(tmp_path):
    rows = pyarrow.table({"n": [1, 2, 3], "s": ["a", None, "c"]})
    pyarrow.dataset.write_dataset(rows, tmp_path / "dataset", format="parquet")
    dataset = pyarrow.dataset.dataset(tmp_path / "dataset")
    inputs = {"dict": rows.to_pydict(), "lazy": polars.LazyFrame(rows.to_pydict()).filter(polars.col("n") > 0),
              "list": rows.to_batches(max_chunksize=2), "generator": (batch for batch in rows.to_batches(max_chunksize=1)),
              "files": dataset, "scanner": dataset.scanner(columns=["n", "s"])}
    for name, data in inputs.items():
        cfile.write(tmp_path / name, data, pack_below_bytes=0)
        assert cfile.open(tmp_path / name).to_pylist() == rows.to_pylist(), name
    cfile.append(tmp_path / "dict", {"n": [4], "s": ["d"]})
    assert len(cfile.open(tmp_path / "dict")) == 4
    table = cfile.open(tmp_path / "dict")
    file = cfile.open(next((tmp_path / "dict").glob("part-*/*-n.cfile")))
    for source, count in ((table, 4), (table[1:], 3), (table["n"], 4), (file, len(file)), (table["n"][1:], 3), (file[:1], 1)):
        assert cfile.scan_polars(source).filter(polars.lit(True)).collect().height == count
    for wrong in ([], [1, 2], 5, "text"):
        with pytest.raises(TypeError, match="batches, got"):
            cfile.write(tmp_path / "wrong", wrong)
