"""Files and tables that are read through objects of Python and fsspec, with few requests."""
import contextlib
import http.server
import io
import os
import pathlib
import shutil
import ssl
import subprocess
import threading
import zipfile

import fsspec
import pyarrow
import pytest

import cfile
from cfile import col, ranges

ROWS = 200_000
TABLE = pyarrow.table({f"c{number}": pyarrow.array(range(number, ROWS + number), "int64") for number in range(5)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table "t" and a file "f" of several blocks."""
    path = tmp_path_factory.mktemp("objects")
    cfile.write(path / "t", TABLE, sorted_by="c0", encoding="plain", compression="none", pack_below_bytes=0)
    cfile.write(path / "f", TABLE.column("c0"), sorted_by=True, encoding="plain", compression="none", block_size_bytes=16384)
    return path


class Ranges:
    """An object with size and read_ranges, which counts its calls and ranges."""

    def __init__(self, path, error=None, cut=0):
        self.data = pathlib.Path(path).read_bytes()
        self.size = len(self.data)
        self.calls = []
        self.error, self.cut = error, cut

    def read_ranges(self, requested):
        self.calls.append(list(requested))
        if self.error is not None and len(self.calls) > 1:
            raise self.error
        cut = self.cut if len(self.calls) > 1 else 0
        return [self.data[offset:offset + size - cut] for offset, size in requested]


def _check_file(column):
    assert isinstance(column, cfile.Column) and len(column) == ROWS
    assert column[5] == 5 and column.find(777) == 777 and column[-1] == ROWS - 1
    assert column.to_arrow() == pyarrow.chunked_array([TABLE.column("c0").combine_chunks()])
    assert column.scan(col("value") >= ROWS - 2).to_pylist() == [ROWS - 2, ROWS - 1]


def _check_table(table, filesystem=None):
    assert isinstance(table, cfile.Table)
    assert table.to_arrow().to_pydict() == TABLE.to_pydict()
    assert table[7] == {f"c{number}": 7 + number for number in range(5)} and table.find(777) == 777
    assert table.scan(col("c1") == 5, columns=["c4"]).to_pylist() == [{"c4": 8}]
    assert table.verify()["damages"] == []
    assert cfile.fragments(table._opened.name, filesystem=filesystem) if "://" in table._opened.name else True


@pytest.mark.parametrize("made", [lambda path: Ranges(path), lambda path: open(path, "rb"), lambda path: open(path, "rb", buffering=0),
                                  lambda path: io.BytesIO(path.read_bytes()), lambda path: fsspec.filesystem("file").open(str(path))])
def test_files_in_objects(folder, made):
    source = made(folder / "f")
    _check_file(cfile.open(source))
    assert cfile.open(source).verify()["damages"] == []
    if hasattr(source, "close"):
        source.close()


def test_an_object_gets_few_merged_requests(folder):
    source = Ranges(folder / "f")
    column = cfile.open(source)
    assert len(source.calls) <= 2, source.calls
    source.calls.clear()
    assert column[ROWS // 2] == ROWS // 2
    assert len(source.calls) <= 3, source.calls
    source.calls.clear()
    column.to_arrow()
    assert len(source.calls) <= 6, source.calls
    assert sum(size for call in source.calls for _, size in call) <= 1.2 * source.size  # no byte is read twice, but for some gaps
    source.calls.clear()
    column.take([0, ROWS // 2, ROWS - 1]).to_arrow()
    assert len(source.calls) <= 3, source.calls


def test_merged_ranges():
    gap = ranges.MOST_GAP_BYTES
    assert ranges.merged([]) == []
    assert ranges.merged([(10, 5), (0, 10), (15, 0)]) == [(0, 15)]
    assert ranges.merged([(0, 10), (10 + gap, 1), (12 + 2 * gap, 1)]) == [(0, 11 + gap), (12 + 2 * gap, 1)]
    assert ranges.merged([(0, 100), (10, 5)]) == [(0, 100)]
    data = bytes(range(256)) * 1000
    file = ranges.RangedFile("x", len(data), lambda wanted: [data[offset:offset + size] for offset, size in wanted])
    wanted = [(200_000, 10), (0, 7), (3, 10), (5, 0), (100_000, 3)]
    assert [bytes(piece) for piece in file.read_ranges(wanted)] == [data[offset:offset + size] for offset, size in wanted]


class Odd(Exception):
    pass


@pytest.mark.parametrize("error", [Odd("odd text"), OSError(5, "odd text"), ValueError("odd text"), PermissionError("odd text"),
                                   FileNotFoundError("odd text"), KeyboardInterrupt("odd text"), MemoryError("odd text"), Odd()])
def test_errors_of_the_object_come_through(folder, error, tmp):
    def fails(call):
        source = Ranges(folder / "f")
        column = cfile.open(source)
        source.calls, source.error = [()], error
        with pytest.raises(type(error)) as raised:
            call(column)
        assert raised.value is error
    fails(lambda column: column.to_arrow())
    fails(lambda column: column.to_polars())
    fails(lambda column: column.to_pandas())
    fails(lambda column: column.to_numpy())
    fails(lambda column: column[5])
    fails(lambda column: column.find(5))
    fails(lambda column: column.take([5]).to_arrow())
    fails(lambda column: column.scan(col("value") != 7).count())
    fails(lambda column: column.blocks)
    fails(lambda column: column.verify())
    fails(lambda column: cfile.write(tmp / "copy", column))
    assert not (tmp / "copy").exists()


def test_errors_while_opening_come_through(folder):
    class Failing(Ranges):
        def read_ranges(self, requested):
            raise Odd("at once")
    with pytest.raises(Odd, match="at once"):
        cfile.open(Failing(folder / "f"))


def test_short_reads_are_errors(folder):
    source = Ranges(folder / "f")
    column = cfile.open(source)
    source.cut = 1
    with pytest.raises(cfile.Error, match="expected .* bytes, got"):
        column.to_arrow()

    class Fewer(Ranges):
        def read_ranges(self, requested):
            return super().read_ranges(requested)[1:]
    with pytest.raises(cfile.Error, match="ranges"):
        cfile.open(Fewer(folder / "f"))

    class NoBytes(Ranges):
        def read_ranges(self, requested):
            return [None for _ in requested]
    with pytest.raises(TypeError):
        cfile.open(NoBytes(folder / "f"))


def test_a_stream_that_ends_early_is_an_error(folder):
    class Short(io.BytesIO):
        def read(self, size=-1):
            return super().read(size)[:0] if self.tell() > 100_000 and self.shrunk else super().read(size)
    source = Short((folder / "f").read_bytes())
    source.shrunk = False
    column = cfile.open(source)
    source.shrunk = True
    with pytest.raises(cfile.Error, match="expected .* bytes, got 0"):
        column.to_arrow()


def test_pieces_of_a_stream_are_put_together(folder):
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 1000))
    _check_file(cfile.open(Slow((folder / "f").read_bytes())))


def test_threads_read_one_stream(folder):
    with open(folder / "f", "rb") as file:
        column = cfile.open(file)
        results = []
        threads = [threading.Thread(target=lambda: results.append(column.to_arrow().to_pylist()[-1])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [ROWS - 1] * 4


@pytest.fixture
def memory(folder):
    filesystem = fsspec.filesystem("memory")
    filesystem.put(str(folder), "/cf", recursive=True)
    yield filesystem
    filesystem.rm("/cf", recursive=True)


def test_memory(memory):
    _check_file(cfile.open("memory://cf/f"))
    _check_table(cfile.open("memory://cf/t"))
    _check_table(cfile.open("memory://cf/t/"))
    _check_table(cfile.open("/cf/t", filesystem=memory))
    assert cfile.scan_polars("/cf/t", filesystem=memory).head(3).collect()["c4"].to_list() == [4, 5, 6]
    assert sum(piece.to_arrow().num_rows for piece in cfile.fragments("/cf/t", 3, filesystem=memory)) == ROWS
    with pytest.raises(FileNotFoundError):
        cfile.open("memory://cf/absent")


def test_zip(folder, tmp):
    with zipfile.ZipFile(tmp / "a.zip", "w") as archive:
        for path in folder.rglob("*"):
            archive.write(path, path.relative_to(folder))
    _check_file(cfile.open(f"zip://f::{tmp}/a.zip"))
    _check_table(cfile.open(f"zip://t::{tmp}/a.zip"))


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves files, with ranges."""
    protocol_version = "HTTP/1.1"

    def _found(self):
        path = self.server.folder / self.path.lstrip("/")
        self.server.requests.append((self.command, self.path, self.headers.get("Range")))
        if path.is_file():
            return path.read_bytes()
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()
        return None

    def do_HEAD(self):
        data = self._found()
        if data is not None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Accept-Ranges", "bytes")
            self.end_headers()

    def do_GET(self):
        data = self._found()
        if data is None:
            return
        wanted = self.headers.get("Range")
        if wanted is None:
            self.send_response(200)
        else:
            begin, end = (int(number) for number in wanted.removeprefix("bytes=").split("-"))
            self.send_response(206)
            end = min(end, len(data) - 1)
            self.send_header("Content-Range", f"bytes {begin}-{end}/{len(data)}")
            data = data[begin:end + 1]
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def certificate(tmp, monkeypatch):
    """A key and a certificate for 127.0.0.1, which clients trust."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl to make a certificate")
    path = tmp / "certificate.pem"
    subprocess.run([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", path, "-out", tmp / "public.pem"], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + (tmp / "public.pem").read_bytes())
    monkeypatch.setitem(fsspec.config.conf, "https", {"ssl": ssl.create_default_context(cafile=tmp / "public.pem")})
    return path


@pytest.fixture
def server(folder):
    with _serving(folder) as served:
        yield served


@contextlib.contextmanager
def _serving(folder, certificate=None, handler=Handler):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            served.socket = context.wrap_socket(served.socket, server_side=True)
        served.folder, served.requests, served.daemon_threads = folder, [], True
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        try:
            yield served
        finally:  # the thread would keep pytest alive
            served.shutdown()
            thread.join()
    fsspec.get_filesystem_class("http").clear_instance_cache()


def test_http_file(server):
    url = f"http://127.0.0.1:{server.server_address[1]}/f"
    column = cfile.open(url, filesystem=fsspec.filesystem("http"))
    assert len(server.requests) <= 5, server.requests
    server.requests.clear()
    assert column.to_arrow().to_pylist()[-1] == ROWS - 1
    assert 1 <= len(server.requests) <= 6, server.requests
    assert all(wanted for _, _, wanted in server.requests)
    _check_file(column)


def test_http_table_one_column(server):
    url = f"http://127.0.0.1:{server.server_address[1]}/t"
    table = cfile.open(url, filesystem=fsspec.filesystem("http"))
    opening = list(server.requests)
    assert len(opening) <= 8, opening
    server.requests.clear()
    assert table.scan(columns=["c3"]).to_arrow().column("c3").to_pylist()[0] == 3
    assert len(server.requests) <= 8, server.requests
    assert not any(path.endswith(f"c{number}.cfile") for _, path, _ in server.requests for number in (0, 1, 2, 4))
    with pytest.raises(FileNotFoundError):
        cfile.open(url + "absent", filesystem=fsspec.filesystem("http"))


def test_https(folder, certificate):
    with _serving(folder, certificate) as server:
        url = f"https://127.0.0.1:{server.server_address[1]}"
        files = fsspec.filesystem("https")
        _check_file(cfile.open(f"{url}/f", filesystem=files))
        server.requests.clear()
        _check_table(cfile.open(f"{url}/t", filesystem=files), files)
        assert any(wanted for _, _, wanted in server.requests), server.requests


class WholeSeconds(fsspec.get_filesystem_class("file")):
    """Has times in whole seconds, as SFTP and FTP do."""

    def info(self, path, **options):
        found = super().info(path, **options)
        return {**found, "mtime": int(found["mtime"])}


class WithETag(fsspec.get_filesystem_class("file")):
    """Answers from a listing that is older than the file, as file systems of fsspec do that keep listings."""

    def info(self, path, **options):
        return {**super().info(path, **options), "ETag": "as it was listed"}


@pytest.mark.parametrize("kind", [fsspec.get_filesystem_class("file"), WholeSeconds, WithETag])
@pytest.mark.parametrize("what", ["file", "table"])
def test_a_replaced_file_is_not_mixed_with_the_old_one(tmp, kind, what):
    files = kind()
    for version in range(10):
        values = pyarrow.array(row * 7919 % 1_000_003 + version * 10**9 for row in range(60_000))
        cfile.write(tmp / "x", values if what == "file" else pyarrow.table({"value": values}), encoding="plain", compression="none",
                    overwrite=version > 0)
        opened = cfile.open(tmp / "x", filesystem=files)
        column = opened if what == "file" else opened["value"]
        assert {value // 10**9 for value in (column[0], column[30_000], column[-1])} == {version}


def test_file_systems_do_not_share_files(tmp):
    for number, name in enumerate("AB"):
        (tmp / name).mkdir()
        cfile.write(tmp / name / "x", pyarrow.array(range(number * 10**6, number * 10**6 + 60_000)), encoding="plain", compression="none")
        os.utime(tmp / name / "x", (1.7e9, 1.7e9))
    found = []
    for name in "AB":
        files = fsspec.filesystem("dir", path=str(tmp / name), fs=fsspec.filesystem("file"))
        found.append(cfile.open("x", filesystem=files)[30_000])
    assert found == [30_000, 1_030_000]


def test_what_cannot_be_opened(tmp):
    with pytest.raises(TypeError, match="expected a path"):
        cfile.open(object())
    with pytest.raises(TypeError):
        cfile.open(7)
    with pytest.raises(ValueError):
        cfile.open("strange-protocol://x")
    cfile.write(tmp / "f", pyarrow.array([1]))
    assert cfile.open(str(tmp / "f"))[0] == 1


def test_writing_through_fsspec(tmp, memory):
    rows = pyarrow.table({"a": [1, 2]})
    cfile.write("memory://new/t", rows, sorted_by="a")
    assert cfile.open("memory://new/t").to_pylist() == rows.to_pylist() and cfile.open("memory://new/t").find(2) == 1
    cfile.write("memory://new/f.cfile", pyarrow.array([1, 2]))
    cfile.write("memory://new/f.cfile", pyarrow.array([3]), overwrite=True)
    assert cfile.open("memory://new/f.cfile").to_pylist() == [3]
    fsspec.filesystem("memory").pipe_file("/new/other", b"something else")
    for url, error, options in (("f.cfile", cfile.ExistsError, {}), ("t", cfile.ExistsError, {}), ("t", cfile.ArgumentError, {"overwrite": True}),
                                ("other", cfile.ArgumentError, {"overwrite": True})):
        with pytest.raises(error, match=url):
            cfile.write(f"memory://new/{url}", rows, **options)
    assert fsspec.filesystem("memory").cat_file("/new/other") == b"something else"


class Pages(Handler):
    """Answers 200 and a page to each path that does not exist. Knows no ranges."""

    def do_GET(self):
        path = self.server.folder / self.path.lstrip("/")
        data = path.read_bytes() if path.is_file() else b"<html>This page does not exist.</html>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)
    do_HEAD = do_GET


@pytest.mark.skipif(not cfile._native.has_http(), reason="this build has no HTTP")
def test_a_server_that_answers_each_path_with_a_page(folder, tmp):
    cfile.write(tmp / "small", pyarrow.array([1, 2]))
    shutil.copy(folder / "f", tmp / "large")
    with _serving(tmp, handler=Pages) as served:
        url = f"http://127.0.0.1:{served.server_address[1]}"
        assert cfile.open(url + "/small").to_pylist() == [1, 2]
        with pytest.raises(cfile.ArgumentError, match="does not answer requests for ranges"):
            cfile.open(url + "/large")
        with pytest.raises(cfile.Error):
            cfile.open(url + "/absent")
