"""Tables in an object store: moto's server of S3, on loopback."""
import logging
import urllib.request

import pytest
from moto.server import ThreadedMotoServer

import cfile


@pytest.fixture(scope="module")
def storage():
    """Options for a server with the bucket "bucket"."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    urllib.request.urlopen(urllib.request.Request(endpoint + "/bucket", method="PUT")).close()
    yield {"endpoint": endpoint, "region": "us-east-1"}
    server.stop()


def test_append_read_and_overwrite(spark, read, save, storage):
    url = "s3://bucket/tables/numbers"
    save(spark.range(1000).repartition(3), url, sorted_by="id", **storage)
    save(spark.range(1000, 1500), url, **storage)
    table = read(url, partition_size_bytes=100, **storage)
    assert sorted(row.id for row in table.collect()) == list(range(1500))
    assert read(url, where="id >= 1499", **storage).count() == 1
    assert len(cfile.open(url, storage_options=storage)) == 1500
    save(spark.range(5), url, "overwrite", **storage)
    assert read(url, **storage).count() == 5


def test_stream(spark, save, storage, tmp_path):
    url = "s3://bucket/tables/stream"
    save(spark.range(10), url, **storage)
    for expected in (10, 15):
        query = (spark.readStream.format("cfile").options(**storage).load(url)
                 .writeStream.format("memory").queryName("rows").option("checkpointLocation", str(tmp_path / f"checkpoint{expected}"))
                 .trigger(availableNow=True).start())
        query.awaitTermination()
        assert spark.table("rows").count() == expected
        save(spark.range(10, 15), url, **storage)


def test_wrong_option(read, storage):
    with pytest.raises(Exception, match="there is no option 'endpont'"):
        read("s3://bucket/tables/numbers", endpont=storage["endpoint"]).collect()
