"""Sources as they were at a commit of their git repository, with the headers that they include.

Files are written once into the cache, under the commit's name, so that a second comparison compiles nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from shutil import which

from warpwatt.core.errors import InputError, ToolchainError
from warpwatt.core.folders import cache_directory
from warpwatt.frontend.compiled import Source

_INCLUDE = re.compile(rb'^\s*#\s*include\s*["<]([^">\n]+)[">]', re.MULTILINE)
_SHORT = 9
"""Characters of a commit's name that are shown."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A source as it was: what front ends read, where its headers are, and what to say about it."""

    source: Source
    include: tuple[str, ...]
    label: str
    names: dict[str, str] = field(default_factory=dict)
    """Written file to the name that users know."""
    remarks: tuple[str, ...] = ()


def parse_range(text: str) -> tuple[str, str]:
    """Read ``A..B``; ``A`` or ``A..`` compares with the files as they are now, whose name is empty.

    >>> parse_range("v1.0..main"), parse_range("HEAD")
    (('v1.0', 'main'), ('HEAD', ''))
    """
    old, _, new = text.partition("..")
    if not old or ".." in new or new.startswith("."):
        hint = "write --commits A..B, or A.. for the file as it is"
        raise InputError(f"not two commits: {text!r}", hint=hint)
    return old, new


def checkout(file: Path, revision: str, include: Iterable[str] = ()) -> Checkout:
    """Return a file as it was at a commit; an empty ``revision`` means as it is now.

    Quoted and angled includes are followed inside the repository; what the commit does not hold is read as
    it is now, and the remarks say so.

    Raises
    ------
    InputError
        If there is no repository, no such commit, or the file is not in it.
    ToolchainError
        If git is missing.
    """
    if not revision:
        from warpwatt.frontend.source import read_source

        return Checkout(read_source(file), tuple(include), "now")
    tree = _Tree.at(file, revision)
    return tree.checkout(file, tuple(include))


@dataclass(frozen=True, slots=True)
class _Tree:
    """The files of one commit."""

    root: Path
    commit: str
    revision: str
    files: frozenset[str]

    @classmethod
    def at(cls, file: Path, revision: str) -> _Tree:
        """Find the repository around a file, and the commit."""
        folder = next(parent for parent in file.resolve().parents if parent.is_dir())
        try:
            root = Path(_git(folder, "rev-parse", "--show-toplevel").decode().strip())
        except InputError:
            raise InputError("not in a git repository", file=file, hint="compare two files instead") from None
        try:
            told = _git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        except InputError:
            raise InputError(f"no commit {revision!r} in {root}", hint="see `git log --oneline`") from None
        commit = told.decode().strip()
        listed = _git(root, "ls-tree", "-r", "--name-only", "-z", commit)
        return cls(root, commit, revision, frozenset(_inside(listed)))

    def checkout(self, file: Path, include: tuple[str, ...]) -> Checkout:
        """Write a file and what it includes, and return them."""
        name = self._name(file)
        if name not in self.files:
            hint = "it may have had another name: `git log --follow` says which; compare two files then"
            raise InputError(f"not in commit {self.revision}", file=file, hint=hint)
        folders = [inner for one in include if (inner := self._name(Path(one))) is not None]
        wanted, now = self._with_headers(name, folders)
        place = cache_directory() / "commits" / self.commit
        names = {str(place / one): one for one in wanted}
        for one in wanted:
            self._write(one, place)
        searched = tuple(str(place / folder) for folder in folders if (place / folder).is_dir())
        path = place / name
        shown = ", ".join(sorted(now))
        remarks = (f"{shown} not in {self.revision}: read as it is now",) if now else ()
        # the folders of today come last: they only hold what the commit does not
        beside = (str(file.resolve().parent), *include) if now else include
        source = Source(str(path), path.read_bytes(), path)
        return Checkout(source, (*searched, *beside), self._label(), names, remarks)

    def _label(self) -> str:
        known = self.commit.startswith(self.revision)
        return self.revision if known else f"{self.revision} ({self.commit[:_SHORT]})"

    def _name(self, path: Path) -> str | None:
        """Return a path as git names it, None outside the repository."""
        try:
            return path.resolve().relative_to(self.root.resolve()).as_posix()
        except ValueError:
            return None

    def _with_headers(self, name: str, folders: list[str]) -> tuple[list[str], set[str]]:
        """Return a file and all it includes from the commit, and what is only there today."""
        wanted, now, pending = [name], set(), [name]
        while pending:
            file = pending.pop()
            for included in self._included(file):
                places = [str(PurePosixPath(folder) / included) for folder in (_folder(file), *folders)]
                found = next((one for place in places if (one := _normal(place)) in self.files), None)
                if found is not None and found not in wanted:
                    wanted.append(found)
                    pending.append(found)
                elif found is None and any((self.root / place).is_file() for place in places):
                    now.add(included)
        return wanted, now

    def _included(self, file: str) -> Iterator[str]:
        for name in _INCLUDE.findall(_git(self.root, "cat-file", "blob", f"{self.commit}:{file}")):
            yield name.decode("utf-8", "replace")

    def _write(self, name: str, place: Path) -> None:
        target = place / name
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            scratch = target.with_name(f"{target.name}.writing")
            scratch.write_bytes(_git(self.root, "cat-file", "blob", f"{self.commit}:{name}"))
            scratch.replace(target)


def _inside(listed: bytes) -> Iterator[str]:
    """Yield the names of a list that stay inside the folder that they are written to."""
    for name in listed.decode("utf-8", "replace").split("\0"):
        if not name.startswith("/") and ".." not in name.split("/"):
            yield name


def _folder(file: str) -> str:
    return PurePosixPath(file).parent.as_posix()


def _normal(place: str) -> str:
    """Return a path without ``.`` and ``..``.

    >>> _normal("src/../include/./a.h")
    'include/a.h'
    """
    parts: list[str] = []
    for part in place.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


_INERT = {
    # Somebody else's configuration must start nothing: a missing object is missing, not fetched by a command
    # that the repository names, and nobody is asked for a password.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
}


def _git(folder: Path, *words: str) -> bytes:
    """Return what git says; raise :class:`InputError` where it refuses."""
    program = which("git")
    if program is None:
        raise ToolchainError("git is not installed", hint="install git, or compare two files")
    safe = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    command = [program, "-C", str(folder), *safe, *words]
    done = subprocess.run(
        command, capture_output=True, check=False, stdin=subprocess.DEVNULL, env=os.environ | _INERT
    )
    if done.returncode:
        raise InputError(done.stderr.decode("utf-8", "replace").strip() or "git failed", file=folder)
    return done.stdout
