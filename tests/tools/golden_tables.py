"""Makes tables of golden files. Each file becomes a column, so one command of a tool reads many files."""

import collections
import pathlib

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
OPTIONAL, REPEATED = 1, 2  # of SchemaNodePB


def golden_files():
    return sorted((GOLDEN / "cfile-0.2").glob("*.cfile")) + sorted((GOLDEN / "kudu").glob("*.cfile"))


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def vint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + vint(number >> 7)


def message(*fields):
    """A protobuf message of (number, value). The values are numbers, or bytes."""
    return b"".join(vint(number << 3) + vint(value) if isinstance(value, int) else vint(number << 3 | 2) + vint(len(value)) + value
                    for number, value in fields)


def parse(data):
    """The fields of a protobuf message. Of a repeated field, only the last value."""
    place, fields = 0, {}

    def take():
        nonlocal place
        value = shift = 0
        while True:
            value |= (data[place] & 127) << shift
            shift, place = shift + 7, place + 1
            if data[place - 1] < 128:
                return value

    while place < len(data):
        tag = take()
        value = take()
        assert tag & 7 in (0, 2)
        if tag & 7 == 2:
            place, value = place + value, data[place:place + value]
        fields[tag >> 3] = value
    return fields


class GoldenFile:
    """What the footer of a file says (CFileFooterPB)."""

    def __init__(self, path):
        data = path.read_bytes()
        footer = parse(data[-12 - int.from_bytes(data[-4:], "little"):-12])
        extensions = footer.get(1000, b"")
        self.path, self.name, self.size, self.rows = path, path.stem, len(data), footer.get(3, 0)
        self.type = message((1, footer[1]), (5, extensions))
        nullable, array, by_ordinal, by_value = footer.get(8, 0), footer.get(12, 0), 4 in footer, 5 in footer
        levels = parse(extensions)
        self.repetition, self.definition = levels.get(10, 0), levels.get(11, nullable)
        self.nested = self.repetition > 0 or self.definition > 1
        self.column = ".".join([self.name] * (self.definition if self.nested else 1))  # a group has the name of the leaf
        self.fits_table = by_ordinal and not array
        # Levels, indexes, features
        self.kind = (self.repetition, self.definition, array, by_ordinal, by_value, footer.get(10, 0))

    def schema(self):
        """SchemaNodePB: groups around an OPTIONAL leaf, or a leaf alone."""
        name = (1, self.name.encode())
        node = message(name, (2, min(self.definition, OPTIONAL)), (4, self.type))
        for _ in range(self.repetition):
            node = message(name, (2, REPEATED), (3, node))
        for _ in range(self.definition - self.repetition - 1):
            node = message(name, (2, OPTIONAL), (3, node))
        return node


def one_of_each_kind():
    """Paths of files that have all kinds of levels, indexes and features, and by turns the types."""
    kinds = collections.defaultdict(list)
    for file in map(GoldenFile, golden_files()):
        kinds[file.kind].append(file.path)
    return [paths[number * len(paths) // len(kinds)] for number, paths in enumerate(kinds.values())]


def make_table(files, folder):
    """Writes table.cft (TablePB), and links the files."""
    part = folder / "part-000000"
    part.mkdir(parents=True)
    columns = []
    for file in files:
        (part / file.path.name).symlink_to(file.path)
        columns.append((3, message((1, file.path.name.encode()), (2, file.size), (3, file.rows))))
    root = [(1, b"record")] if files[0].nested else []  # the root of a flat table has no name
    schema = message(*root, *((3, file.schema()) for file in files))
    body = message((1, schema), (2, message((1, part.name.encode()), (2, files[0].rows), *columns)))
    head = b"cfiletb1" + len(body).to_bytes(4, "little") + body
    (folder / "table.cft").write_bytes(head + crc32c(head).to_bytes(4, "little"))


def make_tables(folder, paths):
    """Makes tables of golden files: one for each number of rows, flat and nested. Returns {name of the table: files}, and the paths
    of the files that no table can have: arrays of Kudu, and files without a positional index."""
    tables, others = collections.defaultdict(list), []
    for file in map(GoldenFile, paths):
        if file.fits_table:
            tables[f"{'nested' if file.nested else 'flat'}-{file.rows}"].append(file)
        else:
            others.append(file.path)
    for name, files in tables.items():
        make_table(files, folder / name)
    return tables, others
