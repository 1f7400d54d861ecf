"""Opens files and tables with the library of arrow_library.cc, as objects that Arrow libraries for Python accept."""
import ctypes


class Failed(Exception):
    """The library could not begin the stream."""


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


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def file(self, path, views=False, dictionaries=True, batch_rows=0, column_only=False):
        return Stream(self.library, "cfile_test_export_file", path.encode(), int(views), int(dictionaries),
                      ctypes.c_size_t(batch_rows), int(column_only))

    def table(self, path, columns=None, views=False, dictionaries=True, batch_rows=0):
        names = None if columns is None else "".join(name + "\n" for name in columns).encode()
        return Stream(self.library, "cfile_test_export_table", path.encode(), names, int(views), int(dictionaries),
                      ctypes.c_size_t(batch_rows))
