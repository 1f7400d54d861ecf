"""Lists of numbers of a fixed length, for example embeddings, are stored as bytes if no element is null."""
import numpy
import polars
import polars.testing
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cfile

PLAIN = pa.FixedSizeListArray.from_arrays(pa.array(numpy.arange(40, dtype="float32")), 4)
NULLS = pa.array([[1, 2, 3, 4], None, [5, 6, 7, 8]], pa.list_(pa.float32(), 4))
NULL_ELEMENTS = pa.array([[1, None, 3, 4], None], pa.list_(pa.float32(), 4))
ARRAYS = {"plain": PLAIN, "nulls": NULLS, "slice": NULLS[1:], "int8": PLAIN.cast(pa.list_(pa.int8(), 4)),
          "tensor": pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.float32(), (2, 2)), PLAIN), "null elements": NULL_ELEMENTS}


def _same(found, array):
    found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    found.validate(full=True)
    storages = [getattr(one, "storage", one) for one in (found, array)]
    return found.type == array.type and storages[0].to_pylist() == storages[1].to_pylist()


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("container", ["table", "array", "reader"])
def test_round_trip(stored, tmp, name, container):
    array = ARRAYS[name]
    table = pa.table({"n": range(len(array)), "e": array})
    opened = stored({"table": table, "array": array, "reader": pa.RecordBatchReader.from_stream(table)}[container])
    if container == "array":
        assert opened.type == {"int8": "fixed(4)", "null elements": "float"}.get(name, "fixed(16)")
        assert _same(opened.to_arrow(), array) and _same(opened[1:].to_arrow(), array[1:])
    else:
        assert ("e" in opened.types) == (container == "table" and name != "null elements")
        cfile.append(tmp / "data", table)
        cfile.write(tmp / "again", cfile.open(tmp / "data"))
        assert cfile.open(tmp / "again").types == opened.types
        for path in (tmp / "data", tmp / "again"):
            cfile.compact(path)
            found = cfile.open(path).to_arrow()["e"]
            assert _same(found[:len(array)], array) and _same(found[len(array):], array)
        assert _same(cfile.open(tmp / "data").take([1, 0]).to_arrow()["e"], array.take(pa.array([1, 0])))
    cfile.to_parquet(tmp / "data", tmp / "f.parquet")
    assert _same(pq.read_table(tmp / "f.parquet").columns[-1][:len(array)], array)
    cfile.from_parquet(tmp / "f.parquet", tmp / "back")
    assert _same(cfile.open(tmp / "back").to_arrow().columns[-1][:len(array)], array)


def test_a_column_of_a_table_is_one_array(stored):
    table = stored(pa.table({"e": PLAIN, "f": pa.chunked_array([NULL_ELEMENTS[:1]] * 10), "n": range(10)}))
    for name, kind in (("e", "fixed(16)"), ("f", "float"), ("n", "int64")):
        for number, column in enumerate((table[name], table[name][2:])):
            copied = stored(column, name=f"{name} {number}")
            assert copied.type == kind and copied.to_pylist() == column.to_pylist()


@pytest.mark.parametrize("array", [PLAIN, NULL_ELEMENTS], ids=["bytes", "lists"])
def test_rows_that_are_added(stored, tmp, array):
    stored(pa.table({"e": array}))
    for kind in (pa.list_(pa.float32()), pa.large_list(pa.float32()), pa.list_(pa.float32(), 4)):
        cfile.append(tmp / "data", pa.table({"e": pa.array([None, [1, 2, 3, 4]], kind)}))
    assert cfile.open(tmp / "data").to_arrow()["e"].to_pylist() == array.to_pylist() + 3 * [None, [1, 2, 3, 4]]
    for wrong, text in ((pa.array([[1]], pa.list_(pa.float32())), "4 elements expected, found 1"), (pa.array([[1]], pa.list_(pa.float32(), 1)), "lists of 4")):
        with pytest.raises(cfile.ArgumentError, match=text):
            cfile.append(tmp / "data", pa.table({"e": wrong}))
    for wrong in [pa.array([[1, 2, 3, 4]], pa.list_(kind, 4)) for kind in (pa.int32(), pa.uint32())] if array is PLAIN else []:
        with pytest.raises(cfile.ArgumentError, match="e: the column has lists of numbers of another type"):
            cfile.append(tmp / "data", pa.table({"e": wrong}))
    if array is PLAIN:
        with pytest.raises(cfile.ArgumentError, match="e: row 0 of a batch: an element is null"):
            cfile.append(tmp / "data", pa.table({"e": NULL_ELEMENTS}))


def test_required_elements_and_empty_tables(stored):
    required = pa.list_(pa.field("item", pa.float32(), nullable=False), 2)
    assert stored(pa.table({"e": pa.array([], required)}), name="required").types == {"e": "fixed(8)"}
    assert stored(pa.table({"e": pa.array([], pa.list_(pa.float32(), 2))}), name="other").types == {"e.list.element": "float"}


def test_new_columns(stored, tmp):
    stored(pa.table({"n": range(10)}))
    cfile.add_columns(tmp / "data", pa.table({"e": PLAIN}))
    cfile.append(tmp / "data", pa.table({"n": [1], "e": PLAIN[:1], "f": PLAIN[:1]}), evolve=True)
    found = cfile.open(tmp / "data").to_arrow()
    assert found.schema.types == [pa.int64(), PLAIN.type, PLAIN.type]
    assert found["e"].to_pylist() == [*PLAIN.to_pylist(), PLAIN[0].as_py()] and found["f"].null_count == 10


def test_polars(stored):
    frame = polars.DataFrame({"a": polars.Series([[1, 2], None, [3, 4]], dtype=polars.Array(polars.Int16, 2)),
                              "b": polars.Series([[1, None], None, [3, 4]], dtype=polars.Array(polars.Int16, 2))})
    table = stored(frame)
    assert table.types == {"a": "fixed(4)", "b.list.element": "int16"}
    polars.testing.assert_frame_equal(table.to_polars(), frame)
    polars.testing.assert_frame_equal(cfile.scan_polars(table).collect(), frame)
