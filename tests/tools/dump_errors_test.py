"""Tests what cfile-dump says about files that it cannot read, and its exit codes: dump_errors_test.py CFILE_DUMP CFILE_IMPORT."""

import bz2
import gzip
import io
import lzma
import os
import pathlib
import pty
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

from dump_case import DUMP, IMPORT, DumpCase

MAKES = "; cfile-import makes a table of it: cfile-import {name} TABLE"
INSIDE = "; cfile-import makes a table of the CSV, JSON, Arrow IPC or Parquet in it: cfile-import {name} TABLE"


def sqlite_bytes():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.db"
        connection = sqlite3.connect(path)
        connection.execute("create table t (n)")
        connection.commit()
        connection.close()
        return path.read_bytes()


def zip_bytes():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.csv", "n\n1\n")
    return out.getvalue()


# The bytes of a file, and what is said about it.
FOREIGN = {
    "in.parquet": (b"PAR1\x15\x04" + bytes(50) + struct.pack("<I", 20) + b"PAR1", "Parquet, not a CFile" + MAKES),
    "in.arrow": (b"ARROW1\0\0" + bytes(40) + b"ARROW1", "Arrow IPC, not a CFile" + MAKES),
    "in.arrows": (b"\xff\xff\xff\xff\x80\0\0\0" + bytes(200), "an Arrow IPC stream, not a CFile" + MAKES),
    "in.feather": (b"FEA1" + bytes(20) + b"FEA1",
                   "a Feather file of version 1, not a CFile; write it as version 2 (Arrow IPC) first: {name}"),
    "in.orc": (b"ORC" + bytes(40) + b"\x08\x03ORC\x17", "ORC, not a CFile; pyarrow reads it"),
    "in.avro": (b"Obj\x01\x04\x14avro.codec", "Avro, not a CFile; fastavro and DuckDB read it"),
    "in.csv.gz": (gzip.compress(b"a,b\n1,2\n"), "compressed with gzip, not a CFile" + INSIDE),
    "in.zst": (b"\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00", "compressed with zstd, not a CFile" + INSIDE),
    "in.xz": (lzma.compress(b"a\n1\n"), "compressed with xz, not a CFile; decompress it first: unxz -k {name}"),
    "in.bz2": (bz2.compress(b"a\n1\n"), "compressed with bzip2, not a CFile; decompress it first: bunzip2 -k {name}"),
    "in.lz4": (b"\x04\x22\x4d\x18\x40\xc0" + bytes(8), "compressed with lz4, not a CFile; decompress it first: unlz4 {name}"),
    "in.zip": (zip_bytes(), "a zip archive, or a spreadsheet in one, not a CFile; unpack it, or save the sheet as CSV: unzip {name}"),
    "in.png": (b"\x89PNG\r\n\x1a\n" + bytes(20), "a PNG image, not a CFile"),
    "in.jpg": (b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(20), "a JPEG image, not a CFile"),
    "in.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document, not a CFile"),
    "in.db": (sqlite_bytes(), "an SQLite database, not a CFile; sqlite3 reads it, and writes a table as CSV: sqlite3 -csv -header {name}"),
    "in.h5": (b"\x89HDF\r\n\x1a\n" + bytes(20), "HDF5, not a CFile; h5py and pandas read it"),
    "in.elf": (pathlib.Path("/bin/true").resolve().read_bytes(), "an ELF program or library, not a CFile"),
    "in.duckdb": (b"\x12\x34\x56\x78\x9a\xbc\xde\xf0DUCK\x40" + bytes(20),
                  "a DuckDB database, not a CFile; duckdb reads it, and writes a table as Parquet: duckdb {name}"),
    "in.csv": (b"a,b\n1,2\n", "CSV, not a CFile" + MAKES),
    "one.csv": (b"a\n1\n", "CSV, not a CFile" + MAKES),
    "DUCKs.csv": (b"species,DUCK,n\nMallard,1,2\n", "CSV, not a CFile" + MAKES),
    "orcs": (b"ORCS\tn\n1\t2\n", "CSV, not a CFile" + MAKES),
    "escape": (b"\x1b[31mred,\x07\n", "CSV, not a CFile" + MAKES),
    "in.json": (b'[\n  {"a": 1}\n]\n', "JSON, not a CFile" + MAKES),
    "in.jsonl": (b'{"a":1}\n{"a":2}\n', "JSON, not a CFile" + MAKES),
    "wide.csv": ("\ufeffa,b\n1,2\n".encode("utf-16-le"),
                 "text in UTF-16, not a CFile; if it is CSV or JSON, cfile-import makes a table of it: cfile-import {name} TABLE"),
    "in.txt": ("Zürich ist schön\n".encode(),
               "text, not a CFile; if it is CSV, cfile-import makes a table of it: cfile-import {name} TABLE"),
}
# Files that cfile-import does not recognize by their first bytes.
MORE_FOREIGN = {
    "numbers.json": (b"[1,2,3]", "JSON, not a CFile; if it has objects, cfile-import makes a table of them: cfile-import {name} TABLE"),
    "in.npy": (b"\x93NUMPY\x01\0v\0{'descr': '<i4'}" + bytes(200), "a NumPy array, not a CFile; numpy.load reads it, and numpy.savetxt "
                                                                 "writes it as CSV"),
    "in.vortex": (b"VTXF" + bytes(40), "a Vortex file, not a CFile; vortex-data (Python) reads it, and DuckDB with the extension vortex"),
    "in.tar": (b"a.csv".ljust(257, b"\0") + b"ustar\x0000" + bytes(2000), "a tar archive, not a CFile; unpack it: tar -xf {name}"),
    "in.xml": (b'<?xml version="1.0"?>\n<a b="1"/>\n', "XML, not a CFile; xmllint and pandas.read_xml read it"),
    "in.html": (b"\n<!DOCTYPE html>\n<html><p>a, b</html>", "HTML, not a CFile; pandas.read_html reads the tables in it"),
}
COMMANDS = ([], ["--json"], ["rows"], ["rows", "--format", "csv"], ["verify"], ["verify", "--json"], ["blocks"],
            ["blocks", "--ordinal", "0"], ["hexdump", "--header"], ["index"], ["rows", "--format", "csv"], ["explain"], ["find"], ["rows", "--row", "1"], ["salvage"])


class ErrorsTest(DumpCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "t.csv").write_text("id,text\n" + "".join(f"{i},{'x' * 50}{i}\n" for i in range(2000)))
        cls.make("t.csv", "t", "--sorted-by", "id", "--encoding", "plain", "--compression", "none", "--block-size", "8KiB",
                 loose=True)
        cls.file = next(cls.folder.glob("t/part-*/0001-text.cfile"))


class Foreign(ErrorsTest):
    def test_files_of_other_programs(self):
        for name, (content, expected) in (FOREIGN | MORE_FOREIGN).items():
            (self.folder / name).write_bytes(content)
            for command in COMMANDS if name in ("in.csv", "in.zip") else COMMANDS[:1]:
                more = {"find": ["1"], "salvage": ["out.cfile"]}.get(command[0] if command else "", [])
                code, out, error = self.run_dump(*command, name, *more)
                self.assertEqual((code, out, error), (1, "", f"cfile-dump: {name}: the file is {expected.format(name=name)}\n"), command)
            self.assertFalse((self.folder / "out.cfile").exists())

    def test_what_import_makes_of_them(self):
        for name, (content, expected) in FOREIGN.items():
            (self.folder / name).write_bytes(content)
            code, _, error = self.run_tool(IMPORT, name, f"{name}.table", "--quiet")
            if "makes a table" in expected:
                if name.endswith((".csv", ".gz", ".json", ".jsonl", ".txt", "orcs")):
                    self.assertEqual((code, error), (0, ""), name)
                continue  # a file with only the magic
            what, _, advice = expected.partition(", not a CFile")
            if name == "in.orc":  # text may begin with the same letters
                self.assertNotEqual(code, 0)
                continue
            advice = advice.format(name=name) or ", which cfile-import cannot read"
            self.assertEqual((code, error), (1, f"cfile-import: {name}: the file is {what}{advice}\n"))

    def test_real_parquet(self):
        code, _, error = self.run_dump("rows", "t", "-o", "real.parquet")
        if code != 0 and "Parquet" in error:
            self.skipTest("this build has no Parquet")
        self.assertIn("the file is Parquet, not a CFile", self.run_dump("real.parquet")[2])

    def test_cfiles_and_tables_are_no_foreign_files(self):
        self.assertEqual(self.run_tool(IMPORT, self.file, "u", "--quiet")[2],
                         f"cfile-import: {self.file}: the file is a CFile; cfile-dump shows it: cfile-dump {self.file}\n")
        self.assertEqual(self.run_dump("t/table.cft"),
                         (1, "", "cfile-dump: t/table.cft: the file is the description of a table; open the directory that has the file\n"))

    def test_damaged_cfiles_are_damage(self):
        whole = self.file.read_bytes()
        for content in (whole[:-1], whole[:100], whole[:3], b"X" + whole[1:], b"a,b\n" + whole, bytes(100), bytes(range(256)), whole[5:]):
            (self.folder / "d.cfile").write_bytes(content)
            code, _, error = self.run_dump("d.cfile")
            self.assertEqual(code, 2, content[:20])
            self.assertNotIn("not a CFile;", error)
            torn = content in (whole[:-1], whole[:100])
            self.assertEqual("; the end of this CFile is damaged or missing: cfile-dump salvage d.cfile OUT" in error, torn)
            self.assertEqual(self.run_dump("verify", "d.cfile")[0], 2)
        (self.folder / "d.cfile").write_bytes(b"")
        self.assertEqual(self.run_dump("d.cfile"), (2, "", "cfile-dump: d.cfile: the file is empty\n"))

    def test_temporary_file_of_a_killed_writer(self):
        (self.folder / "killed/part-1").mkdir(parents=True)
        name = "killed/part-1/.0001-text.cfile.4711-0.cfile-tmp"
        (self.folder / name).write_bytes(self.file.read_bytes()[:60_000])
        salvage = f"cfile-dump salvage {name} OUT copies its complete blocks"
        advice = f"is the temporary file of a writer that did not finish: {salvage}"
        empty = "killed/part-1/.0000-id.cfile.4711-0.cfile-tmp"
        (self.folder / empty).write_bytes(b"")
        code, _, error = self.run_dump(empty)
        self.assertEqual((code, error), (2, f"cfile-dump: {empty}: the file is empty; it belongs to an import or another writer that "
                                            "did not finish, and can be removed if no writer is at work\n"))
        code, out, error = self.run_dump(name)
        self.assertEqual((code, out), (2, ""))
        self.assertIn(f"; this {advice}", error)
        begin = "cfile-dump: killed is a directory, but not a table: it has no table.cft; an import or another writer did not finish here. "
        end = " If no writer is at work, the directory can be removed: rm -r killed\n"
        self.assertEqual(self.run_dump("killed"), (3, "", f"{begin}{salvage}.{end}"))
        self.assertEqual(self.run_dump("salvage", "killed", "out"), (3, "", f"{begin}{salvage}.{end}"))
        for i in range(2, 8):
            (self.folder / f"killed/part-1/.000{i}-x.cfile.4711-0.cfile-tmp").write_bytes(b"kuducfl2")
        self.assertEqual(self.run_dump("killed")[2],
                         begin + salvage + "; data is also in " +
                         ", ".join(f"killed/part-1/.000{i}-x.cfile.4711-0.cfile-tmp" for i in (2, 3, 4)) +
                         f" and in 3 more temporary files.{end}")
        (self.folder / "killed2").mkdir()
        (self.folder / "killed2/.0000-id.cfile.4711-0.cfile-tmp").write_bytes(b"")
        self.assertIn("did not finish here. Its files are empty. If no writer is at work", self.run_dump("killed2")[2])
        # A table whose table.cft is lost must not be removed.
        shutil.copytree(self.folder / "t", self.folder / "lost")
        (self.folder / "lost/table.cft").unlink()
        (self.folder / "lost/.0000-id.cfile.4711-0.cfile-tmp").write_bytes(b"")
        error = self.run_dump("lost")[2]
        self.assertIn("Its files are empty. The directory has complete files, too: cfile-table repair lost makes a table", error)
        self.assertNotIn("rm -r", error)
        code, out, _ = self.run_dump("salvage", name, "rescued.cfile")
        self.assertEqual(code, 2)
        self.assertGreater(len(self.run_dump("rows", "rescued.cfile")[1].splitlines()), 500)

    def test_killed_import(self):
        # A real temporary file has the name that the advice is for.
        rows = "".join(f"{i},{i * 7919 % 100_003}\n" for i in range(400_000)).encode()
        (self.folder / "big.csv").write_bytes(b"a,b\n" + rows)
        process = subprocess.Popen([IMPORT, "big.csv", "big", "--quiet"], cwd=self.folder)
        while process.poll() is None and not list(self.folder.glob("big/*/.*.cfile-tmp")):
            pass
        process.kill()
        process.wait()
        left = list(self.folder.glob("big/*/.*.cfile-tmp"))
        if left:  # the import may have been faster
            self.assertIn("an import or another writer did not finish here", self.run_dump("big")[2])


class ExitCodes(ErrorsTest):
    def test_a_limit_is_4_and_names_the_option(self):
        for option, value, commands in (
                ("--max-block-size", "1KiB", (["rows", "t"], ["blocks", self.file], ["blocks", self.file, "--block", "0"], ["rows", "--format", "jsonl", "t"],
                                              ["rows", "--format", "csv", "t"], ["explain", "t", "--where", "text > 'x'"], ["rows", "t", "--row", "1"])),
                ("--max-metadata-size", "16", (["rows", "t"], ["t"], [self.file], ["hexdump", "--header", self.file])),
                ("--max-index-size", "1", (["index", self.file], ["find", "t", "7"])),
                ("--max-leaves", "1", (["summary", "t", "--schema"],))):
            for command in commands:
                code, _, error = self.run_dump(*command, option, value)
                self.assertEqual(code, 4, (command, option, error))
                self.assertRegex(error, f"limit.*: raise {option}\n$")
            if option != "--max-leaves":
                code, out, error = self.run_dump("verify", self.file, option, value)
                self.assertEqual((code, error), (4, ""), (option, out))
                self.assertIn("not checked in full: a limit is too small\n", out)
                self.assertRegex(out, f": raise {option}[;\n]")
        (self.folder / "in.csv.gz").write_bytes(gzip.compress(b"a\n" + b"1\n" * 1000))
        code, _, error = self.run_tool(IMPORT, "in.csv.gz", "limited", "--quiet", "--max-input-bytes", "100")
        self.assertEqual(code, 4)
        self.assertIn("raise --max-input-bytes", error)

    def test_what_does_not_exist_is_no_limit(self):
        for command in (["blocks", self.file, "--block", "999999"], ["blocks", self.file, "--ordinal", "999999"], ["rows", "t", "--row", "999999"],
                        ["rows", "t", "--ordinal", "999999"], ["rows", "--format", "jsonl", "t", "--ordinal", "999999"]):
            code, out, error = self.run_dump(*command)
            self.assertEqual((code, out), (1, ""), command)
            self.assertNotIn("raise", error)

    def test_verify_quiet(self):
        self.assertEqual(self.run_dump("verify", "--quiet", "t"), (0, "", ""))
        self.assertEqual(self.run_dump("verify", "--quiet", self.file), (0, "", ""))
        shutil.copytree(self.folder / "t", self.folder / "d")
        path = next(self.folder.glob("d/part-*/0001-text.cfile"))
        data = bytearray(path.read_bytes())
        for offset in (10_000, 40_000, 80_000):
            data[offset] ^= 1
        path.write_bytes(data)
        code, out, error = self.run_dump("verify", "--quiet", "d")
        self.assertEqual((code, error), (2, ""))
        lines = out.splitlines()
        self.assertEqual(len(lines), 3)
        name = path.relative_to(self.folder)
        for line in lines:
            self.assertRegex(line, rf"^{name}: block at offset \d+, \d+ bytes: checksum mismatch.*; concerns rows \d+ to \d+$")
        code, loud, _ = self.run_dump("verify", "d")
        self.assertEqual([line.partition(": ")[2] for line in lines], [line[2:] for line in loud.splitlines() if "concerns rows" in line])
        # The damaged files are named again at the end.
        self.assertEqual(loud.splitlines()[-2:], ["2 files checked: 1 damaged", f"  {name}: DAMAGED"])
        self.assertEqual(self.run_dump("verify", "--quiet", "--json", "t")[0], 1)


class Surroundings(ErrorsTest):
    def commands(self):
        for form in ("text", "csv", "tsv", "jsonl", "hex"):
            yield ["rows", "t", "--format", form]
        yield ["explain", "t", "--where", "id > 5"]
        yield ["explain", "t", "--json"]
        yield ["find", "t", "7", "--explain"]
        yield ["rows", "t", "--row", "7", "--explain", "--json"]
        yield ["rows", "t", "--sample", "100"]
        yield ["rows", "--format", "jsonl", "t", "--tail", "100"]

    def test_full_disk(self):
        for command in self.commands():
            with open("/dev/full", "wb") as full:
                done = subprocess.run([DUMP, *command], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual((done.returncode, done.stderr.decode()),
                             (3, "cfile-dump: cannot write to standard output: No space left on device\n"), command)

    def test_closed_pipe(self):
        for command in self.commands():
            for restore_signals in (True, False):  # False: the tool is started with SIGPIPE ignored
                end, pipe = os.pipe()
                os.close(end)
                done = subprocess.run([DUMP, *command], cwd=self.folder, stdout=pipe, stderr=subprocess.PIPE,
                                      restore_signals=restore_signals, timeout=60)
                os.close(pipe)
                self.assertEqual((done.returncode, done.stderr), (-13, b""), command)

    def test_short_work_shows_no_progress(self):
        for command in (["verify", "t"], ["t"], [self.file], ["rows", "t", "--sample", "3", "--where", "id > 7"]):
            terminal, other_end = pty.openpty()
            done = subprocess.run([DUMP, *command], cwd=self.folder, stdout=subprocess.PIPE, stderr=other_end, timeout=60)
            os.close(other_end)
            try:
                shown = os.read(terminal, 10_000)
            except OSError:  # the other end is closed and nothing was written
                shown = b""
            os.close(terminal)
            self.assertEqual(done.returncode, 0)
            # Nothing, or on a slow machine lines that were removed.
            self.assertTrue(not shown or shown.endswith(b"\r\x1b[K"), shown)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
