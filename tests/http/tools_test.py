"""The tools with URLs: with_servers.py tools_test.py CFILE_IMPORT CFILE_DUMP CFILE_TABLE."""

import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.request

IMPORT, DUMP, TABLE = "", "", ""  # paths of the binaries
GOLDEN = pathlib.Path(__file__).parents[1] / "golden/parquet-files"
CSV = b"name,age\n" + b"".join(b"name %d,%d\n" % (i, i % 90) for i in range(20000))
numbers = itertools.count()


def server(name):
    return os.environ["CFILE_TEST_SERVER_" + name]


def requests_at(name):
    with urllib.request.urlopen(server(name) + "/-/count") as answer:
        return int(answer.read())


def keys_below(prefix):
    """The keys of the objects in the bucket that begin with `prefix`."""
    with urllib.request.urlopen(f"{server('S3')}/bucket?list-type=2&prefix={prefix}") as answer:
        return [text.split("</Key>")[0] for text in answer.read().decode().split("<Key>")[1:]]


class ToolsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.prefix = f"tools/{next(numbers)}"
        self.url = f"s3://bucket/{self.prefix}"

    def run_tool(self, *arguments, at="S3", **variables):
        return subprocess.run(arguments, cwd=self.folder, capture_output=True, timeout=300,
                              env={**os.environ, "AWS_ENDPOINT_URL": server(at), **variables})

    def output(self, *arguments, **options):
        done = self.run_tool(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return done.stdout.decode()

    def error(self, *arguments, **options):
        done = self.run_tool(*arguments, **options)
        self.assertIn(done.returncode, (1, 2, 3), done.stderr)
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()

    def summary(self, *arguments, **options):
        return json.loads(self.output(IMPORT, *arguments, "--json", **options))

    def put(self, name, content):
        """Puts an object into the bucket. Returns its http:// URL at the server of that name."""
        urllib.request.urlopen(urllib.request.Request(f"{server('S3')}/bucket/{self.prefix}/{name}", content,
                                                      {"x-amz-acl": "public-read", "Content-Type": "text/plain"}, method="PUT")).close()
        return f"{server('PROXY')}/bucket/{self.prefix}/{name}"

    def test_text_from_a_url_becomes_a_table_on_s3(self):
        web = self.put("in.csv", CSV)
        (self.folder / "in.csv").write_bytes(CSV)
        self.summary("in.csv", "local")
        summary = self.summary(web, self.url + "/table")
        self.assertEqual((summary["format"], summary["rows"], summary["bytes_in"]), ("CSV", 20000, len(CSV)))
        self.assertGreater(summary["table_bytes"], 0)
        self.assertEqual(self.output(DUMP, "rows", self.url + "/table"), self.output(DUMP, "rows", "local"))
        # The same text from s3://, added to the table.
        self.summary(self.url + "/in.csv", self.url + "/table", "--append")
        self.assertEqual(self.output(DUMP, "rows", self.url + "/table").count("\n"), 2 * 20000 + 1)
        self.assertIn("valid", self.output(DUMP, "verify", self.url + "/table"))
        # A sorted import keeps its temporary files in a local directory.
        (self.folder / "temporary").mkdir()
        self.summary(web, self.url + "/sorted", "--sorted-by", "age", TMPDIR=str(self.folder / "temporary"))
        ages = [line.split("\t")[-1] for line in self.output(DUMP, "rows", self.url + "/sorted").splitlines()[1:]]
        self.assertEqual(ages, sorted(ages, key=int))
        self.assertEqual(list((self.folder / "temporary").iterdir()), [])
        self.assertIn("exists already", self.error(IMPORT, web, self.url + "/table"))

    def test_parquet_from_a_url(self):
        content = (GOLDEN / "pyarrow_old_types.parquet").read_bytes()
        (self.folder / "in.parquet").write_bytes(content)
        self.summary("in.parquet", "local")
        summary = self.summary(self.put("in.parquet", content), self.url + "/table")
        self.assertEqual((summary["format"], summary["rows"]), ("Parquet", 24))
        self.assertEqual(self.output(DUMP, "rows", self.url + "/table"), self.output(DUMP, "rows", "local"))

    def test_export_to_a_url(self):
        self.summary(self.put("in.csv", CSV), self.url + "/table")
        for name in ("out.csv", "out.parquet"):
            self.output(DUMP, "rows", self.url + "/table", "-o", f"{self.url}/{name}")
            self.summary(f"{self.url}/{name}", name + ".table")
            self.assertEqual(self.output(DUMP, "rows", name + ".table"), self.output(DUMP, "rows", self.url + "/table"))
        # An export that fails leaves nothing.
        self.assertIn("503 SlowDown", self.error(DUMP, "rows", "out.csv.table", "-o", f"{self.url}/none.csv", at="ALWAYS_UNAVAILABLE"))
        self.assertEqual(keys_below(self.prefix + "/none"), [])
        web = f"{server('PROXY')}/bucket/{self.prefix}/none.csv"
        self.assertIn("only to s3:// URLs", self.error(DUMP, "rows", "out.csv.table", "-o", web))

    def test_a_directory_at_a_url_is_refused(self):
        self.put("files/in.parquet", (GOLDEN / "pyarrow_old_types.parquet").read_bytes())
        self.assertIn("directories of Parquet files must be local", self.error(IMPORT, self.url + "/files", "table"))

    def test_https(self):
        if "CFILE_TEST_SERVER_HTTPS" not in os.environ:
            self.skipTest("nginx or openssl is not installed")
        web = pathlib.Path(os.environ["CFILE_TEST_WEB_FOLDER"])
        (web / "in.csv").write_bytes(CSV)
        (web / "in.parquet").write_bytes((GOLDEN / "pyarrow_old_types.parquet").read_bytes())
        authority = os.environ["CFILE_TEST_AUTHORITY"]
        for name, rows in (("in.csv", 20000), ("in.parquet", 24)):
            place = f"{server('HTTPS')}/{name}"
            self.assertEqual(self.summary(place, name + ".table", SSL_CERT_FILE=authority)["rows"], rows)
            self.assertIn("certificate", self.error(IMPORT, place, "other"))

    def test_an_import_that_fails_leaves_nothing(self):
        web = self.put("in.csv", CSV + b"a line,with,three fields\n")
        self.assertIn("expected 2 fields", self.error(IMPORT, web, self.url + "/table"))
        self.assertEqual(keys_below(self.prefix + "/table"), [])
        # The server refuses everything.
        self.assertIn("503 SlowDown", self.error(IMPORT, web, self.url + "/table", at="ALWAYS_UNAVAILABLE"))
        self.assertEqual(keys_below(self.prefix + "/table"), [])
        # The server takes the files, but not the list of parts.
        self.assertIn("ignores the condition", self.error(IMPORT, self.put("good.csv", CSV), self.url + "/table", at="NO_CONDITIONS"))
        self.assertEqual(keys_below(self.prefix + "/table"), [])

    def test_errors_name_the_url_without_secrets(self):
        for place in (f"{server('S3')}/bucket/none?token=hidden", server("S3").replace("://", "://user:hidden@") + "/bucket/none"):
            message = self.error(IMPORT, place, "table")
            self.assertIn("/bucket/none: the server answered 40", message)
            self.assertNotIn("hidden", message)
        message = self.error(IMPORT, self.url + "/none", "table", AWS_SECRET_ACCESS_KEY="hidden-secret")
        self.assertIn(self.url + "/none", message)
        self.assertNotIn("hidden", message)
        self.assertFalse((self.folder / "table").exists())

    def test_help_says_how_urls_are_reached(self):
        texts = {" ".join(self.output(tool, "--help").partition("URLs:\n")[2].partition("\n\n")[0].split()) for tool in (IMPORT, DUMP, TABLE)}
        self.assertEqual(len(texts), 1, texts)
        for word in ("s3://BUCKET/KEY", "https://", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
            self.assertIn(word, next(iter(texts)))

    def test_a_bucket_is_no_file(self):
        self.assertIn("s3://bucket: expected the URL of an object, s3://BUCKET/KEY", self.error(IMPORT, "s3://bucket", "table"))

    def test_the_cache_makes_its_directory(self):
        # The ends of a file come with the request that opens it; the cache has what lies between them.
        large = b"name,age\n" + b"".join(b"name %d,%d\n" % (i * 7919 % 1000003, i % 90) for i in range(300000))
        self.summary(self.put("large.csv", large), self.url + "/table")
        self.output(DUMP, "--cache", "new/cache", self.url + "/table")
        self.assertEqual((self.folder / "new/cache").stat().st_mode & 0o777, 0o700)

    def test_a_table_is_recognised_with_one_request(self):
        self.summary(self.put("in.csv", CSV), self.url + "/table")
        before = requests_at("PROXY")
        self.output(TABLE, "parts", self.url + "/table", at="PROXY")
        self.assertEqual(requests_at("PROXY") - before, 1)
        before = requests_at("PROXY")
        self.output(DUMP, self.url + "/table", at="PROXY")
        self.assertLessEqual(requests_at("PROXY") - before, 2 + 2 * 2)  # whether it is a table, table.cft, two files


if __name__ == "__main__":
    IMPORT, DUMP, TABLE = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
