"""What a user meets who installs a program today: an environment of its own with the newest of everything, and the
first lines of what its documentation shows."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

OURS = """
import maskwell as mw
design = mw.designs.minimax(["never", "once", "often"], epsilon=1.0)
mw.estimate(design.mask(["never", "often", "never", "once"] * 250)).summary()
"""
DIFFPRIVLIB = """
from sklearn import datasets
from sklearn.model_selection import train_test_split
dataset = datasets.load_iris()
X_train, X_test, y_train, y_test = train_test_split(dataset.data, dataset.target, test_size=0.2)
from diffprivlib.models import GaussianNB
clf = GaussianNB()
clf.fit(X_train, y_train)
clf.predict(X_test)
"""
PURE_LDP = """
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
client_olh = LHClient(epsilon=3, d=4, use_olh=True)
server_olh = LHServer(epsilon=3, d=4, use_olh=True)
for item in [1] * 4000 + [2] * 3000 + [3] * 2000 + [4] * 1000:
    server_olh.aggregate(client_olh.privatise(item))
server_olh.estimate(1)
"""
MULTI_FREQ_LDPY = """
import numpy as np
from multi_freq_ldpy.long_freq_est.L_SUE import L_SUE_Client, L_SUE_Aggregator_MI
data = np.random.randint(5, size=10_000)
L_SUE_Aggregator_MI([L_SUE_Client(input_data, 5, 2, 1) for input_data in data], 2, 1)
"""
PEERS = {"diffprivlib": DIFFPRIVLIB, "pure-ldp": PURE_LDP, "multi-freq-ldpy": MULTI_FREQ_LDPY}


def of_peers() -> Mapping[str, str]:
    """A list in words: for each, whether its example runs, or how it fails."""
    told = [_one(name, name, example) for name, example in PEERS.items()]
    return {"found": "; ".join(told)}


def of_ours() -> Mapping[str, str]:
    """The same for this package, from here."""
    return {"found": _one(str(ROOT), "maskwell", OURS)}


def _one(source: str, name: str, example: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=300)
        install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", source]
        subprocess.run(install, check=True, capture_output=True, timeout=900)
        versions = _versions(python)
        # Isolated, so that it sees what was installed and nothing beside it.
        ran = subprocess.run(
            [python, "-I", "-W", "ignore", "-c", example], capture_output=True, text=True, cwd=folder, timeout=300
        )
    what = f"{name} {versions[name]}"
    if ran.returncode == 0:
        return f"{what} runs"
    error = re.sub(r" \(/.*\)$", "", ran.stderr.strip().splitlines()[-1])
    beside = f" with scikit-learn {versions['scikit-learn']}" if "scikit-learn" in versions else ""
    return f"{what}{beside} ends in `{error}`"


def _versions(python: Path) -> dict[str, str]:
    listed = subprocess.check_output([python, "-m", "pip", "list", "--format", "freeze"], text=True, timeout=60)
    return dict(line.split("==", 1) for line in listed.lower().splitlines() if "==" in line)
