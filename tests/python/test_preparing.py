"""Parts that many processes write and one commit publishes: write_part and commit."""
import concurrent.futures
import multiprocessing
import pickle

import pyarrow
import pytest

import cfile
from cfile import _native
from cfile.selection import Selection


def rows_of(path):
    return cfile.open(path).to_pylist()


def numbers(*values, nullable=True):
    return pyarrow.table({"n": pyarrow.array(values, pyarrow.int64())}, pyarrow.schema([pyarrow.field("n", pyarrow.int64(), nullable)]))


def write_one(path, begin):
    return cfile.write_part(path, numbers(*range(begin, begin + 10)))


def test_processes_write_and_one_commits(tmp):
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        parts = list(pool.map(write_one, [tmp / "t"] * 4, [0, 10, 20, 30]))
    with pytest.raises(cfile.NotFoundError):
        cfile.open(tmp / "t")
    assert cfile.commit(tmp / "t", parts, id="job") is True
    assert [row["n"] for row in rows_of(tmp / "t")] == list(range(40))
    assert cfile.commit(tmp / "t", parts, id="job") is False
    assert cfile.commit(tmp / "t", [write_one(tmp / "t", 0)], id="job") is False
    assert len(cfile.open(tmp / "t")) == 40
    # The part of the repeated job is garbage.
    assert len(cfile.collect_garbage(tmp / "t", older_than_seconds=0)) == 1
    assert len(cfile.open(tmp / "t")) == 40


def test_parts_fit_the_table(tmp):
    cfile.write(tmp / "t", pyarrow.table({"id": [1, 3], "name": ["a", "c"]}), sorted_by="id")
    part = cfile.write_part(tmp / "t", pyarrow.table({"name": ["b", "a"], "id": [2, 0]}), sorted_by="id")
    assert cfile.commit(tmp / "t", [part])
    table = cfile.open(tmp / "t")
    assert table.to_pylist()[2:] == [{"id": 0, "name": "a"}, {"id": 2, "name": "b"}]
    assert table.find(2) == 3 and table[table.find(3)]["name"] == "c"
    with pytest.raises(cfile.ArgumentError, match="no column x"):
        cfile.write_part(tmp / "t", pyarrow.table({"id": [1]}), sorted_by="x")
    with pytest.raises(cfile.ArgumentError, match="one array"):
        cfile.write_part(tmp / "t", pyarrow.array([1]))


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("memory_limit_bytes", [1 << 30, 64])
def test_sorted_parts(tmp, nullable, memory_limit_bytes):
    values = [5, 3, 9, 1, 7, 3, 8]
    batches = [numbers(value, nullable=nullable) for value in values]
    for _ in range(2):  # the first part is of a new table, the second one of a table that exists
        data = pyarrow.concat_tables(batches)
        part = cfile.write_part(tmp / "t", data, sorted_by="n", memory_limit_bytes=memory_limit_bytes)
        assert cfile.commit(tmp / "t", [part])
    table = cfile.open(tmp / "t")
    assert [row["n"] for row in table] == 2 * sorted(values)
    assert table.key == (["n"] if nullable else [])
    assert table.find(7) == 4
    assert table.verify()["damages"] == []


def test_nulls_in_a_key(tmp):
    part = cfile.write_part(tmp / "t", numbers(2, None, 1), sorted_by=["n"])
    other = cfile.write_part(tmp / "t", numbers(4, 3), sorted_by=["n"])
    assert cfile.commit(tmp / "t", [part, other])
    assert [row["n"] for row in cfile.open(tmp / "t")] == [None, 1, 2, 3, 4]


def test_replacing(tmp):
    cfile.write(tmp / "t", numbers(1, 2))
    old = [part["name"] for part in cfile.open(tmp / "t").parts]
    part = cfile.write_part(tmp / "t", numbers(3))
    cfile.append(tmp / "t", numbers(4))
    assert cfile.commit(tmp / "t", [part], id="a", replacing=old)
    assert rows_of(tmp / "t") == [{"n": 3}, {"n": 4}]
    assert not cfile.commit(tmp / "t", [part], id="a", replacing=old)
    with pytest.raises(cfile.ConflictError, match=old[0]):
        cfile.commit(tmp / "t", [write_one(tmp / "t", 0)], id="b", replacing=old)
    assert cfile.commit(tmp / "t", [], replacing=[part["name"] for part in cfile.open(tmp / "t").parts])
    assert rows_of(tmp / "t") == []


def test_empty_tables(tmp):
    schema = pyarrow.schema([("n", pyarrow.int64())])
    with pytest.raises(cfile.NotFoundError):
        cfile.commit(tmp / "t", [])
    assert cfile.commit(tmp / "t", [], id="a", schema=schema, sorted_by="n")
    assert rows_of(tmp / "t") == [] and cfile.open(tmp / "t").key == ["n"]
    assert cfile.commit(tmp / "t", [cfile.write_part(tmp / "t", numbers(2, 1), sorted_by="n")])
    assert [row["n"] for row in cfile.open(tmp / "t")] == [1, 2]


def test_wrong_parts(tmp):
    part = write_one(tmp / "t", 0)
    other = cfile.write_part(tmp / "t", pyarrow.table({"m": [1]}))
    for parts in ([part, other], [part, part]):
        with pytest.raises(cfile.ArgumentError):
            cfile.commit(tmp / "t", parts)
    with pytest.raises(cfile.DataError):
        cfile.commit(tmp / "t", [part[:-1]])
    with pytest.raises(cfile.ArgumentError, match="128 bytes"):
        cfile.commit(tmp / "t", [part], id="x" * 129)
    assert cfile.commit(tmp / "t", [part])
    with pytest.raises(cfile.ConflictError, match="schema"):
        cfile.commit(tmp / "t", [other])


def test_parts_are_given_in_a_list(tmp):
    part = write_one(tmp / "t", 0)
    with pytest.raises(TypeError, match=r"expected a list of results of cfile.write_part, found a single result: pass \[part\]"):
        cfile.commit(tmp / "t", part)
    with pytest.raises(TypeError, match="found str"):
        cfile.commit(tmp / "t", [part, "part"])
    with pytest.raises(TypeError, match="not iterable"):
        cfile.commit(tmp / "t", 1)
    assert not (tmp / "t" / "table.cft").exists()
    assert cfile.commit(tmp / "t", (each for each in [part])) is True


def test_messages_name_keys_by_their_values(tmp):
    cfile.write(tmp / "t", pyarrow.table({"day": [1], "city": ["a"]}), sorted_by=["city", "day"])
    with pytest.raises(cfile.ArgumentError, match=r'row 1: its key \("a", 9\) is less than the key before it, \("b", null\)'):
        cfile.write_part(tmp / "t", pyarrow.table({"day": [None, 9], "city": ["b", "a"]}))


def test_nothing_is_left_after_an_error(tmp):
    def failing():
        yield numbers(1).to_batches()[0]
        raise RuntimeError("the source has failed")
    stream = pyarrow.RecordBatchReader.from_batches(numbers(1).schema, failing())
    with pytest.raises(cfile.Error, match="the source has failed"):
        cfile.write_part(tmp / "t", stream)
    assert not (tmp / "t").exists()


def test_snapshots(tmp):
    for begin in (0, 10, 20):
        cfile.commit(tmp / "t", [write_one(tmp / "t", begin)])
    path = str(tmp / "t")
    snapshot = pickle.loads(pickle.dumps(_native.open_table(path).snapshot))
    parts = _native.open_table(path).parts()
    assert [part["commit"] for part in parts] == [1, 2, 3]
    cfile.compact(tmp / "t", [part["name"] for part in parts[1:]])
    cfile.append(tmp / "t", numbers(99))
    # A merged part has the number of the first part that it replaces.
    assert [part["commit"] for part in cfile.open(tmp / "t").parts] == [1, 2, 5]
    before = _native.open_table(path, snapshot=snapshot)
    assert before.parts() == parts
    assert [row["n"] for row in Selection(before, None).to_pylist()] == list(range(30))
    cfile.collect_garbage(tmp / "t", older_than_seconds=0)
    with pytest.raises(cfile.ConflictError):
        Selection(_native.open_table(path, snapshot=snapshot), None).to_arrow()
