"""Runs cfile-dump report as its users do: report_test.py CFILE_DUMP CFILE_IMPORT. tests/campaign/report shows the pages in a browser."""

import base64
import collections
import hashlib
import html.parser
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

import tool_runner

DUMP, IMPORT = "", ""  # paths of the binaries
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
# Text that would run a script, leave a script, or change a terminal, if it was not escaped.
HOSTILE = "</script><img src=x onerror=alert(1)><!--<script>&lt;\"'\x1b]0;owned\x07\u2028\u202e"


def crc32c(content):
    crc = 0xffffffff
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class Page(html.parser.HTMLParser):
    """The elements of a page, and the texts of its scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.open = [], collections.defaultdict(list), []
        self.feed(text)
        self.close()
        self.script_data = {attributes.get("type"): content for (_, attributes), content in zip(
            [element for element in self.elements if element[0] == "script"], self.texts["script"], strict=True)}
        self.data = json.loads(self.script_data["application/json"])

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag in ("script", "style", "title", "h1"):
            self.texts[tag].append("")

    def handle_endtag(self, tag):
        while self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open and self.open[-1] in self.texts:
            self.texts[self.open[-1]][-1] += data


class ReportTest(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments):
        return tool_runner.run(*arguments, cwd=self.folder)

    def succeed(self, *arguments):
        done = self.run_tool(*arguments)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), arguments)
        return done.stdout.decode()

    def json(self, *arguments):
        return json.loads(self.run_tool(DUMP, *arguments, "--json").stdout)

    def report(self, *arguments, exit_code=0, sample_bytes=None):
        """Returns the page. Its file is removed again. `sample_bytes`: with trials of other encodings."""
        trials = [] if sample_bytes is None else ["--whatif", "--sample-bytes", sample_bytes]
        done = self.run_tool(DUMP, "report", *arguments, "--html", "out.html", *trials)
        self.assertEqual((done.returncode, done.stderr.decode()), (exit_code, ""), arguments)
        path = self.folder / "out.html"
        page = Page(path.read_text(encoding="utf-8"))
        findings = len(page.data["findings"])
        noun = "no findings" if findings == 0 else f"{findings} finding{'s' if findings > 1 else ''}"
        self.assertEqual(done.stdout.decode(), f"out.html: {noun}\n")
        path.unlink()
        return page

    def make_table(self, rows=20_000, *options, columns=("n", "word"), pack_below="0"):
        lines = [",".join('"%s"' % name.replace('"', '""') for name in columns)]
        lines += [f"{i},{'' if i % 7 == 0 else f'word {i % 50}'}" for i in range(rows)]
        (self.folder / "t.csv").write_text("\n".join(lines) + "\n")
        shutil.rmtree(self.folder / "t", ignore_errors=True)
        self.succeed(IMPORT, "--quiet", "t.csv", "t", "--pack-below", pack_below, *options)

    def file_of(self, column):
        return next(self.folder.glob(f"t/part-*/*-{column}.cfile"))

    def damage(self, column, offset):
        path = self.file_of(column)
        content = bytearray(path.read_bytes())
        content[offset] ^= 1
        path.write_bytes(content)


class Safety(ReportTest):
    def test_policy_allows_only_the_script_and_the_style_of_the_page(self):
        self.make_table()
        page = self.report("t")
        elements = collections.Counter(tag for tag, _ in page.elements)
        self.assertEqual((elements["script"], elements["style"]), (2, 1))
        self.assertEqual(elements["img"] + elements["link"] + elements["iframe"] + elements["object"] + elements["svg"], 0)

        def source(text):
            return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        policies = [attributes["content"] for tag, attributes in page.elements if attributes.get("http-equiv") == "Content-Security-Policy"]
        self.assertEqual(policies, [f"default-src 'none'; script-src {source(page.script_data[None])}; "
                                    f"style-src {source(page.texts['style'][0])}; base-uri 'none'; form-action 'none'"])

    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_sizes_are_rounded_before_the_unit_is_chosen(self):
        script = (pathlib.Path(__file__).resolve().parents[2] / "tools/report/page.js").read_text(encoding="utf-8")
        functions = re.search(r"(?s)\nconst number = .*?\n\n(?=// Makes an element)", script)[0]
        counts = [0, 1, 999, 1000, 999_499, 999_500, 999_600, 1_000_000, 999_999_999, 10 ** 12, 5 * 10 ** 15]
        done = subprocess.run(["node", "-e", f"{functions}; for (const n of {counts}) console.log(bytes(n));"], capture_output=True,
                              timeout=60, check=True)
        self.assertEqual(done.stdout.decode().splitlines(),
                         ["0 bytes", "1 byte", "999 bytes", "1.00 kB", "999 kB", "1.00 MB", "1.00 MB", "1.00 MB", "1.00 GB", "1.00 TB",
                          "5000 TB"])

    def test_loads_nothing(self):
        self.make_table()
        page = self.report("t")
        for tag, attributes in page.elements:
            for name, value in attributes.items():
                self.assertFalse(name in ("src", "href", "action", "style", "srcset") or name.startswith("on"), (tag, name))
                self.assertNotRegex(value or "", "https?:", (tag, name))
        for text in (*page.texts["style"], page.script_data[None]):
            self.assertNotRegex(text, r"https?:|url\(|@import|import\(|fetch\(|XMLHttpRequest|WebSocket|innerHTML|eval\(")

    def check_hostile(self, page):
        """The page has the elements of any other page, and no control characters."""
        self.make_table(10)
        plain = self.report("t", "--force")
        def structure(of_page):
            return [(tag, {name: value for name, value in attributes.items() if name != "content"}) for tag, attributes in of_page.elements]
        self.assertEqual(structure(page), structure(plain))
        self.assertEqual(page.script_data[None], plain.script_data[None])
        self.assertNotRegex(page.script_data["application/json"], "[<>&]|[^\x20-\x7e]")

    def test_names_and_values(self):
        path = self.folder / "t.csv"
        quoted = HOSTILE.replace('"', '""')
        path.write_text(f'"{quoted}",n\n"{quoted}",1\n', encoding="utf-8")
        self.succeed(IMPORT, "--quiet", "t.csv", HOSTILE.replace("/", "_"))
        page = self.report(HOSTILE.replace("/", "_"))
        escaped = re.sub("[\x1b\x07\u2028\u202e]", lambda found: "".join(f"\\x{byte:02x}" for byte in found[0].encode()), HOSTILE)
        self.assertEqual(page.data["columns"][0]["name"], escaped)
        blocks = [region for region in page.data["files"][0]["regions"] if region["kind"] == "data block"]
        shown = blocks[0]["values"][0]
        self.assertTrue(shown.startswith("</script><img src=x onerror=alert(1)><!--<script>&lt;"), shown)
        self.assertEqual(blocks[0]["minimum"], shown)
        self.assertTrue(page.texts["h1"][0].startswith("<_script><img src=x onerror=alert(1)>"), page.texts["h1"])
        for text in page.texts["h1"] + page.texts["title"] + [shown, page.data["path"]]:
            self.assertNotRegex(text, r"[\x00-\x1f\x7f]")
        self.check_hostile(page)

    def test_metadata_and_errors(self):
        original = (GOLDEN / "kudu" / "key_binary_prefix_bkey.cfile").read_bytes()
        # The metadata of the file with another name of the same size. The footer is the checksum, the message, the magic and the
        # size of the message.
        message = original[-12 - int.from_bytes(original[-4:], "little"):]
        self.assertIn(b"min_key", message)
        hostile = message.replace(b"min_key", b"<b>\x1b&\"'")
        (self.folder / "hostile.cfile").write_bytes(original[:-len(message) - 4] + crc32c(hostile).to_bytes(4, "little") + hostile)
        page = self.report("hostile.cfile")
        metadata = [text for name, text in page.data["files"][0]["facts"] if name == "footer metadata"]
        self.assertTrue(any(text.startswith("<b>\\x1b&\"' = ") for text in metadata), metadata)
        self.check_hostile(page)
        # The message of a finding has the path.
        path = "<_script><b>\x1b[31m.cfile"
        (self.folder / path).write_bytes(original[:-1])
        page = self.report(path, exit_code=2)
        self.assertIn("<_script><b>\\x1b[31m", page.data["findings"][0]["message"])
        self.check_hostile(page)


class Contents(ReportTest):
    def check_file(self, described, path):
        """Compares the description of a file with what other subcommands print."""
        regions = described["regions"]
        if path.exists():  # not in a packed part
            self.assertEqual(described["size"], path.stat().st_size)
        summary = self.succeed(DUMP, "summary", path).splitlines()[1:]
        self.assertEqual([f"{name:17} {text}" for name, text in described["facts"]], summary)
        end = 0
        for region in regions:
            self.assertEqual(region["offset"], end, path)
            end += region["size"]
        self.assertEqual(end, described["size"])
        kinds = collections.Counter(region["kind"] for region in regions)
        self.assertEqual((kinds["header"], kinds["footer"], kinds["more"]), (1, 1, 0))

        blocks = {block["index"]: block for block in self.json("blocks", path)["blocks"]}
        found = {region["index"]: region for region in regions if region["kind"] == "data block"}
        self.assertEqual(blocks.keys(), found.keys(), path)
        for index, block in blocks.items():
            for name in ("offset", "size", "rows", "nulls", "encoding", "encoded", "compressed"):
                self.assertEqual(found[index][name], block[name], (path, index, name))
            if "first_row" in found[index]:
                self.assertEqual(found[index]["first_row"], block["first_ordinal"])

        nodes = self.json("index", path)["nodes"]
        for name, kind in (("positional_index", "positional"), ("value_index", "value")):
            expected = [node for node in nodes if node["index"] == kind]
            tree = described[name] or {"nodes": [], "complete": True}
            self.assertTrue(tree["complete"])
            found_nodes = [(node["offset"], node["size"], node["depth"], [entry[1] for entry in node["entries"]]) for node in tree["nodes"]]
            self.assertEqual(found_nodes, [(node["offset"], node["size"], node["depth"], [entry["offset"] for entry in node["entries"]])
                                           for node in expected])
            self.assertEqual(kinds[f"node of the {kind} index"], len(expected), path)
        return len(blocks)

    def test_golden_files(self):
        blocks = 0
        files = sorted(GOLDEN.glob("cfile-0.2/*.cfile"))[::5] + sorted(GOLDEN.glob("kudu/*.cfile"))[::7]
        for path in files:
            if self.run_tool(DUMP, "verify", path).returncode == 4:
                continue  # this build does not have the codec
            page = self.report(path)
            self.assertEqual(page.data["findings"], [])
            blocks += self.check_file(page.data["files"][0], path)
        self.assertGreater(blocks, 100)

    def test_values_and_statistics(self):
        self.make_table(20_000, "--block-size", "4KiB", "--sorted-by", "n")
        page = self.report("t", "--column", "n")
        [described] = page.data["files"]
        self.assertGreater(self.check_file(described, self.file_of("n")), 2)
        blocks = [region for region in described["regions"] if region["kind"] == "data block"]
        for block in blocks:
            first = block["first_row"]
            self.assertEqual(block["values"], [str(first + i) for i in range(min(5, block["rows"]))])
            self.assertEqual((block["minimum"], block["maximum"]), (str(first), str(first + block["rows"] - 1)))
            self.assertAlmostEqual(block["low"], first / 19_999, delta=1e-4)
            self.assertAlmostEqual(block["high"], (first + block["rows"] - 1) / 19_999, delta=1e-4)
        keys = [key for node in described["value_index"]["nodes"] if node["leaf"] for key, _ in node["entries"]]
        self.assertEqual(keys, [str(block["first_row"]) for block in blocks])

        words = self.report("t", "--column", "word", "--values", "2").data["files"][0]
        first = next(region for region in words["regions"] if region["kind"] == "data block")
        self.assertEqual(first["values"], ["null", "word 1"])
        self.assertEqual(sum(region.get("nulls", 0) for region in words["regions"]), len(range(0, 20_000, 7)))
        self.assertNotIn('"values"', json.dumps(self.report("t", "--values", "0").data))

    def test_floats_and_nested_values(self):
        (self.folder / "t.jsonl").write_text("".join(
            json.dumps({"f": [i / 2, -1.5][:i % 3], "g": None if i == 3 else 10.0 ** i}) + "\n" for i in range(8)))
        self.succeed(IMPORT, "--quiet", "t.jsonl", "t")
        page = self.report("t")
        [nested, flat] = [next(region for region in each["regions"] if region["kind"] == "data block") for each in page.data["files"]]
        self.assertEqual(nested["values"], ["0.5", "1", "-1.5", "2"])
        self.assertEqual((nested["rows"], nested["entries"]), (8, 10))
        self.assertEqual(flat["values"], ["1", "10", "100", "null", "10000"])
        self.assertEqual((flat["low"], flat["high"]), (0, 1))

    def test_other_encodings(self):
        self.make_table()
        page = self.report("t", sample_bytes="1MiB")
        expected = self.json("whatif", "t", "--sample-bytes", "1MiB")["columns"]
        for column, tried in zip(page.data["columns"], expected, strict=True):
            sizes = {(form["encoding"], form["compression"]): form.get("bytes") for form in tried["tried"]}
            self.assertGreater(len(sizes), 10)
            self.assertEqual({(form["encoding"], form["compression"]): form.get("bytes") for form in column["whatif"]["tried"]}, sizes)
            self.assertEqual(column["whatif"]["automatic"]["reason"], tried["automatic"]["reason"])
        self.assertIn("whatif", self.report(self.file_of("n"), sample_bytes="1KiB").data["files"][0])
        self.assertNotIn("whatif", json.dumps(self.report("t").data))
        # A column that cannot be read has findings instead.
        self.damage("word", 100)
        page = self.report("t", exit_code=2, sample_bytes="1MiB")
        self.assertEqual(["whatif" in column for column in page.data["columns"]], [True, False])
        self.assertEqual({finding["column"] for finding in page.data["findings"]}, {1})  # the page begins with this column

    def test_tables(self):
        self.make_table(20_000, "--sorted-by", "n", "--sorted-by", "word")
        self.succeed(IMPORT, "--quiet", "t.csv", "t", "--append", "--sorted-by", "n", "--sorted-by", "word",
                     "--pack-below", "0")
        page = self.report("t")
        data = page.data
        self.assertEqual((data["rows"], data["parts"], data["findings"], data["files_left_out"]), (40_000, 2, [], 0))
        self.assertEqual([column["name"] for column in data["columns"]], ["n", "word", "key index"])
        summary = {column["name"]: column for column in self.json("t")["columns"]}
        for column in data["columns"][:2]:
            self.assertEqual((column["bytes"], column["blocks"], column["nulls"], column["stored"], column["encoded"]),
                             tuple(summary[column["name"]][name] for name in ("size", "blocks", "nulls", "stored", "encoded")))
            self.assertEqual((column["encodings"], column["codecs"]),
                             (sorted(summary[column["name"]]["encodings"]), sorted(summary[column["name"]]["compressions"])))
        self.assertEqual([(each["column"], each["part"]) for each in data["files"]],
                         [(column, part) for column in range(3) for part in range(2)])
        for each in data["files"]:
            self.check_file(each, self.folder / "t" / each["path"])
        self.assertEqual(self.report("t", "--column", "word", "--part", "1").data["files"][0]["regions"], data["files"][3]["regions"])

    def test_golden_tables(self):
        for folder in sorted((GOLDEN / "tables-0.2").iterdir()):
            if folder.is_dir() and self.run_tool(DUMP, "verify", folder).returncode == 0:
                for each in self.report(folder).data["files"]:
                    self.check_file(each, folder / each["path"])

    def test_limits(self):
        self.make_table(20_000, "--block-size", "1KiB", "--sorted-by", "n")
        regions = self.report("t", "--column", "n").data["files"][0]["regions"]
        page = self.report("t", "--column", "n", "--regions", "5")
        shown = page.data["files"][0]["regions"]
        self.assertEqual(shown[:5], regions[:5])
        self.assertEqual(shown[5:], [{"kind": "more", "offset": regions[5]["offset"], "count": len(regions) - 5,
                                      "size": page.data["files"][0]["size"] - regions[5]["offset"]}])
        self.assertFalse(page.data["files"][0]["positional_index"]["complete"])
        # Long values are cut, and their sum is limited.
        (self.folder / "t.csv").write_text("text\n" + "".join(f"{i:05}{'x' * 200}\n" for i in range(50_000)))
        self.succeed(IMPORT, "--quiet", "t.csv", "u", "--block-size", "1KiB", "--encoding", "plain", "--compression", "none")
        blocks = [region for region in self.report("u", "--values", "1000").data["files"][0]["regions"] if region["kind"] == "data block"]
        sizes = [sum(map(len, block.get("values", []))) for block in blocks]
        self.assertLess(sum(sizes), 2 * 2 ** 20 * 63 / 60)
        self.assertGreater(sum(sizes), 2 ** 20)
        self.assertEqual(blocks[0]["values"][0], "00000" + "x" * 55 + "...")
        self.assertLess(len(blocks[0]["minimum"]), 64)
        self.assertEqual(sizes[-1], 0)


class Damage(ReportTest):
    def findings_of_verify(self, path):
        """The exit code, and the errors."""
        done = self.run_tool(DUMP, "verify", path, "--json")
        return done.returncode, [damage["error"] for each in json.loads(done.stdout)["files"] for damage in each["damages"] + each["limits"]]

    def test_damaged_block(self):
        self.make_table(20_000, "--block-size", "1KiB")
        whole = self.report("t", "--column", "n").data["files"][0]["regions"]
        blocks = [region for region in whole if region["kind"] == "data block"]
        self.damage("n", blocks[2]["offset"] + blocks[2]["size"] // 2)
        page = self.report("t", exit_code=2)
        [finding] = page.data["findings"]
        self.assertEqual((2, [finding["message"]]), self.findings_of_verify("t"))
        self.assertEqual((finding["file"], finding["offset"], finding["first_row"]), (0, blocks[2]["offset"], blocks[2]["first_row"]))
        # The blocks after the damaged one are described, too.
        again = [region for region in page.data["files"][0]["regions"] if region["kind"] == "data block"]
        self.assertEqual([(block["offset"], block["size"], block["index"]) for block in again],
                         [(block["offset"], block["size"], block["index"]) for block in blocks])
        for old, new in zip(blocks[3:], again[3:], strict=True):
            for name in ("encoding", "encoded", "compressed", "values", "minimum", "nulls"):
                self.assertEqual(old.get(name), new.get(name), name)
        # The positional index says how many rows each block has, also the damaged block. Totals are marked as incomplete.
        self.assertEqual([block["rows"] for block in again], [block["rows"] for block in blocks])
        self.assertEqual([column["complete"] for column in page.data["columns"]], [False, True])
        self.assertIn(["nulls", "0 (incomplete)"], page.data["files"][0]["facts"])

    def test_damage_anywhere(self):
        """Each byte of a file that is changed gives a page with the findings of verify."""
        path = self.folder / "damaged.cfile"
        original = (GOLDEN / "kudu" / "string_prefix_low_nn_nine.cfile").read_bytes()
        for offset in range(0, len(original), 3):
            path.write_bytes(original[:offset] + bytes([original[offset] ^ 0x10]) + original[offset + 1:])
            code, findings = self.findings_of_verify(path.name)
            page = self.report(path.name, exit_code=code)
            self.assertEqual([finding["message"] for finding in page.data["findings"]], findings, offset)
        for size in range(0, len(original), 20):
            path.write_bytes(original[:size])
            self.assertNotEqual(self.report(path.name, exit_code=2).data["findings"], [])

    def test_damaged_table(self):
        self.make_table()
        self.damage("word", 0)
        page = self.report("t", exit_code=2)
        self.assertEqual((2, [finding["message"] for finding in page.data["findings"]]), self.findings_of_verify("t"))
        self.assertEqual([each["column"] for each in page.data["files"]], [0])
        self.assertEqual([column["name"] for column in page.data["columns"]], ["n", "word"])
        table = self.folder / "t" / "table.cft"
        table.write_bytes(table.read_bytes()[:-1])
        page = self.report("t", exit_code=2)
        self.assertIn("table.cft", page.data["findings"][0]["message"])
        self.assertEqual(page.data["files"], [])

    def test_packed_parts(self):
        """The page shows the same as if each column had a file of its own."""
        def files(page):
            return [{**each, "path": each["path"].rsplit("/", 1)[1]} for each in page.data["files"]]
        options = ("--block-size", "1KiB", "--sorted-by", "n", "--sorted-by", "word")
        self.make_table(20_000, *options)
        loose = self.report("t")
        self.make_table(20_000, *options, pack_below="8MiB")
        [packed] = self.folder.glob("t/part-*/columns.packed")
        page = self.report("t")
        self.assertEqual({each["path"].rpartition("/")[0] for each in page.data["files"]}, {f"{packed.parent.name}/columns.packed"})
        self.assertEqual(files(page), files(loose))
        self.assertEqual(page.data["columns"], loose.data["columns"])
        path = page.data["files"][1]["path"]
        self.assertEqual(self.report(f"t/{path}").data["files"][0]["regions"], page.data["files"][1]["regions"])
        # A damaged block of the second column.
        content = packed.read_bytes()
        begin = next(at for at in range(64, len(content), 64) if content[at:at + 8] == b"kuducfl2")
        block = next(region for region in page.data["files"][1]["regions"] if region["kind"] == "data block")
        offset = begin + block["offset"]
        packed.write_bytes(content[:offset] + bytes([content[offset] ^ 1]) + content[offset + 1:])
        damaged = self.report("t", exit_code=2)
        [finding] = damaged.data["findings"]
        self.assertEqual((2, [finding["message"]]), self.findings_of_verify("t"))
        self.assertEqual((finding["path"], finding["column"], finding["file"], finding["offset"]), (path, 1, 1, block["offset"]))
        self.assertEqual([damaged.data["files"][i] for i in (0, 2)], [page.data["files"][i] for i in (0, 2)])
        # Without its directory, the file has no columns.
        packed.write_bytes(content[:-10])
        page = self.report("t", exit_code=2)
        self.assertEqual((2, [finding["message"] for finding in page.data["findings"]]), self.findings_of_verify("t"))
        self.assertEqual((page.data["files"], [each["name"] for each in page.data["columns"]]), ([], ["n", "word", "key index"]))

    def test_limit(self):
        self.make_table(20_000)
        page = self.report("t", "--max-block-size", "64", exit_code=4)
        self.assertTrue(all(finding["limit"] and "--max-block-size" in finding["message"] for finding in page.data["findings"]))


class Output(ReportTest):
    def expect_error(self, message, *arguments, exit_code):
        done = self.run_tool(DUMP, "report", *arguments)
        self.assertEqual(done.returncode, exit_code, done.stderr)
        self.assertRegex(done.stderr.decode(), message)
        self.assertEqual(done.stdout, b"")

    def test_overwriting(self):
        self.make_table(10)
        out = self.folder / "r.html"
        out.write_text("mine")
        self.expect_error("^cfile-dump: r.html exists already; --force replaces it\n$", "t", "--html", "r.html", exit_code=1)
        self.assertEqual(out.read_text(), "mine")
        self.assertEqual(self.succeed(DUMP, "report", "t", "--html", "r.html", "--force"), "r.html: no findings\n")
        self.assertIn("<!DOCTYPE html>", out.read_text())
        (self.folder / "link.html").symlink_to("nowhere")
        self.expect_error("exists already", "t", "--html", "link.html", exit_code=1)
        for force in ((), ("--force",)):
            self.expect_error("^cfile-dump: /dev/full is a device, a pipe or a socket: choose another place", "t", "--html", "/dev/full",
                              *force, exit_code=1)

    def test_errors_leave_no_files(self):
        self.make_table(10)
        (self.folder / "folder").mkdir()
        before = sorted(os.listdir(self.folder))
        self.expect_error("none/", "t", "--html", "none/r.html", exit_code=3)
        self.expect_error("folder", "t", "--html", "folder", "--force", exit_code=1)
        self.expect_error("/dev/full", "t", "--html", "/dev/full", "--force", exit_code=1)
        self.expect_error("missing", "missing", "--html", "r.html", exit_code=3)
        self.expect_error("no column .zzz.", "t", "--column", "zzz", "--html", "r.html", exit_code=1)
        self.expect_error("there is no part 9", "t", "--part", "9", "--html", "r.html", exit_code=1)
        self.expect_error("--html is required", "t", exit_code=1)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        # Without restore_signals, the tool ignores SIGXFSZ, as Python does, so that the write fails.
        done = subprocess.run([DUMP, "report", "t", "--html", "r.html"], cwd=self.folder, capture_output=True, timeout=60,
                              restore_signals=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"r.html", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_help_says_the_bounds(self):
        text = self.succeed(DUMP, "report", "--help")
        self.assertRegex(re.sub(r"\s+", " ", text), "first --values values of each data block, cut to 60 bytes, and in total 2 MiB")


if __name__ == "__main__":
    DUMP, IMPORT = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
