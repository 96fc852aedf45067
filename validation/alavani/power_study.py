"""The published power study reproduced, and what its models are worth for programs they have not seen.

Run ``python -m validation.alavani.power_study [--data FOLDER] [--cache FOLDER]`` from the repository root:
``FOLDER`` holds the public data sets (default ``../shared/data``). Every cross-validation is kept in a file
of the cache (default ``build/power_study``), so that an interrupted run goes on where it was. All of it takes
about half an hour of processor time. The neural networks need the extra ``ann``.
Writes ``docs/validation/power_study.md``.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tomllib
import warnings
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from validation import ROOT
from validation.alavani import power_beyond, power_published
from validation.alavani.power_format import Study
from validation.alavani.power_runs import Runs
from warpwatt.lab.learn.errors import MissingPackageError
from warpwatt.lab.learn.regressors import regressors

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = ROOT / "docs" / "validation" / "power_study.md"
WORDS = ROOT / "validation" / "alavani" / "power_study.toml"
PACKAGES = ("numpy", "scikit-learn", "xgboost-cpu", "catboost", "hdbscan", "shap", "torch")


def main(arguments: Sequence[str] = ()) -> None:
    """Print the page and write it."""
    options = _options(arguments)
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    runs = Runs(options.cache, say=lambda text: print(text, file=sys.stderr))
    text = page(Study(options.data, runs))
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def page(study: Study) -> str:
    """Return the page: protocol, then every part with its table."""
    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    made = {part["table"]: _made(part["table"], study) for part in words["part"]}
    parts = [
        f"## {each['title']}\n\n{each['text'].strip()}\n\n{made[each['table']]}" for each in words["part"]
    ]
    return "\n\n".join([_protocol(study, words["protocol"]), *parts]) + "\n"


def _made(name: str, study: Study) -> str:
    """Return the table of that name, or why there is none."""
    function = getattr(power_published, name, None) or getattr(power_beyond, name)
    try:
        return str(function(study))
    except MissingPackageError as error:
        return f"Not computed: {error.message} ({error.hint})."


def _protocol(study: Study, text: str) -> str:
    """Return the head of the page. Data loaded here say what was left out."""
    git = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    sets = ("k20_smaller", "k20_larger", "maxwell", "v100")
    lines = []
    for name in sets:
        data = study.samples(name)
        reasons = ", ".join(f"{count} ({why})" for why, count in data.left_out.items())
        programs = len(set(data.programs))
        lines.append(f"- `{name}`: {len(data)} rows of {programs} programs; left out: {reasons}.")
    renamed = [
        f"- {one.title}: {'; '.join(f'`{k}`: {v}' for k, v in one.renamed.items())}."
        for one in regressors().values()
        if one.renamed
    ]
    return text.format(
        date=datetime.now(UTC).date().isoformat(),
        commit=commit or "unknown",
        data="\n".join(lines),
        renamed="\n".join(renamed),
        versions=", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        machine=f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
    ).strip()


def _version(name: str) -> str:
    try:
        return version(name)
    except ModuleNotFoundError:
        return "(not installed)"


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "power_study")
    return parser.parse_args(list(arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
