"""A Spark on this machine: a driver, and two executors in processes of their own."""
import os
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import cfile
import cfile.spark

HERE = Path(__file__).parent


def session(master="local-cluster[2,1,1024]", **settings):
    """Starts a Spark that finds this package and this folder."""
    path = os.pathsep.join([str(Path(cfile.__file__).parents[1]), str(HERE), os.environ.get("PYTHONPATH", "")])
    os.environ["PYTHONPATH"] = path
    os.environ.setdefault("SPARK_HOME", str(Path(sys.modules["pyspark"].__file__).parent))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret")  # executors get them, too
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.session.timeZone", "America/New_York")
    builder = builder.config("spark.executorEnv.PYTHONPATH", path).config("spark.sql.shuffle.partitions", "4")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), value)
    spark = builder.getOrCreate()
    cfile.spark.register(spark)
    return spark


@pytest.fixture(scope="session")
def spark():
    started = session()
    yield started
    started.stop()


@pytest.fixture
def read(spark):
    """Reads a table: read(path, option=value)."""
    def load(path, **options):
        return spark.read.format("cfile").options(**options).load(str(path))
    return load


@pytest.fixture
def save():
    """Writes a DataFrame: save(frame, path, mode, option=value)."""
    def write(frame, path, mode="append", **options):
        frame.write.format("cfile").mode(mode).options(**options).save(str(path))
    return write
