"""Opens files and tables with the library of arrow_library.cc, as objects that Arrow libraries for Python accept."""
import ctypes
import os


class Failed(Exception):
    """The library returned an error."""


class Stream:
    """An Arrow stream: pass it to pyarrow.RecordBatchReader.from_stream, nanoarrow.ArrayStream or polars.DataFrame. Only once."""

    def __init__(self, library, function, *arguments):
        self.struct = (ctypes.c_void_p * 5)()
        error = ctypes.create_string_buffer(1000)
        if getattr(library, function)(*arguments, ctypes.byref(self.struct), error) != 0:
            raise Failed(error.value.decode())

    @property
    def address(self):
        return ctypes.addressof(self.struct)

    def __arrow_c_stream__(self, requested_schema=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(self.address, b"arrow_array_stream", None)


class Opened:
    """An open file or table. stream(...) exports its rows."""

    def __init__(self, library, kind, path):
        self.library, self.kind, error = library, kind, ctypes.create_string_buffer(1000)
        open_ = getattr(library, f"cfile_test_open_{kind}")
        open_.restype = ctypes.c_void_p
        self.handle = open_(path.encode(), error)
        if not self.handle:
            raise Failed(error.value.decode())

    def __del__(self):
        if getattr(self, "handle", None):
            getattr(self.library, f"cfile_test_close_{self.kind}")(ctypes.c_void_p(self.handle))

    def stream(self, columns=None, views=False, dictionaries=True, batch_rows=0, column_only=False):
        options = [int(views), int(dictionaries), ctypes.c_size_t(batch_rows)]
        if self.kind == "file":
            options.append(int(column_only))
        else:
            options.insert(0, None if columns is None else "".join(name + "\n" for name in columns).encode())
        return Stream(self.library, f"cfile_test_export_{self.kind}", ctypes.c_void_p(self.handle), *options)


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def open(self, path):
        return Opened(self.library, "table" if os.path.isdir(path) else "file", path)

    def stream(self, path, **options):
        """The rows of a file or table, which is closed again: the stream keeps what it needs."""
        return self.open(path).stream(**options)


def import_stream(library, source, path, encoding="auto", compression="none"):
    """Writes a table from an object with __arrow_c_stream__."""
    capsule = source.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    error = ctypes.create_string_buffer(1000)
    address = ctypes.c_void_p(pointer(capsule, b"arrow_array_stream"))
    if library.cfile_test_import_table(address, path.encode(), encoding.encode(), compression.encode(), error):
        raise Failed(error.value.decode())
