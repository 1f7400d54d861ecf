"""One query of Spark in this process. tests/campaign/spark tests the rest, on a cluster."""
import os
import pathlib
import shutil
import sys

import pytest

from conftest import python_path

pytest.importorskip("pyspark", "4.1", reason="PySpark 4.1 is not installed")
if not shutil.which("java"):
    pytest.skip("Java is not installed", allow_module_level=True)


def test_spark_writes_and_reads(tmp, monkeypatch):
    import cfile.spark
    from pyspark.sql import SparkSession
    monkeypatch.setenv("PYTHONPATH", python_path(pathlib.Path(cfile.__file__).parents[1]))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    try:
        cfile.spark.register(spark)
        path = os.fspath(tmp / "t")
        frame = spark.createDataFrame([(3, "c"), (1, "a"), (2, None)], "n int, s string")
        for _ in range(2):
            frame.coalesce(1).write.format("cfile").mode("append").option("sorted_by", "n").option("commit_id", "job").save(path)
        assert [row["n"] for row in cfile.open(path)] == [1, 2, 3]
        found = spark.read.format("cfile").option("columns", "s,n").option("push_filters", "true").load(path)
        found = found.filter("n >= 2 and s is not null").collect()
        assert [tuple(row) for row in found] == [("c", 3)]
    finally:
        spark.stop()
