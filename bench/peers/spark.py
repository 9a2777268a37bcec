"""Spark on this machine, as the bench runs it: two threads, and no words."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def session() -> Iterator[Any]:
    """A session that ends with the block."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    local = SparkSession.builder.master("local[2]").appName("bench").config("spark.ui.enabled", "false")
    spark = local.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()
