"""What the machine can do at all: random bytes, copies of memory, and files read and written, without any masking."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.frame.stages import Stage
from maskwell.sampling.entropy import CounterStream
from maskwell.sampling.threads import in_threads, worker_count


def keystream(n: int, words: int) -> Iterator[Stage]:
    """``words`` 32-bit words a record and nothing else, in the threads and chunks that masking uses."""
    chunk = min(1 << 18, (1 << 19) // words // 16 * 16)
    truth = np.zeros(chunk, np.uint32)

    def fill(starts: range) -> None:
        stream = CounterStream(os.urandom(32), "secure")
        for start in starts:
            stream.slots(start, truth[: min(chunk, n - start)], words)

    def work() -> None:
        workers = worker_count(n, chunk)
        in_threads(fill, [range(w * chunk, n, workers * chunk) for w in range(workers)])

    yield Stage(f"{4 * words} keystream bytes", n, work)


def memory(n: int) -> Iterator[Stage]:
    """An int64 column read into one of bytes, as masking must at least do."""
    values = np.arange(n) % 100
    out = np.empty(n, np.uint8)
    yield Stage("copy of memory", n, lambda: np.copyto(out, values, casting="unsafe"))


def files(n: int) -> Iterator[Stage]:
    """A Parquet file of an id and an answer, read and written again in batches."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "source.parquet", Path(folder) / "target.parquet"
        pq.write_table(pa.table({"id": np.arange(n), "answer": (np.arange(n) * 7919 % 100).astype(np.uint8)}), source)

        def copy() -> None:
            reader = pq.ParquetFile(source)
            with pq.ParquetWriter(target, reader.schema_arrow) as writer:
                for batch in reader.iter_batches(1 << 20):
                    writer.write_batch(batch)

        yield Stage("read and write Parquet", n, copy)
