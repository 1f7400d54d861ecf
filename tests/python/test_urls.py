"""Files and tables at s3:// and http:// URLs, on moto's server of S3 on loopback."""
import logging
import pathlib
import pickle
import re
import urllib.request

import polars
import pyarrow
import pyarrow.parquet
import pytest

import cfile
from cfile import _native, col

pytestmark = pytest.mark.skipif(not _native.has_http(), reason="the module was built without CFILE_WITH_HTTP")

ROWS = 100_000
TABLE = pyarrow.table({"id": range(ROWS), "name": [f"name {number % 977}" for number in range(ROWS)]})
SECRET = "not-to-be-shown"


@pytest.fixture(scope="module")
def endpoint():
    """The URL of a server of S3."""
    server = pytest.importorskip("moto.server", reason="moto is not installed")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    yield "http://{}:{}".format(*moto.get_host_and_port())
    moto.stop()


@pytest.fixture
def options(endpoint, monkeypatch, tmp):
    """Storage options for the server. Makes the bucket "bucket"."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("HOME", str(tmp))
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    urllib.request.urlopen(urllib.request.Request(endpoint + "/bucket", method="PUT")).close()
    return {"endpoint": endpoint, "region": "us-east-1"}


def put(web, content):
    """Puts an object that everybody may read."""
    headers = {"x-amz-acl": "public-read", "Content-Type": "text/plain"}
    urllib.request.urlopen(urllib.request.Request(web, content, headers, method="PUT")).close()


@pytest.fixture
def url(tmp):
    """A URL that no other test uses."""
    return f"s3://bucket/{tmp.name}/table"


def test_tables(url, options):
    cfile.write(url, TABLE, sorted_by="id", storage_options=options)
    table = cfile.open(url, storage_options=options)
    assert isinstance(table, cfile.Table)
    assert table.to_arrow().to_pydict() == TABLE.to_pydict()
    assert table[table.find(777)] == {"id": 777, "name": "name 777"}
    assert table.take([ROWS - 1, 3]).to_pylist() == [{"id": ROWS - 1, "name": TABLE["name"][ROWS - 1].as_py()},
                                                     {"id": 3, "name": "name 3"}]
    assert table.scan(col("id") >= ROWS - 2, columns=["id"]).to_pylist() == [{"id": ROWS - 2}, {"id": ROWS - 1}]
    assert table.verify()["damages"] == []
    with pytest.raises(cfile.ExistsError, match="something is there"):
        cfile.write(url, TABLE, storage_options=options)
    with pytest.raises(cfile.ArgumentError, match="a table at a URL cannot be replaced"):
        cfile.write(url, TABLE, storage_options=options, overwrite=True)


def test_the_environment_names_the_server(url, options, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", options["endpoint"])
    cfile.write(url, TABLE[:3])
    assert len(cfile.open(url)) == 3


def test_changes(url, options):
    cfile.write(url, TABLE[:10], sorted_by="id", storage_options=options)
    cfile.append(url, TABLE[10:20], storage_options=options)
    opened = cfile.open(url, storage_options=options)
    assert len(opened.parts) == 2 and len(opened) == 20
    assert cfile.compact(url, storage_options=options)["rows"] == 20
    cfile.add_column(url, "more", "int32", default=5, storage_options=options)
    cfile.add_columns(url, pyarrow.table({"twice": pyarrow.array(range(0, 40, 2), "int64")}), storage_options=options)
    cfile.replace_columns(url, pyarrow.table({"twice": pyarrow.array(range(20), "int64")}), storage_options=options)
    cfile.rename_column(url, "twice", "once", storage_options=options)
    cfile.reorder_columns(url, ["once", "more", "name", "id"], storage_options=options)
    cfile.widen_column(url, "more", "int64", storage_options=options)
    cfile.drop_columns(url, "name", storage_options=options)
    assert cfile.open(url, storage_options=options)[7] == {"once": 7, "more": 5, "id": 7}
    cfile.drop_parts(url, [part["name"] for part in cfile.open(url, storage_options=options).parts], storage_options=options)
    assert len(cfile.open(url, storage_options=options)) == 0
    assert cfile.collect_garbage(url, 0, storage_options=options)
    # A part without rows keeps the order of the table.
    assert [part["state"] for part in cfile.repair(url, dry_run=True, storage_options=options)] == ["kept"]


def test_files(url, options):
    cfile.write(url, TABLE["id"], sorted_by=True, storage_options=options)
    column = cfile.open(url, storage_options=options)
    assert isinstance(column, cfile.Column) and column.find(5) == 5
    with pytest.raises(cfile.ExistsError):
        cfile.write(url, TABLE["id"], storage_options=options)
    cfile.write(url, TABLE["id"][:3], storage_options=options, overwrite=True)
    assert cfile.open(url, storage_options=options).to_pylist() == [0, 1, 2]


def test_web_servers(endpoint, options, tmp):
    cfile.write(tmp / "file", TABLE["id"], sorted_by=True)
    web = endpoint + "/bucket/web"
    put(web, (tmp / "file").read_bytes())
    assert cfile.open(web).find(5) == 5
    assert cfile.open(web + "?versionId=null").find(6) == 6
    cfile.write(tmp / "table", TABLE)
    for path in (tmp / "table").rglob("*.*"):
        put(f"{web}-table/{path.relative_to(tmp / 'table')}", path.read_bytes())
    assert cfile.open(web + "-table").to_arrow().to_pydict() == TABLE.to_pydict()
    with pytest.raises(cfile.Error, match="can only be read|cannot be listed"):
        cfile.append(web + "-table", TABLE)


def test_rows_that_are_sorted_on_disk(url, options):
    cfile.write(url, TABLE[::-1], sorted_by=["name", "id"], memory_limit_bytes=1 << 20, storage_options=options)
    assert cfile.open(url, storage_options=options)[0] == {"id": 0, "name": "name 0"}


def test_scan_polars(url, options):
    cfile.write(url, TABLE, sorted_by="id", storage_options=options)
    lazy = cfile.scan_polars(url, storage_options=options)
    assert lazy.filter(polars.col("id") > ROWS - 3).select("id").collect().to_dicts() == [{"id": ROWS - 2}, {"id": ROWS - 1}]


def test_fragments_have_no_secret(url, options):
    cfile.write(url, TABLE, storage_options=options)
    pieces = cfile.fragments(url, 4, storage_options=options)
    pickled = pickle.dumps(pieces)
    assert SECRET.encode() not in pickled
    assert sum(piece.to_arrow().num_rows for piece in pickle.loads(pickled)) == ROWS


def test_parquet(url, options, tmp, endpoint):
    pyarrow.parquet.write_table(TABLE[::-1], tmp / "in.parquet")
    assert cfile.from_parquet(tmp / "in.parquet", url, storage_options=options)["rows"] == ROWS
    cfile.to_parquet(url, url + ".parquet", storage_options=options)
    report = cfile.from_parquet(url + ".parquet", url + "-sorted", sorted_by="id", storage_options=options)
    assert report["rows"] == ROWS and report["bytes_out"] > 0
    assert cfile.open(url + "-sorted", storage_options=options).find(9) == 9
    put(endpoint + "/bucket/in.parquet", (tmp / "in.parquet").read_bytes())
    cfile.from_parquet(endpoint + "/bucket/in.parquet", tmp / "local", columns=["id"])
    assert cfile.open(tmp / "local").columns == ["id"]
    cfile.to_parquet(tmp / "local", url + "-local.parquet", storage_options=options)
    assert cfile.from_parquet(url + "-local.parquet", tmp / "again", storage_options=options)["rows"] == ROWS


def test_cache(url, options, tmp):
    cfile.write(url, TABLE, sorted_by="id", encoding={"id": "plain"}, compression="none", storage_options=options)
    folder = tmp / "cache"
    for _ in range(2):
        assert cfile.open(url, storage_options={**options, "cache": str(folder)}).to_arrow().num_rows == ROWS
    assert any(path.is_file() for path in folder.rglob("*"))


def test_errors(url, options, endpoint, tmp):
    with pytest.raises(cfile.NotFoundError, match=url):
        cfile.open(url, storage_options=options)
    with pytest.raises(cfile.Error) as error:
        cfile.open(endpoint.replace("://", "://user:hidden@") + "/bucket/none?token=hidden")
    assert "hidden" not in str(error.value)
    with pytest.raises(cfile.ArgumentError, match="no option aws_secret_access_key; there are endpoint, region, "):
        cfile.open(url, storage_options={**options, "aws_secret_access_key": "x"})
    with pytest.raises(TypeError, match="anonymous"):
        cfile.open(url, storage_options={**options, "anonymous": "yes"})
    with pytest.raises(cfile.ArgumentError, match="storage_options are for"):
        cfile.open(tmp, storage_options=options)
    with pytest.raises(cfile.Error, match="files can be written only to s3://"):
        cfile.write(endpoint + "/bucket/new", TABLE["id"])
    # A write that fails leaves nothing.
    with pytest.raises(Exception, match="division"):
        cfile.write(url, pyarrow.RecordBatchReader.from_batches(TABLE.schema, (1 / 0 for _ in range(1))), storage_options=options)
    with pytest.raises(cfile.NotFoundError):
        cfile.open(url, storage_options=options)


def test_the_block_of_the_readme(options, tmp):
    text = (pathlib.Path(__file__).parents[2] / "tools/python/README.md").read_text(encoding="utf-8")
    block, = re.findall(r"^```py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    block = block.replace("https://storage.example.org", options["endpoint"]).replace("/var/cache/flights", str(tmp / "cache"))
    names = {"cfile": cfile, "flights": pyarrow.table({"flight": [2, 1]}), "more": pyarrow.table({"flight": [3]})}
    exec(block, names)
    assert names["lazy"].collect()["flight"].to_list() == [1, 2, 3]
