"""Dask needs no code of this package: the pieces of cfile.fragments can be pickled."""
import dask
import dask.dataframe
import pyarrow

import cfile


def test_dask(tmp_path):
    for begin in (0, 600):
        data = pyarrow.table({"n": range(begin, begin + 600), "even": [n % 2 == 0 for n in range(begin, begin + 600)]})
        (cfile.append if begin else cfile.write)(tmp_path / "t", data)
    pieces = cfile.fragments(tmp_path / "t", 4, where=cfile.col("n") < 1000)
    assert len(pieces) > 1
    frame = dask.dataframe.from_map(cfile.Fragment.to_pandas, pieces, meta=cfile.open(tmp_path / "t")[:0].to_pandas())
    with dask.config.set(scheduler="processes", num_workers=2):
        assert frame.groupby("even")["n"].sum().compute().to_dict() == {True: sum(range(0, 1000, 2)), False: sum(range(1, 1000, 2))}
        assert len(frame) == 1000
