"""Checks the indexes, skip tables, statistics, Bloom filters and padding of a file or a table against its values."""
import itertools
import os

from reader import (Cursor, Message, SplitBlockBloom, as_signed, compound_key, delta_integers, rebuild, refuse, to_parquet_plain)


def check_file(file):
    """Reads everything. Returns the number of data blocks, or of filters in a Bloom filter file."""
    blocks = list(file.blocks())
    trees = [by for by in ("ordinal", "value") if file.root(by)]
    places = [[pointer for _, pointer in file.leaves(by)] for by in trees]
    refuse(any(place != places[0] for place in places), file.name, "the two indexes lead to different blocks")
    if file.root("value") and blocks:
        check_value_keys(file, blocks)
    for block in blocks:
        if block.skip:
            check_skip_table(block, file.column.shape)
    statistics = file.statistics()
    if statistics:
        check_statistics(statistics, blocks, file.column.shape, f"{file.name}, statistics")
    check_pieces(file, {pointer.offset: (pointer, block) for place in places[:1] for pointer, block in zip(place, blocks)})
    check_layout(file, places)
    return len(list(file.bloom_filters())) if file.is_bloom() else len(blocks)


def check_value_keys(file, blocks):
    memcmp, last = file.column.shape.memcmp, b""
    for (key, pointer), block in zip(file.leaves("value"), blocks):
        where = f"{file.name}, data block at {pointer.offset}"
        forms = [memcmp(value) for value in block.rows]
        refuse(any(a > b for a, b in zip([last] + forms, forms)), where, "values do not ascend, but there is a value index")
        right = last < key <= forms[0] or key <= forms[0] == last or block is blocks[0] and key <= forms[0]
        refuse(not right, where, f"the value key {key.hex()} does not lead to its block")
        # Writers use the shortest key, except in Kudu's delta files, which have no positional index.
        shortest = forms[0][:len(os.path.commonprefix([last, forms[0]])) + 1]
        refuse(file.root("ordinal") and key != shortest, where, f"the value key {key.hex()} is not the shortest")
        last = forms[-1]


def check_pieces(file, blocks):
    """Compares all pieces with their blocks. blocks: (pointer, block) by offset."""
    memcmp, before = file.column.shape.memcmp, 0
    for first_block, table in file.piece_tables():
        records = list(file.pieces(table))
        for record in records:
            where = f"{file.name}, pieces of the data block at {record.block.offset}"
            pointer, block = blocks.get(record.block.offset, (None, None))
            refuse(pointer != record.block or record.block.offset < before, where, "there is no such data block")
            before = record.block.offset + record.block.size
            refuse((record.first, record.encoding) != (block.first, block.encoding), where, "first ordinal or encoding differ")
            refuse(sum(piece.rows for piece in record.pieces) != len(block.rows), where, "the pieces do not have all rows")
            for piece in record.pieces:
                rows = block.rows[piece.first:piece.first + piece.rows]
                refuse(list(file.piece_values(record, piece)) != list(rows), where, f"the values from row {piece.first} on differ")
                first, last = memcmp(rows[0]), memcmp(block.rows[piece.first - 1]) if piece.first else None
                right = last < piece.key <= first or piece.key <= first == last if piece.first else piece.key == b""
                refuse(not right, where, f"the key {piece.key.hex()} does not separate the piece from row {piece.first} on")
        ascends = records and records[0].block.offset == first_block and before <= table.offset
        refuse(not ascends, f"{file.name}, piece table at {table.offset}", "its records are not those that the directory says")


def check_layout(file, places):
    """Blocks must not overlap, and bytes outside of all blocks must be zero."""
    pointers = [pointer for place in places for pointer in place]
    pointers += [child for leaf, entries in file._nodes.values() if not leaf for _, child in entries]
    pointers += [file.root("ordinal"), file.root("value"), file.footer.dict_block_ptr, (file.footer.extensions or Message()).statistics]
    pointers += [file.piece_directory] + [table for _, table in file.piece_tables()]
    ranges = sorted({(p.offset, p.offset + p.size) for p in pointers if p})
    at = 0
    for start, end in [(0, file.first_byte), *ranges, (file.last_byte, len(file.data))]:
        refuse(start < at, f"{file.name}, byte {at}", "blocks overlap")
        refuse(file.data[at:start].strip(b"\0"), f"{file.name}, byte {at}", "bytes that belong to no block are not zero")
        at = end


# ---------------------------------------------------------------- skip tables


class Deltas:
    """Decodes integers of DELTA_BINARY_PACKED at a cursor, and checks their entries in skip tables."""

    def __init__(self, cursor, count, size):
        self.at, self.size = cursor.pos, size
        self.values, self.block_size, self.starts = delta_integers(cursor, count, 8 * size)

    def check(self, skip, k):
        """Checks an entry: the position of the delta block with the value after value k, and value k."""
        place, value = skip.fixed32(), skip.number(self.size)
        skip.refuse(place != self.starts[k // self.block_size] or value != self.values[k], f"the skip table is wrong about value {k}")


def check_skip_table(block, shape):
    """Checks a skip table of DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY or DELTA_BYTE_ARRAY. Other encodings have none."""
    skip, page, values = Cursor(block.skip, f"{block.page.where}, skip table"), block.page, block.values
    count, start = len(values), page.pos
    entries = range(1024, count, 1024)
    if block.encoding == 105:
        deltas = Deltas(page, count, max(4, shape.size))
        for k in entries:
            deltas.check(skip, k)
    elif block.encoding in (106, 107):
        prefixes = Deltas(page, count, 4) if block.encoding == 107 else None
        if prefixes:
            skip.refuse(skip.fixed32() != page.pos - start, "it does not lead to the suffixes")
        suffixes_at = page.pos
        lengths = Deltas(page, count, 4)
        skip.refuse(skip.fixed32() != page.pos - suffixes_at, "it does not lead to the bytes")
        ends = list(itertools.accumulate(as_signed(lengths.values, 32), initial=0))
        kept = block.skip[8 + 24 * len(entries):]
        for k in entries:
            if prefixes:
                prefixes.check(skip, k)
            lengths.check(skip, k)
            skip.refuse(skip.fixed32() != ends[k], f"it is wrong about the bytes of value {k}")
            if prefixes:
                at, prefix = skip.fixed32(), to_parquet_plain(shape, values[k])[:prefixes.values[k]]
                there = at == 0xFFFFFFFF or kept[at:at + len(prefix)] == prefix
                skip.refuse(not there, f"it is wrong about the prefix of value {k}")
        if prefixes:
            skip.rest()  # the bytes of the prefixes, checked above
    else:
        skip.rest()  # readers ignore it
    skip.done("the last entry")


# ---------------------------------------------------------------- statistics


def measure(values, nulls, shape):
    """The expected statistics of these values: the number of values, of nulls and of NaN, the minimum and the maximum."""
    forms = [shape.memcmp(value) for value in values if not shape.is_nan(value)] if shape.name != "INT96" else []
    nans = len(values) - len(forms) if shape.kind == "float" else 0
    low, high = min(forms, default=None), max(forms, default=None)
    if shape.kind == "float":  # a minimum of zero is written as -0, a maximum of zero as +0
        minus, plus = shape.memcmp(1 << (8 * shape.size - 1)), shape.memcmp(0)
        low, high = minus if low == plus else low, plus if high == minus else high
    return len(values), nulls, nans, low, high


def cut(key, upwards):
    """Cuts a bound of more than 64 bytes. Returns the bound, or None if there is none, and whether it is inexact."""
    if key is None or len(key) <= 64:
        return key, False
    key = key[:64]
    if upwards:
        key = key.rstrip(b"\xff")
        key = key[:-1] + bytes([key[-1] + 1]) if key else None
    return key, True


def check_entry(entry, expected, where):
    counts = (entry.present_count or 0, entry.null_count or 0, entry.nan_count or 0)
    refuse(counts != expected[:3], where, f"the counts are {counts}, they should be {expected[:3]}")
    for key, inexact, value, upwards in ((entry.min_key, entry.min_inexact, expected[3], False),
                                         (entry.max_key, entry.max_inexact, expected[4], True)):
        if key is not None:  # None: the bound is not known
            bound, is_cut = cut(value, upwards)
            right = (key, bool(inexact)) == (bound, is_cut)
            refuse(not right, where, f"the bound {key.hex()} should be {bound and bound.hex()}")


def check_statistics(statistics, blocks, shape, where):
    parts = [measure(block.values, block.nulls, shape) for block in blocks]
    refuse(statistics.blocks and len(statistics.blocks) != len(blocks), where, f"there are {len(blocks)} blocks")
    for i, (entry, part) in enumerate(zip(statistics.blocks, parts)):
        check_entry(entry, part, f"{where}, block {i}")
    lows, highs = ([part[n] for part in parts if part[n] is not None] for n in (3, 4))
    whole = (*(sum(part[n] for part in parts) for n in range(3)), min(lows, default=None), max(highs, default=None))
    check_entry(statistics.file or Message(), whole, f"{where}, file")
    if statistics.bloom_filter is not None:
        bloom = SplitBlockBloom(statistics.bloom_filter, where)
        for value in {value for block in blocks for value in block.values}:
            refuse(not bloom.has(to_parquet_plain(shape, value)), where, f"the Bloom filter lacks the value {value!r}")


# ---------------------------------------------------------------- tables


def check_table(table):
    """Checks each file, the compound keys, and the counts and bounds in table.cft and in chunks."""
    measured = {}  # what each column of each part holds
    for part in table.parts:
        files, measured[part.directory] = table.files(part), []
        for i, (file, entry) in enumerate(zip(files, part.columns)):
            if file is None:
                measured[part.directory].append(lacking(table.leaves[i], part))
                continue
            check_file(file)
            blocks = list(file.blocks())
            nulls = sum(block.nulls for block in blocks)
            found = measure([value for block in blocks for value in block.values], nulls, file.column.shape)
            measured[part.directory].append(found)
            check_part_column(entry, file, nulls, *found[3:])
        if table.keys:
            columns, shapes = table.columns(part), [table.leaves[key].shape for key in table.keys]
            rows = zip(*(columns[key] for key in table.keys))
            right = [compound_key(values, shapes, table.key_nulls) for values in rows] == list(files[-1].rows())
            refuse(not right, files[-1].name, "the compound keys are not those of the rows")
    for chunk, parts in table.chunks:
        for column in chunk.columns:
            i = table.column_of(column.column_id or 0)
            if i is not None:
                check_chunk_column(column, [measured[part.directory][i] for part in parts], f"{table.path}, {chunk.file_name}")


def lacking(leaf, part):
    """What a column holds that the part lacks."""
    rows = part.num_rows or 0
    return measure([] if leaf.default is None else [leaf.default] * rows, rows if leaf.default is None else 0, leaf.shape)


def check_part_column(entry, file, nulls, low, high):
    refuse(entry.null_count not in (None, nulls), file.name, f"{nulls} nulls, table.cft says {entry.null_count}")
    refuse(entry.min_key not in (None, low) or entry.max_key not in (None, high), file.name, "table.cft has other bounds")
    if entry.min_key is not None:
        return  # readers ignore the other bounds
    bounds = (file.statistics() or Message()).file or Message()
    same = entry.lower_bound in (None, bounds.min_key) and entry.upper_bound in (None, bounds.max_key)
    same = same and (entry.nan_count or 0) in (0, bounds.nan_count or 0)
    refuse(not same, file.name, "table.cft has other bounds or another number of NaN than the statistics of the file")


def check_chunk_column(column, found, where):
    statistics = column.statistics or Message()
    counts = (statistics.present_count or 0, statistics.null_count or 0, statistics.nan_count or 0)
    right = counts == tuple(sum(part[i] for part in found) for i in range(3))
    for _, _, _, low, high in found:
        right = right and (low is None or statistics.min_key is None or statistics.min_key <= low)
        right = right and (high is None or statistics.max_key is None or high <= statistics.max_key)
    refuse(not right, where, f"the statistics of column id {column.column_id or 0} are not those of the parts")


def check_copies(table):
    """Checks that the copies in the folders of the parts say what table.cft says."""
    copy, parts = rebuild(table.path)
    described = lambda part: (part.directory, part.num_rows, part.order, {
        i: {k: v for k, v in entry.items() if k != "column_id"} for i, entry in part.by_id.items() if i in table.ids})
    fields = lambda message: (message.schema, message.key_columns, message.nulls_last, message.next_column_id, message.key_index_id,
                              message.merge_rule)
    refuse(fields(copy.message) != fields(table.message), table.path, "the newest copy has another schema than table.cft")
    refuse([described(part) for part in parts] != [described(part) for part in table.parts], table.path,
           f"the copies describe {len(parts)} parts, other ones than the {len(table.parts)} of table.cft")


def array_entries(row, nullable):
    """An array as a record: (repetition, definition, value)."""
    empty = 1 if nullable else 0
    if not row:
        return [(0, 0 if row is None else empty, None)]
    return [(1 if i else 0, empty + (1 if value is None else 2), value) for i, value in enumerate(row)]
