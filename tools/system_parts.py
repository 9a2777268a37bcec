"""Install the programs that the tests drive and pip cannot bring: browser, database server, Node.js, Java, false clock.

`make test` runs this before the tests. What is already there is left alone; what is missing is installed
where a Debian package manager and the right to use it are there; otherwise it says what to install and fails.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def postgres_programs() -> Path | None:
    """The folder with PostgreSQL's initdb, wherever the system keeps it."""
    folders = [
        *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True),
        Path("/usr/local/bin"),
        Path("/usr/bin"),
    ]
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else next((f for f in folders if (f / "initdb").exists()), None)


def faketime() -> Path | None:
    """The library that gives a program another clock."""
    return next(iter(sorted(Path("/usr/lib").glob("**/faketime/libfaketimeMT.so.1"))), None)


def chromium() -> str | None:
    """The browser that Playwright drives; Playwright's own download is not used."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def missing() -> dict[str, list[str]]:
    """What is not there, and the Debian packages that bring it."""
    parts = {
        "Java": (shutil.which("java"), ["openjdk-17-jre-headless"]),
        "Chromium": (chromium(), ["chromium"]),
        "libfaketime": (faketime(), ["libfaketime"]),
        "PostgreSQL": (postgres_programs(), ["postgresql"]),
        "Node.js": (shutil.which("node"), ["nodejs"]),
        "npm": (shutil.which("npm"), ["npm"]),
    }
    return {name: packages for name, (found, packages) in parts.items() if found is None}


def install(packages: list[str]) -> None:
    """Install Debian packages, as root or by sudo without a password."""
    rights = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "--quiet"], ["apt-get", "install", "--quiet", "--yes", *packages]):
        subprocess.run([*rights, *command], check=True, env=environment, stdout=subprocess.DEVNULL)


def main() -> None:
    """Install what is missing, or say how to."""
    lacking = missing()
    if not lacking:
        return
    packages = [package for names in lacking.values() for package in names]
    print(f"Installing {', '.join(lacking)} (Debian packages {' '.join(packages)}) ...", flush=True)
    try:
        install(packages)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"could not install: {error}", file=sys.stderr)
    if still := missing():
        sys.exit(f"The tests need {', '.join(still)}; install them with your system's package manager and run again.")


if __name__ == "__main__":
    main()
