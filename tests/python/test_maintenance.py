"""Every function that changes tables, and fragments beside them."""
import concurrent.futures
import multiprocessing
import pickle

import pandas
import polars
import pyarrow
import pytest

import cfile
from cfile import col


def _batch(begin, end):
    return pyarrow.table({"id": range(begin, end), "name": [f"n{row}" for row in range(begin, end)]})


def _three_parts(path, **options):
    cfile.write(path, _batch(0, 1000), sorted_by="id", block_size_bytes=512, **options)
    for begin in (1000, 2000):
        cfile.append(path, _batch(begin, begin + 1000), block_size_bytes=512, **options)
    return path


@pytest.fixture
def path(tmp):
    """A table of three parts, sorted by id."""
    return _three_parts(tmp / "t")


@pytest.fixture
def loose(tmp):
    """The same table. Its columns have files of their own."""
    return _three_parts(tmp / "loose", pack_below_bytes=0)


def _ids(path):
    return cfile.open(path)["id"].to_arrow().to_pylist()


@pytest.mark.parametrize("options", [{}, {"encoding": "plain"}, {"compression": {"name": "zstd"}}, {"goal": "size"}])
def test_compact(path, options):
    before = cfile.open(path)
    report = cfile.compact(path, **options)
    assert report["rows"] == 3000 and report["copied_blocks"] + report["recoded_blocks"] > 0
    assert len(cfile.open(path).parts) == 1 and _ids(path) == list(range(3000)) and cfile.open(path).find(2345) == 2345
    assert before.to_arrow().num_rows == 3000  # the files stay until collect_garbage
    if options.get("encoding"):
        assert {block["encoding"] for block in cfile.open(path)["id"].blocks} == {"plain"}


def test_compact_and_drop_rows_below_choose_the_packing(path):
    def files():
        parts = [path / part["name"] for part in cfile.open(path).parts]
        return [sorted(file.name for file in part.iterdir() if file.suffix != ".cft") for part in parts]
    packed, loose = ["columns.packed"], ["0000-id.cfile", "0001-name.cfile"]
    names = [part["name"] for part in cfile.open(path).parts]
    cfile.compact(path, names[:2])
    assert files() == [packed, packed]
    assert cfile.compact(path, names[2], pack_below_bytes=0)["rows"] == 1000
    assert files() == [packed, loose]
    cfile.drop_rows_below(path, 1, pack_below_bytes=0)
    assert files() == [loose, loose]
    cfile.drop_rows_below(path, 2)
    assert files() == [packed, loose]
    cfile.compact(path, pack_below_bytes=0)
    assert files() == [loose] and _ids(path) == list(range(2, 3000))
    with pytest.raises(cfile.ArgumentError, match="pack_below_bytes: expected a number"):
        cfile.compact(path, pack_below_bytes={"id": 0})


def test_compact_some_parts(path):
    names = [part["name"] for part in cfile.open(path).parts]
    with pytest.raises(cfile.NotFoundError, match="strange"):
        cfile.compact(path, "strange")
    assert cfile.compact(path, names[:2])["rows"] == 2000
    assert len(cfile.open(path).parts) == 2 and _ids(path) == list(range(3000))
    with pytest.raises(cfile.NotFoundError):
        cfile.compact(path, ["strange", names[2]])


def test_compact_only_neighbours(tmp):
    for version in range(3):
        (cfile.append if version else cfile.write)(tmp / "t", pyarrow.table({"version": [version]}))
    names = [part["name"] for part in cfile.open(tmp / "t").parts]
    with pytest.raises(cfile.ArgumentError, match=f"part {names[1]} is between the parts {names[0]} and {names[2]}"):
        cfile.compact(tmp / "t", [names[2], names[0]])
    cfile.compact(tmp / "t", names[::-1])
    assert cfile.open(tmp / "t")["version"].to_arrow().to_pylist() == [0, 1, 2]


def test_compact_keeps_the_order_of_keys(tmp):
    cfile.write(tmp / "t", pyarrow.table({"k": [1, 3, 5], "s": ["a", "a", "a"]}), sorted_by=["k", "s"])
    cfile.append(tmp / "t", pyarrow.table({"k": [2, 3, 4], "s": ["b", "b", "b"]}))
    cfile.compact(tmp / "t")
    table = cfile.open(tmp / "t")
    assert table["k"].to_arrow().to_pylist() == [1, 2, 3, 3, 4, 5] and table.find((3, "b")) == 3 and table.seek((3,)) == 2
    assert table.find(6) is None and table.seek((6, "x")) == 6
    with pytest.raises(cfile.ArgumentError):
        table.seek((1, "a", 5))


def test_a_table_without_rows_keeps_its_order(tmp):
    path = tmp / "sorted"
    cfile.write(path, pyarrow.table({"n": [1, 2, 3]}), sorted_by="n")
    cfile.drop_rows_below(path, 9)
    assert len(cfile.open(path)) == 0
    with pytest.raises(cfile.ArgumentError, match="must ascend"):
        cfile.append(path, pyarrow.table({"n": [5, 4]}))
    cfile.append(path, pyarrow.table({"n": [4, 5]}))
    assert cfile.open(path).find(5) == 1
    cfile.drop_parts(path, [part["name"] for part in cfile.open(path).parts])
    assert len(cfile.open(path)) == 0
    cfile.append(path, pyarrow.table({"n": [7]}))
    assert cfile.open(path).find(7) == 0


def test_drop_parts(path):
    parts = cfile.open(path).parts
    assert [part["first_ordinal"] for part in parts] == [0, 1000, 2000]
    cfile.drop_parts(path, [parts[1]["name"]])
    assert _ids(path) == [*range(1000), *range(2000, 3000)]
    with pytest.raises(cfile.NotFoundError):
        cfile.drop_parts(path, [parts[1]["name"]])


def test_drop_rows_below(path, tmp):
    cfile.drop_rows_below(path, 1500)
    assert _ids(path) == list(range(1500, 3000))
    cfile.drop_rows_below(path, 1600.5, "id")
    assert _ids(path)[0] == 1601
    cfile.write(tmp / "compound", pyarrow.table({"a": [1, 1, 2], "b": ["x", "y", "x"]}), sorted_by=["a", "b"])
    cfile.drop_rows_below(tmp / "compound", (1, "y"))
    assert len(cfile.open(tmp / "compound")) == 2
    cfile.drop_rows_below(tmp / "compound", 2)
    assert len(cfile.open(tmp / "compound")) == 1
    cfile.write(tmp / "plain", _batch(0, 3))
    with pytest.raises(cfile.ArgumentError, match="value index"):
        cfile.drop_rows_below(tmp / "plain", 1)


def test_collect_garbage(path):
    cfile.compact(path)
    assert cfile.collect_garbage(path) == []  # too new
    removed = cfile.collect_garbage(path, 0)
    assert removed and all(size > 0 for _, size in removed)
    assert _ids(path) == list(range(3000))


def test_columns_are_changed(path):
    cfile.add_column(path, "born", "int32", default=1815)
    cfile.add_column(path, "price", "decimal(9,2)", default="1.50")
    cfile.add_column(path, "note", "string")
    cfile.rename_column(path, "name", "label")
    cfile.widen_column(path, "born", "int64")
    cfile.reorder_columns(path, ["label", "id", "note", "born", "price"])
    cfile.drop_columns(path, "note")
    table = cfile.open(path)
    assert table.columns == ["label", "id", "born", "price"] and table.types["born"] == "int64"
    assert table[7] == {"label": "n7", "id": 7, "born": 1815, "price": __import__("decimal").Decimal("1.50")}
    with pytest.raises(ValueError):
        cfile.add_column(path, "p", "decimal(9,2)", default="1.555")
    with pytest.raises(cfile.Error):
        cfile.add_column(path, "id", "int32")
    for call in (lambda: cfile.drop_columns(path, ["x"]), lambda: cfile.rename_column(path, "x", "y"),
            lambda: cfile.reorder_columns(path, ["id"]),
                 lambda: cfile.widen_column(path, "id", "int8"), lambda: cfile.widen_column(path, "id", "strange")):
        with pytest.raises((cfile.Error, ValueError, KeyError)):
            call()


def test_columns_get_values(path, tmp):
    table = cfile.open(path)
    scores = polars.DataFrame({"score": [row % 7 / 2 if row % 3 else None for row in range(3000)], "tag": [f"t{row}" for row in range(3000)]})
    cfile.add_columns(path, scores, encoding={"tag": "plain"})
    rows = [{"id": row, "name": f"n{row}", **scores.row(row, named=True)} for row in range(3000)]
    assert cfile.open(path).to_pylist() == rows and table.columns == ["id", "name"]
    assert {block["encoding"] for block in cfile.open(path)["tag"].blocks} == {"plain"}
    names = pyarrow.table({"name": [f"{row}" for row in range(3000)]})
    # The rows may come from the table that changes, and its batches end elsewhere than its parts.
    cfile.write(tmp / "names", names)
    cfile.replace_columns(path, cfile.open(tmp / "names"))
    changed = cfile.open(path)
    assert changed["name"].to_arrow().to_pylist() == names["name"].to_pylist() and changed.find(2500) == 2500
    cfile.replace_columns(path, changed.scan(columns=["tag"]))
    assert cfile.open(path).to_arrow() == changed.to_arrow()
    for data, error, text in [(scores, cfile.Error, "score"), (names[:5].rename_columns(["x"]), cfile.ArgumentError, "found 5"),
                              (pyarrow.chunked_array([names["name"].combine_chunks()] * 2), cfile.ArgumentError, "name"), (5, TypeError, "int")]:
        with pytest.raises(error, match=text):
            cfile.add_columns(path, data)
    with pytest.raises(cfile.ArgumentError, match="int64"):
        cfile.replace_columns(path, pyarrow.table({"id": names["name"]}))
    with pytest.raises(cfile.NotFoundError, match="strange"):
        cfile.replace_columns(path, names.rename_columns(["strange"]))
    assert cfile.open(path).to_arrow() == changed.to_arrow()


def test_replaced_first_columns_keep_what_pandas_needs(tmp):
    frame = pandas.DataFrame({"n": [1, 2], "c": pandas.Categorical(["a", "b"])}, index=pandas.Index([5, 7], name="key"))
    cfile.write(tmp / "t", frame)
    cfile.replace_columns(tmp / "t", pyarrow.table({"n": [3, 4]}))
    frame["n"] = [3, 4]
    pandas.testing.assert_frame_equal(cfile.open(tmp / "t").to_pandas(), frame)


def test_parts_are_replaced(path):
    first, second, _ = [part["name"] for part in cfile.open(path).parts]
    cfile.append(path, _batch(500, 700), replacing=[first, second])
    assert _ids(path) == [*range(500, 700), *range(2000, 3000)]
    assert cfile.open(path).find(699) == 199
    with pytest.raises(cfile.Error, match=first):
        cfile.append(path, _batch(0, 5), replacing=first)
    assert len(cfile.open(path)) == 1200


def test_repair(path):
    assert all(part["lost_rows"] == 0 for part in cfile.repair(path, dry_run=True, force=True))
    (path / "table.cft").unlink()
    with pytest.raises(cfile.Error):
        cfile.open(path)
    cfile.repair(path, dry_run=True)
    assert not (path / "table.cft").exists()
    found = cfile.repair(path)
    assert sum(part["num_rows"] for part in found) == 3000
    assert sorted(_ids(path)) == list(range(3000))


@pytest.mark.parametrize("pattern, of", [("0001-name.cfile", "loose"), ("columns.packed", "path")])
def test_repair_salvages_rows(request, pattern, of):
    path = request.getfixturevalue(of)
    damaged = sorted(path.rglob(pattern))[0]
    data = bytearray(damaged.read_bytes())
    data[len(data) // 3] ^= 0xFF
    damaged.write_bytes(data)
    found = cfile.repair(path, salvage=True, force=True)
    lost = sum(part["lost_rows"] for part in found)
    table = cfile.open(path)
    assert 0 < lost < 1000 and len(table) == 3000 - lost and table.verify()["damages"] == []
    assert all(row["name"] == f"n{row['id']}" for row in table.to_pylist())


def test_repair_keeps_damaged_parts(loose):
    path = loose
    files = sorted(path.rglob("0001-name.cfile"))
    content = files[0].read_bytes()
    files[0].unlink()
    states = lambda **options: sorted(part["state"] for part in cfile.repair(path, **options))  # noqa: E731
    assert states() == states(salvage=True) == ["damaged", "kept", "kept"]
    assert len(cfile.open(path)) == 3000
    assert states(drop_damaged=True) == states() == ["kept", "kept", "left out"]
    assert len(cfile.open(path)) == 2000
    files[0].write_bytes(content)
    assert states(force=True) == ["kept"] * 3
    files[0].unlink()
    found = cfile.repair(path, salvage=True, null_lost=True)
    assert [part["lost_values"] for part in found if part["state"] == "salvaged"] == [{"name": 1000}]
    assert len(cfile.open(path)) == 3000 and cfile.open(path)["name"].to_arrow().null_count == 1000
    part = cfile.open(path).parts[0]["name"]
    next((path / part).glob("part-*.cft")).unlink()
    assert len(cfile.open(path).verify()["damages"]) == 1


def test_a_missing_table(tmp):
    for call in (cfile.compact, cfile.collect_garbage, lambda path: cfile.drop_parts(path, ["x"]), lambda path: cfile.drop_columns(path,
            "x")):
        with pytest.raises((cfile.NotFoundError, cfile.ArgumentError)):
            call(tmp / "absent")


@pytest.mark.parametrize("count", [1, 2, 4, 7, 100])
def test_fragments_cover_all_rows_once(path, count):
    table = cfile.open(path)
    pieces = cfile.fragments(path, count)
    assert 1 <= len(pieces) <= max(count, 3) + 2
    assert [row for piece in pieces for row in piece.to_arrow().column("id").to_pylist()] == list(range(3000))
    assert sum(map(len, pieces)) == 3000
    starts = {block["first_ordinal"] for block in table["id"].blocks} | {block["first_ordinal"] for block in table["name"].blocks}
    firsts = {part["name"]: part["first_ordinal"] for part in table.parts}
    assert {firsts[piece.part] + piece.begin for piece in pieces} <= starts
    for piece in pieces:
        again = pickle.loads(pickle.dumps(piece))
        assert again.to_pylist() == piece.to_pylist() and repr(again) == repr(piece)
        assert piece.to_polars().height == len(piece) and pyarrow.schema(piece) == piece.to_arrow().schema


def test_fragments_of_a_file(tmp):
    cfile.write(tmp / "f", pyarrow.array(range(5000)), block_size_bytes=512, encoding="plain")
    pieces = cfile.fragments(tmp / "f", 4)
    assert len(pieces) > 1 and [row for piece in pieces for row in piece.to_pylist()] == list(range(5000))
    assert [row for piece in cfile.fragments(tmp / "f", 4, where=col("value") > 4990) for row in piece.to_pylist()] == list(range(4991,
        5000))
    cfile.write(tmp / "empty", _batch(0, 0))
    assert sum(len(piece) for piece in cfile.fragments(tmp / "empty")) == 0


def test_fragments_with_conditions_and_columns(path):
    pieces = cfile.fragments(path, 30, columns=["name"], where=col("id") >= 2500)
    assert {piece.part for piece in pieces} == {cfile.open(path).parts[2]["name"]}  # the bounds exclude the other parts
    assert [row["name"] for piece in pieces for row in piece.to_pylist()] == [f"n{row}" for row in range(2500, 3000)]
    assert all(list(row) == ["name"] for piece in pieces for row in piece.to_pylist())
    with pytest.raises(KeyError):
        cfile.fragments(path, where=col("x") == 1)


def test_fragments_of_parts_that_are_gone(path):
    pieces = cfile.fragments(path, 3)
    cfile.append(path, _batch(3000, 3001))
    assert sum(piece.to_arrow().num_rows for piece in pieces) == 3000  # rows that were appended later do not matter
    first = cfile.open(path).parts[0]["name"]
    cfile.drop_parts(path, [first])
    assert pieces[-1].to_arrow().column("id").to_pylist()[-1] == 2999  # earlier parts do not matter
    cfile.compact(path)
    for piece in pieces:
        with pytest.raises(cfile.ConflictError, match="fragments again"):
            piece.to_arrow()
        with pytest.raises(cfile.ConflictError):
            piece.count()


def _sum(piece):
    return sum(piece.to_arrow().column("id").to_pylist())


def test_processes_read_fragments(path):
    pieces = cfile.fragments(path, 4)
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        assert sum(pool.map(_sum, pieces)) == sum(range(3000))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(_sum, pieces)) == sum(range(3000))


def test_oldest_reader(tmp_path):
    path = tmp_path / "t"
    cfile.write(path, pyarrow.table({"n": [1]}), oldest_reader="0.1")
    cfile.append(path, pyarrow.table({"n": [2]}))
    cfile.compact(path)
    assert cfile.open(path).info["oldest_reader"] == "0.1"
    with pytest.raises(cfile.Error, match="raise"):
        cfile.add_column(path, "new", "int32")
    assert cfile.raise_oldest_reader(path, "0.2") == "0.1"
    cfile.add_column(path, "new", "int32")
    assert cfile.open(path).info["oldest_reader"] == "0.2"
    with pytest.raises(cfile.Error, match="new table"):
        cfile.raise_oldest_reader(path, "0.1")
    assert cfile.raise_oldest_reader(path, "0.3") == "0.2"
    with pytest.raises(cfile.ArgumentError, match="0.4"):
        cfile.raise_oldest_reader(path, "0.4")
    parts = [cfile.write_part(tmp_path / "parts", pyarrow.table({"n": [1]}), oldest_reader="0.1")]
    cfile.commit(tmp_path / "parts", parts)
    assert cfile.open(tmp_path / "parts").info["oldest_reader"] == "0.1"
