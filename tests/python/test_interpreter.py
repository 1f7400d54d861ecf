"""The interpreter lock, signals, exceptions, files that change, and imports."""
import errno
import http.server
import os
import pathlib
import pickle
import shutil
import signal
import sys
import threading

import polars
import pyarrow
import pytest
from test_writing import Failing

import cfile
from cfile import col


def _large(tmp, rows=4_000_000, **options):
    """A table whose scan takes a while."""
    text = pyarrow.array([f"value number {row}" for row in range(1000)])
    numbers = pyarrow.table({"n": pyarrow.array(range(1000), "int64"), "s": text})
    schema = numbers.schema
    batch, = numbers.to_batches()
    cfile.write(tmp / "large", pyarrow.RecordBatchReader.from_batches(schema, (batch for _ in range(rows // 1000))), **options)
    return cfile.open(tmp / "large")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return _large(tmp_path_factory.mktemp("large"), encoding="plain", compression="none", block_size_bytes=4096)


def _runs_beside(work):
    """Whether another thread has run before a call ended."""
    released = threading.Event()
    results = []
    caller = threading.Thread(target=lambda: (work(), results.append(released.is_set())))
    other = threading.Thread(target=released.set)
    caller.start()
    other.start()
    caller.join()
    other.join()
    return results == [True]


def test_other_threads_run_during_long_calls(large):
    """With such a switch interval, a thread gets the lock only if another one releases it."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        for work in (large.scan(col("s") == "value number 5x").count, large.verify, large.to_arrow, lambda: large["s"].blocks):
            assert any(_runs_beside(work) for _ in range(20))  # a call may be too short
    finally:
        sys.setswitchinterval(interval)


def test_two_threads_scan_one_object_at_the_same_time(large):
    results = []

    def scan(number):
        rows = large.scan(col("n") == number)
        results.append((number, rows.count(), set(rows.to_arrow().column("n").to_pylist()), large["n"][number],
            large.take([number]).count()))
    threads = [threading.Thread(target=scan, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [(number, 4000, {number}, number, 1) for number in range(4)]


@pytest.mark.parametrize("call", ["count", "to_arrow", "to_polars", "verify", "write", "blocks", "batches"])
def test_keyboard_interrupt(large, tmp, call):
    """The signal arrives before the call, so that its handler runs in the call or never."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores the signal
    condition = (col("s") == "absent") | (col("n") == -5)
    rows = large.scan(condition)
    calls = {"count": rows.count, "to_arrow": rows.to_arrow, "to_polars": rows.to_polars, "verify": large.verify,
             "write": lambda: cfile.write(tmp / "copy", large), "blocks": lambda: large.blocks, "batches": lambda: list(rows.to_batches())}
    finished = []

    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        timer = threading.Timer(0.005, interrupt)
        timer.start()
        while True:  # until the signal arrives; it must arrive in a call
            calls[call]()
            finished.append(call)
            if call == "write":
                shutil.rmtree(tmp / "copy")
    timer.join()
    signal.signal(signal.SIGINT, before)
    if call == "write" and not finished:
        assert os.listdir(tmp) == []
    assert large.scan(col("n") == 3).count() == 4000  # the object is as before


def _damage(path, offset):
    data = bytearray(path.read_bytes())
    data[offset] ^= 0xFF
    path.write_bytes(data)


@pytest.fixture
def damaged(stored, tmp):
    """A table with a damaged block, the path of the damaged file, and the offset of the block."""
    table = stored(pyarrow.table({"n": range(5000), "s": [str(row) for row in range(5000)]}), block_size_bytes=1024,
                   pack_below_bytes=0)
    block = table["n"].blocks[2]
    path = next((tmp / "data").rglob("0000-n.cfile"))
    _damage(path, block["offset"] + block["stored_size_bytes"] // 2)
    return cfile.open(tmp / "data"), str(path), block["offset"]


def test_data_error_says_where(damaged):
    table, path, offset = damaged
    calls = {"to_arrow": table.to_arrow, "to_pandas": table.to_pandas, "to_polars": table.to_polars, "to_numpy": table.to_numpy,
             "to_batches": lambda: list(table.to_batches()), "to_pylist": table.to_pylist,
                 "read_all": lambda: table.to_batches().read_all(),
             "count": table.scan(col("n") != 2500).count, "value": lambda: list(table["n"]),
                 "take": lambda: table.take(range(5000)).to_arrow(),
             "blocks": lambda: table.blocks, "column": table["n"].to_arrow,
             "write": lambda: cfile.write(pathlib.Path(path).parents[2] / "copy", table),
                 "fragments": lambda: [f.to_arrow() for f in cfile.fragments(table._opened.name)]}
    for name, call in calls.items():
        with pytest.raises(cfile.DataError) as raised:
            call()
        assert (raised.value.file, raised.value.offset) == (path, offset), name
        assert str(offset) in str(raised.value) and path in str(raised.value)
        again = pickle.loads(pickle.dumps(raised.value))
        assert (type(again), str(again), again.file, again.offset) == (cfile.DataError, str(raised.value), path, offset)
    assert table["s"].to_arrow().to_pylist()[4999] == "4999"  # the other column is whole
    damages = table.verify()["damages"]
    assert [(damage["file"], damage["offset"]) for damage in damages] == [(path, offset)]
    unchecked = cfile.open(table._opened.name, verify_checksums=False)
    try:
        unchecked["s"].to_arrow()
    except cfile.DataError:
        pass


def test_polars_scans_say_where(damaged):
    table, path, offset = damaged
    with pytest.raises((cfile.DataError, polars.exceptions.PolarsError), match=str(offset)):
        cfile.scan_polars(table._opened.name).collect()


def test_what_is_no_file(tmp):
    (tmp / "text").write_text("This is no file of cfile, although it is long enough to be one.")
    (tmp / "empty").write_bytes(b"")
    (tmp / "folder").mkdir()
    for name, error in [("text", cfile.DataError), ("empty", cfile.DataError), ("folder", cfile.NotFoundError), ("absent",
            cfile.NotFoundError)]:
        with pytest.raises(error, match=name):
            cfile.open(tmp / name)
        with pytest.raises(error, match=name):
            cfile.open(str(tmp / name))
    with pytest.raises(FileNotFoundError):
        cfile.open(tmp / "absent")
    with pytest.raises(TypeError):
        cfile.open(5)


def test_exceptions_have_the_bases_that_programs_catch():
    for error, base in [(cfile.NotFoundError, FileNotFoundError), (cfile.ExistsError, FileExistsError), (cfile.AccessError,
            PermissionError),
                        (cfile.ArgumentError, ValueError), (cfile.SystemFailure, OSError)]:
        assert issubclass(error, base) and issubclass(error, cfile.Error)


def test_files_that_shrink(run):
    """With mmap, this would end the interpreter with SIGBUS."""
    assert len(run("""
        import os, cfile, pyarrow
        cfile.write("f", pyarrow.array(range(200_000)), encoding="plain", compression="none")
        column = cfile.open("f")
        for size in (os.path.getsize("f") // 2, 10, 0):
            os.truncate("f", size)
            for call in (column.to_arrow, column.to_polars, column.verify, lambda: column[199_999]):
                try:
                    call()
                except cfile.Error as error:
                    assert type(error) is cfile.DataError and error.file == "f", error
                    print(error.offset)
    """).split()) >= 6


def test_import_loads_no_other_library(run):
    assert run("""
        import sys, cfile
        print([name for name in ("pyarrow", "pandas", "polars", "numpy", "duckdb", "fsspec") if name in sys.modules])
    """) == "[]\n"


def test_the_package_works_without_other_libraries(run):
    run("""
        import sys
        import pyarrow, cfile
        cfile.write("t", pyarrow.table({"id": [1, 2, 3], "s": ["a", "b", None]}), sorted_by="id")
        batch = pyarrow.record_batch({"id": [4], "s": ["d"]})
        for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
            del sys.modules[name]
        for name in ("pyarrow", "pandas", "polars", "numpy", "duckdb", "fsspec"):
            sys.modules[name] = None
        table = cfile.open("t")
        assert table[1] == {"id": 2, "s": "b"} and table.find(3) == 2 and list(table["s"]) == ["a", "b", None]
        assert table.scan(cfile.col("s") == "a").count() == 1 and table.verify()["damages"] == []
        cfile.write("copy", table)
        cfile.append("copy", table[1:])
        cfile.compact("copy")
        assert len(cfile.open("copy")) == 5 and "5 rows" in repr(cfile.open("copy"))
        for name in ("to_arrow", "to_pandas", "to_polars", "to_numpy", "to_dataset"):
            try:
                getattr(table, name)()
                raise AssertionError(name)
            except ImportError as error:
                assert "pip install" in str(error), error
    """)


def test_an_error_of_the_written_stream_keeps_its_text(tmp):
    class Odd(Exception):
        pass
    with pytest.raises(Exception, match="odd text") as raised:
        cfile.write(tmp / "t", Failing(Odd("odd text")))
    assert isinstance(raised.value, cfile.Error)


def test_errors_of_the_system_have_errno(tmp, run):
    cfile.write(tmp / "t", pyarrow.table({"a": [1]}))
    assert run("""
        import errno, os, resource
        import cfile, pyarrow
        table = cfile.open("t").to_arrow()
        used = len(os.listdir("/proc/self/fd"))
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (used - 1, hard))
        for call in (lambda: cfile.open("t").to_arrow(), lambda: cfile.write("u", table)):
            try:
                call()
            except cfile.Error as error:
                print(isinstance(error, OSError), error.errno == errno.EMFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    """) == "True True\n" * 2
    for number, code in ((errno.ENOSPC, 8), (errno.EIO, 14), (errno.ENOENT, 5)):
        error = cfile.errors.error_of(code, f"write f: {os.strerror(number)}")
        assert isinstance(error, cfile.Error) and isinstance(error, OSError) and error.errno == number
    assert isinstance(cfile.errors.error_of(8, f"no memory: {os.strerror(errno.ENOMEM)}"), MemoryError)


def test_a_wait_for_a_server_can_be_interrupted(tmp):
    released = threading.Event()

    class Waiting(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            timer.start()
            released.wait(60)
        do_GET = do_HEAD

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Waiting) as server:
        timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                cfile.open(f"http://127.0.0.1:{server.server_address[1]}/x")
            assert not released.is_set()
        finally:
            released.set()
            server.shutdown()
            thread.join()


def test_no_interrupt_is_lost(large):
    rows = large.scan(col("s") == "absent")
    for delay in range(8):
        timer = threading.Timer(0.01 + delay / 200, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            while timer.is_alive():
                rows.count()
            for _ in range(20):
                rows.count()
        timer.join()


class NoText(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def test_texts_of_any_bytes(tmp):
    """Paths, keys and exceptions may have bytes and characters that are no UTF-8."""
    path = os.fsdecode(os.fsencode(tmp) + b"/\xff")
    rows = pyarrow.table({"k": pyarrow.array([b"\xff\x00a", b"\xff\xfeb"])})
    cfile.write(path, rows, sorted_by="k")
    table = cfile.open(path)
    assert table._opened.name == path and "Table" in repr(table) and table.to_pylist() == rows.to_pylist()
    for call in (lambda: cfile.write(path, rows), lambda: cfile.append(path, pyarrow.table({"k": [1]})),
                 lambda: cfile.append(path, rows[1:]) or cfile.append(path, pyarrow.table({"k": pyarrow.array([b"\xff\xff", b"\xff"])}))):
        with pytest.raises(cfile.Error) as raised:
            call()
        assert str(raised.value)
    with pytest.raises(cfile.NotFoundError, match=r"\\xfe"):
        cfile.open(path + os.fsdecode(b"\xfe"))
    with pytest.raises(KeyError):
        table["\udcff"]
    with pytest.raises(UnicodeError):
        table.scan(columns=["\udcff"])

    def batches(error):
        yield rows.to_batches()[0]
        raise error
    for error in (NoText(), ValueError("\udcff")):
        with pytest.raises(type(error)) as raised:
            cfile.write(tmp / "t", batches(error))
        assert raised.value is error
