"""Streams of appended parts lose and repeat no rows."""
import pytest

import cfile
import test_writing


class Stream:
    """A query that copies a table into JSON files, and its checkpoint."""

    def __init__(self, spark, folder, **options):
        self.spark, self.folder, self.options = spark, folder, options

    def run(self):
        """Reads what is new. Starts anew from the checkpoint each time."""
        stream = self.spark.readStream.format("cfile").options(**self.options).load(str(self.folder / "t"))
        query = stream.writeStream.format("json").option("path", str(self.folder / "out"))
        query = query.option("checkpointLocation", str(self.folder / "checkpoint")).trigger(availableNow=True).start()
        query.awaitTermination()

    def rows(self):
        return sorted(row["n"] for row in self.spark.read.schema("n long").json(str(self.folder / "out")).collect())


@pytest.fixture
def stream(spark, tmp_path):
    return Stream(spark, tmp_path)


@pytest.fixture
def append(spark, tmp_path, save):
    def add(begin, end, parts=2):
        save(spark.range(begin, end, 1, parts).withColumnRenamed("id", "n"), tmp_path / "t")
    return add


def test_each_row_comes_once(stream, append, tmp_path):
    append(0, 100)
    stream.run()
    assert stream.rows() == list(range(100))
    stream.run()
    append(100, 150)
    append(150, 200)
    stream.run()
    assert stream.rows() == list(range(200))


def test_parts_are_merged(stream, append, tmp_path):
    append(0, 100)
    stream.run()
    cfile.compact(tmp_path / "t")  # parts that were read
    stream.run()
    append(100, 200)
    append(200, 300)
    new = [part["name"] for part in cfile.open(tmp_path / "t").parts[1:]]
    cfile.compact(tmp_path / "t", new)  # parts that were not read
    append(300, 310)
    stream.run()
    assert stream.rows() == list(range(310))
    append(310, 320)
    cfile.compact(tmp_path / "t")  # both
    with pytest.raises(Exception, match="merged with parts that it has not read"):
        stream.run()
    assert stream.rows() == list(range(310))


def test_read_rows_are_dropped(stream, append, tmp_path, spark):
    append(0, 100)
    append(100, 200)
    stream.run()
    cfile.drop_parts(tmp_path / "t", [cfile.open(tmp_path / "t").parts[0]["name"]])
    append(200, 250)
    with pytest.raises(Exception, match="dropped or replaced"):
        stream.run()
    Stream(spark, tmp_path, ignore_removed="true").run()
    assert stream.rows() == list(range(250))


DRIVER = """
    import pathlib, sys
    import conftest, test_writing
    spark = conftest.session("local[2]")
    folder, kills = pathlib.Path(sys.argv[1]), sys.argv[2] == "kill"
    stream = spark.readStream.format("cfile").load(str(folder / "t"))

    def rows(batches):
        for batch in batches:
            if kills and 150 in batch.column(0).to_pylist():
                test_writing.kill_once(str(folder / "killed"))
            yield batch
    query = stream.mapInArrow(rows, "n long").writeStream.format("json").option("path", str(folder / "out"))
    query.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start().awaitTermination()
    print("the stream has ended")
"""


def test_the_driver_dies_in_a_batch(stream, append, tmp_path):
    append(0, 100)
    output, _ = test_writing.program(tmp_path, DRIVER, tmp_path, "no").communicate(timeout=900)
    assert "the stream has ended" in output, output
    append(100, 200)
    killed = test_writing.program(tmp_path, DRIVER, tmp_path, "kill")
    output, _ = killed.communicate(timeout=900)
    assert killed.returncode != 0 and (tmp_path / "killed").exists(), output
    append(200, 300)
    # Spark repeats the batch, which does not have the newest rows.
    output, _ = test_writing.program(tmp_path, DRIVER, tmp_path, "kill").communicate(timeout=900)
    assert "the stream has ended" in output, output
    assert stream.rows() == list(range(200))
    output, _ = test_writing.program(tmp_path, DRIVER, tmp_path, "no").communicate(timeout=900)
    assert "the stream has ended" in output, output
    assert stream.rows() == list(range(300))
