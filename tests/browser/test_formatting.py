"""Scripts and styles are written as Prettier writes them, so that no change is about spaces."""

import subprocess

from tests.browser.harness import HERE, SHIPPED, node_program, npm_part


def test_scripts_and_styles_are_formatted() -> None:
    prettier = npm_part("prettier/bin/prettier.cjs")
    assets = SHIPPED.parent / "respond" / "assets"
    files = [
        *SHIPPED.glob("*.[jt]s"),
        *assets.glob("*.js"),
        *assets.glob("*.css"),
        *HERE.glob("*.[jt]s"),
        *HERE.glob("*.mjs"),
    ]
    command = [node_program(), str(prettier), "--config", str(HERE / "prettier.json"), "--check", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
