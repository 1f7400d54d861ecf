"""Jobs that write: exactly once, whatever fails."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading

import pyarrow
import pyspark
import pytest
from pyspark import TaskContext
from pyspark.sql import functions as F

import cfile
import conftest
from cfile import spark_writing
from cfile.locations import Place


def values(path, column="n"):
    return sorted(row[column] for row in cfile.open(path))


def folders(path):
    return sum(entry.is_dir() for entry in pathlib.Path(path).iterdir())


def test_append_and_overwrite(spark, read, save, tmp_path):
    path = tmp_path / "t"
    save(spark.range(0, 1000, 1, 4).withColumnRenamed("id", "n"), path)
    save(spark.range(1000, 1500, 1, 2).withColumnRenamed("id", "n"), path)
    assert values(path) == list(range(1500)) and len(cfile.open(path).parts) == 6
    assert read(path).agg(F.sum("n")).collect()[0][0] == sum(range(1500))
    save(read(path).filter("n < 10"), path, "overwrite")  # reads the rows that it replaces
    assert values(path) == list(range(10))
    save(spark.range(0).withColumnRenamed("id", "n"), path, "overwrite")
    assert values(path) == [] and read(path).count() == 0
    save(spark.range(3).withColumnRenamed("id", "n"), path)
    assert values(path) == [0, 1, 2]


@pytest.mark.parametrize("mode", [None, "error", "errorifexists", "ignore"])
def test_spark_refuses_other_modes(spark, tmp_path, mode):
    """Spark has no other modes for sources in Python, whether there is a table or not."""
    def refused():
        written = spark.range(3).withColumnRenamed("id", "n").write.format("cfile")
        with pytest.raises(Exception, match="UNSUPPORTED_DATA_SOURCE_SAVE_MODE"):
            (written if mode is None else written.mode(mode)).save(str(tmp_path / "t"))
    refused()
    assert not (tmp_path / "t").exists()
    cfile.write(tmp_path / "t", pyarrow.table({"n": [7]}))
    refused()
    assert values(tmp_path / "t") == [7]


def test_an_empty_frame_makes_a_table(spark, read, save, tmp_path):
    save(spark.range(0).withColumnRenamed("id", "n"), tmp_path / "t", sorted_by="n")
    assert read(tmp_path / "t").columns == ["n"] and read(tmp_path / "t").count() == 0


def test_a_commit_id_is_used_once(spark, save, tmp_path):
    frame = spark.range(100).withColumnRenamed("id", "n")
    for _ in range(3):
        save(frame, tmp_path / "t", commit_id="load of monday")
    assert values(tmp_path / "t") == list(range(100))
    assert len(cfile.collect_garbage(tmp_path / "t", older_than_seconds=0)) > 0
    assert values(tmp_path / "t") == list(range(100))


def test_ranges_of_keys_do_not_overlap(spark, read, save, tmp_path):
    path = tmp_path / "t"
    frame = spark.range(0, 20_000, 1, 7).select(((F.col("id") * 7919) % 20_000).alias("time"), F.col("id"))
    save(frame.repartitionByRange(4, "time"), path, sorted_by="time")
    table = cfile.open(path)
    bounds = []
    for part in table.parts:
        times = [row["time"] for row in table[part["first_ordinal"]:part["first_ordinal"] + part["num_rows"]].to_pylist()]
        assert times == sorted(times)
        bounds.append((times[0], times[-1]))
    assert len(bounds) == 4 and all(before[1] < after[0] for before, after in zip(bounds, bounds[1:])), bounds
    assert table.find(7919) == 7919
    # A lookup reads one of the parts.
    found = read(path, partition_size_bytes=1, push_filters="true").filter("time = 12345")
    assert found.rdd.getNumPartitions() < read(path, partition_size_bytes=1).rdd.getNumPartitions()
    assert [row["id"] * 7919 % 20_000 for row in found.collect()] == [12345]


def test_partitions_have_the_size_that_is_asked_for(spark, read, save, tmp_path):
    save(spark.range(0, 300_000, 1, 3).withColumn("x", F.rand(1)), tmp_path / "t")
    size = cfile.open(tmp_path / "t").info["size_bytes"]
    whole = read(tmp_path / "t")
    assert whole.rdd.getNumPartitions() == 1
    divided = read(tmp_path / "t", partition_size_bytes=size // 8)
    assert 6 <= divided.rdd.getNumPartitions() <= 12
    assert divided.agg(F.sum("id"), F.count("*")).collect() == whole.agg(F.sum("id"), F.count("*")).collect()


def test_wrong_options_and_columns(spark, read, save, tmp_path):
    frame = spark.range(3).withColumnRenamed("id", "n")
    save(frame, tmp_path / "t")
    for options, message in (({"sortedby": "n"}, "no option"), ({"sorted_by": "x"}, "no column x"),
                             ({"commit_id": "x" * 200}, "128 bytes"),
                             ({"bloom_filter": "n=ten"}, "bloom_filter: expected a number, found 'ten'"),
                             ({"pack_below_bytes": "n=0"}, "pack_below_bytes: expected a number, found 'n=0'"),
                             ({"memory_limit_bytes": "much"}, "memory_limit_bytes: expected a number"),
                             ({"encoding": "x=plain"}, "encoding: there is no column 'x'; there are n")):
        with pytest.raises(Exception, match=message):
            save(frame, tmp_path / "t", **options)
    with pytest.raises(Exception, match="differ in the columns m, n"):
        save(frame.withColumnRenamed("n", "m"), tmp_path / "t")
    with pytest.raises(Exception, match="has the type int64, not string"):
        save(frame.select(F.col("n").cast("string")), tmp_path / "t")
    with pytest.raises(Exception, match="no column|x"):
        read(tmp_path / "t", columns="x")
    with pytest.raises(Exception, match="no table|table.cft"):
        read(tmp_path / "nothing").count()
    assert values(tmp_path / "t") == [0, 1, 2]


def test_options_of_columns(spark, save, tmp_path):
    frame = spark.range(0, 1000, 1, 1).select(F.col("id").alias("a"), F.col("id").alias("b"))
    save(frame, tmp_path / "t", compression="a = zstd, b=none", encoding="plain")
    table = cfile.open(tmp_path / "t")
    assert [table[name].blocks[0]["compressed"] for name in "ab"] == [True, False]
    save(frame, tmp_path / "u", bloom_filter="b=10", compression="none", encoding="plain", pack_below_bytes=0)
    sizes = [file.stat().st_size for file in sorted((tmp_path / "u").glob("part-*/*.cfile"))]
    assert len(sizes) == 2 and sizes[1] - sizes[0] >= 1250, sizes  # ten bits for each of the values


def kill_once(marker):
    """Kills this executor, unless a process has done so before."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    process = os.getpid()
    while b"java" not in pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[0]:
        process = int(pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(process, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def test_an_executor_dies_in_the_middle_of_a_task(spark, save, tmp_path):
    marker = str(tmp_path / "killed")

    def rows(batches):
        for number, batch in enumerate(batches):
            if number == 3:
                kill_once(marker)
            yield batch
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
    frame = spark.range(0, 20_000, 1, 4).withColumnRenamed("id", "n").mapInArrow(rows, "n long")
    save(frame, tmp_path / "t")
    assert os.path.exists(marker)
    assert values(tmp_path / "t") == list(range(20_000))
    assert len(cfile.open(tmp_path / "t").parts) == 4
    cfile.collect_garbage(tmp_path / "t", older_than_seconds=0)
    assert folders(tmp_path / "t") == 4
    assert values(tmp_path / "t") == list(range(20_000))


def test_a_job_fails(spark, save, tmp_path):
    save(spark.range(5).withColumnRenamed("id", "n"), tmp_path / "t")
    parts = folders(tmp_path / "t")

    def rows(batches):
        for batch in batches:
            if batch.column(0)[0].as_py() >= 1500:
                raise ValueError("this task never succeeds")
            yield batch
    frame = spark.range(0, 2000, 1, 4).withColumnRenamed("id", "n").mapInArrow(rows, "n long")
    with pytest.raises(Exception, match="never succeeds"):
        save(frame, tmp_path / "t")
    assert values(tmp_path / "t") == list(range(5))
    cfile.collect_garbage(tmp_path / "t", older_than_seconds=0)
    assert folders(tmp_path / "t") == parts


def test_a_task_that_ran_twice(tmp_path):
    """What Spark does with a speculative task: two attempts write, and the message of one of them reaches the driver."""
    from pyspark.sql import types as T
    writer = spark_writing.Writer(Place(str(tmp_path / "t")), T.StructType([T.StructField("n", T.LongType())]), False, {})
    rows = pyarrow.record_batch({"n": [1, 2, 3]}, schema=pyarrow.schema([("n", pyarrow.int64())]))
    messages = [writer.write(iter([rows])) for _ in range(2)]
    writer.commit([messages[1], None, writer.write(iter([]))])
    assert values(tmp_path / "t") == [1, 2, 3]
    assert folders(tmp_path / "t") == 2
    assert len(cfile.collect_garbage(tmp_path / "t", older_than_seconds=0)) == 1
    writer.commit([messages[1]])  # the driver repeats the commit
    assert values(tmp_path / "t") == [1, 2, 3]


def program(folder, text, *arguments):
    """Starts a program with a Spark of its own."""
    file = folder / f"program{len(list(folder.iterdir()))}.py"
    file.write_text(textwrap.dedent(text))
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(conftest.HERE), str(pathlib.Path(cfile.__file__).parents[1])]))
    return subprocess.Popen([sys.executable, str(file), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=environment)


class ChangedSource(cfile.spark.CfileSource):
    """The source of cfile, with a name and a writer that subclasses set."""

    format_name: str
    writer_class: type[spark_writing.Writer]

    @classmethod
    def name(cls):
        return cls.format_name

    def writer(self, schema, overwrite):
        written = super().writer(schema, overwrite)
        written.__class__ = self.writer_class
        return written


class KilledWriter(spark_writing.Writer):
    """Kills the driver after the commit."""

    def commit(self, messages):
        super().commit(messages)
        kill_once(self._place.path + ".killed")


class KilledSource(ChangedSource):
    format_name, writer_class = "killed", KilledWriter


DRIVER = """
    import sys
    import conftest, cfile.spark, test_writing
    spark = conftest.session("local[2]")
    spark.dataSource.register(test_writing.KilledSource)
    frame = spark.range(0, 1000, 1, 4).withColumnRenamed("id", "n")
    frame.write.format("killed").mode(sys.argv[2]).option("commit_id", "job").save(sys.argv[1])
    print("the job has ended")
"""


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_the_driver_dies_after_the_commit(tmp_path, mode):
    path = tmp_path / "t"
    killed = program(tmp_path, DRIVER, path, mode)
    output, _ = killed.communicate(timeout=900)
    assert killed.returncode != 0 and "the job has ended" not in output, output
    assert values(path) == list(range(1000))  # the commit took place
    output, _ = program(tmp_path, DRIVER, path, mode).communicate(timeout=900)
    assert "the job has ended" in output, output
    assert values(path) == list(range(1000))
    cfile.collect_garbage(path, older_than_seconds=0)
    assert folders(path) == len(cfile.open(path).parts)


class SlowWriter(spark_writing.Writer):
    """The attempts of the first task wait for each other, after each has written its part."""

    def write(self, iterator):
        message = super().write(iterator)
        task = TaskContext.get()
        if task.partitionId() == 0:
            # Opening one end of a pipe waits until the other attempt opens the other end.
            with open(self._place.path + ".pipe", "wb" if task.attemptNumber() else "rb"):
                pathlib.Path(f"{self._place.path}.attempt{task.attemptNumber()}").touch()
        return message


class SlowSource(ChangedSource):
    format_name, writer_class = "slow", SlowWriter


SPECULATION = """
    import sys
    import conftest, test_writing
    spark = conftest.session(sys.argv[2], spark_speculation="true", spark_speculation_interval="100ms", spark_speculation_quantile="0.5",
                             spark_speculation_multiplier="1.01", spark_speculation_minTaskRuntime="100ms",
                             spark_executor_cores="1", spark_executor_memory="1g")
    spark.dataSource.register(test_writing.SlowSource)
    frame = spark.range(0, 1000, 1, 4).withColumnRenamed("id", "n")
    frame.write.format("slow").mode(sys.argv[3]).save(sys.argv[1])
    print("the job has ended")
"""


@pytest.fixture(scope="module")
def cluster():
    """The URL of a Spark whose executors have different addresses: Spark does not repeat a slow task at the same address."""
    home = pathlib.Path(pyspark.__file__).parent
    environment = dict(os.environ, SPARK_HOME=str(home), SPARK_NO_DAEMONIZE="1")
    started = []

    def start(kind, address, *arguments):
        command = [home / "bin/spark-class", f"org.apache.spark.deploy.{kind}", "--host", address, "--webui-port", "0", *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment))
        return started[-1]
    try:
        with tempfile.TemporaryDirectory() as work:
            master = start("master.Master", "127.0.0.1", "--port", "0")
            url = next(found[0] for found in (re.search(r"spark://[\d.:]+", line) for line in master.stderr) if found)
            for address in ("127.0.0.2", "127.0.0.3"):
                start("worker.Worker", address, "--cores", "1", "--memory", "1g", "--work-dir", work, url)
            for process in started:
                threading.Thread(target=process.stderr.read, daemon=True).start()
            yield url
            for process in started:
                process.terminate()
                process.wait()
    finally:
        for process in started:
            process.kill()


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_both_attempts_of_a_slow_task_finish(cluster, tmp_path, mode):
    path = tmp_path / "t"
    cfile.write(path, pyarrow.table({"n": [-1]}))
    os.mkfifo(f"{path}.pipe")
    output, _ = program(tmp_path, SPECULATION, path, cluster, mode).communicate(timeout=900)
    assert "the job has ended" in output, output
    assert all(pathlib.Path(f"{path}.attempt{number}").exists() for number in (0, 1))
    expected = [-1, *range(1000)] if mode == "append" else list(range(1000))
    assert values(path) == expected
    assert folders(path) == 6  # the part that was there, those of four tasks, and one that is garbage
    cfile.collect_garbage(path, older_than_seconds=0)
    assert folders(path) == len(cfile.open(path).parts)
    assert values(path) == expected


APPENDER = """
    import sys
    import conftest
    spark = conftest.session("local[1]")
    for i in range(4):
        first = int(sys.argv[2]) + 100 * i
        frame = spark.range(first, first + 100, 1, 2).withColumnRenamed("id", "n")
        frame.write.format("cfile").mode("append").option("sorted_by", "n").save(sys.argv[1])
"""


def test_jobs_append_at_once(tmp_path):
    """Two drivers make the table and append to it at the same time."""
    path = tmp_path / "t"
    jobs = [program(tmp_path, APPENDER, path, first) for first in (0, 400)]
    for job in jobs:
        output, _ = job.communicate(timeout=900)
        assert job.returncode == 0, output
    assert values(path) == list(range(800)) and len(cfile.open(path).parts) == 16


def test_a_query_survives_changes_of_the_table(spark, read, save, tmp_path):
    save(spark.range(0, 1000, 1, 4).withColumnRenamed("id", "n"), tmp_path / "t")
    table = read(tmp_path / "t")
    planned = table.rdd  # the ranges of rows are fixed now
    cfile.compact(tmp_path / "t")
    save(spark.range(5).withColumnRenamed("id", "n"), tmp_path / "t")
    assert sorted(row["n"] for row in planned.collect()) == list(range(1000))
    assert read(tmp_path / "t").count() == 1005
