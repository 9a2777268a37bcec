"""The arrays that channels compute with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Exact = NDArray[Any]  # of Fractions, or of integers
