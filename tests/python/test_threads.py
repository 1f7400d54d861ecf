"""Several threads read the rows of one stream (cfile.open(threads=...))."""
import gc
import os
import signal
import threading

import numpy
import polars.testing
import pyarrow as pa
import pytest
from conftest import parted

import cfile

ROWS = 700_001


@pytest.fixture(scope="module")
def rows():
    numbers = numpy.random.default_rng(5).integers(0, 1 << 40, ROWS)
    return pa.table({"n": pa.array(numbers, mask=numbers % 7 == 0), "s": pa.array([f"s{number % 1000}" for number in numbers]),
                     "d": pa.array(numbers % 1000, pa.duration("s")),
                     # With so many columns there are ten ranges, and threads wait for the consumer.
                     **{f"c{number}": pa.array((numbers >> number) % 8, pa.int8()) for number in range(30)}})


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rows_stay_in_order(tmp, rows, parts, threads):
    parted(tmp / "t", rows, parts)
    table = cfile.open(tmp / "t", threads=threads)
    for found, expected in ((table.to_arrow(), rows), (table[5:-3].to_arrow(), rows[5:-3]), (pa.table(table.scan(columns=["s"])), rows.select(["s"])),
                            (table.to_batches().read_all(), rows)):
        assert found.cast(expected.schema).equals(expected)
    assert table["n"].to_arrow().equals(rows["n"])
    polars.testing.assert_frame_equal(table.to_polars(), polars.DataFrame(rows))
    assert table.to_arrow(dictionaries=True)["s"].cast("string").equals(rows["s"])
    assert table.scan(limit=300_000).to_arrow().num_rows == 300_000


@pytest.mark.parametrize("threads", [0, -1])
def test_no_threads(stored, rows, threads):
    with pytest.raises(cfile.ArgumentError, match="threads"):
        cfile.open(stored(rows[:5])._opened.name, threads=threads)


def test_a_forked_process_has_no_threads(stored, rows, run):
    stored(rows)
    assert run("""
        import os, signal
        import cfile
        batches = cfile.open("data", threads=2).to_batches()
        batches.read_next_batch()
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                batches.read_next_batch()
            except cfile.Error as error:
                print(error, flush=True)
            os._exit(0)
        print(os.waitpid(child, 0)[1], sum(batch.num_rows for batch in batches) > 0)
    """) == "the stream belongs to another process\n0 True\n"


def test_files(stored, rows):
    column = stored(rows["n"])
    assert column._opened.threads == min(2, os.cpu_count())
    assert column.to_arrow().equals(rows["n"]) and column[7:].to_arrow().equals(rows["n"][7:])


def test_streams_that_end_early(stored, rows):
    table = stored(rows)
    for count in range(3):
        reader = table.to_batches()
        batches = [reader.read_next_batch() for _ in range(count)]
        del reader, batches
        gc.collect()
    with cfile.open(table._opened.name) as opened:
        begun = opened.to_batches()
    assert begun.read_all().num_rows == ROWS


def test_errors_say_where(stored, rows, tmp):
    stored(rows, pack_below_bytes=0)
    file = next((tmp / "data").glob("part-*/*-n.cfile"))
    data = bytearray(file.read_bytes())
    data[len(data) * 3 // 4] ^= 1
    file.write_bytes(data)
    with pytest.raises(cfile.DataError) as raised:
        cfile.open(tmp / "data", threads=3).to_arrow()
    assert raised.value.file == str(file)


def test_keyboard_interrupt(stored, rows):
    table = stored(rows)
    for delay in range(5):
        timer = threading.Timer(delay / 100, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            while timer.is_alive():
                table.to_arrow()
            for _ in range(20):
                table.to_arrow()
        timer.join()
