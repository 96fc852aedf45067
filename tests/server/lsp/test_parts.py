"""The server's parts on their own: texts, settings, moved code."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.workspace import PositionCodec

from warpwatt.server.lsp.facts import Facts, LineFact, Query, Related, Remark
from warpwatt.server.lsp.moved import entry_codes, line_map, moved
from warpwatt.server.lsp.settings import KEYS, Settings
from warpwatt.server.lsp.settings import settings_for as settings_of_files
from warpwatt.server.lsp.source import annotated_launches, ignored, kernels, without_comments
from warpwatt.server.lsp.text import PlainDocument, Text, still

PIECES = st.lists(
    st.sampled_from(
        [
            "__global__ ",
            "void ",
            "f",
            "(int n)",
            "{",
            "}",
            "//",
            "/*",
            "*/",
            '"',
            "'",
            "\\",
            "\n",
            " ",
            "x",
            ";",
            "warpwatt: --grid 4",
            "template <int N>",
            'R"(',
            ')"',
            "\r",
            "\t",
            "é",
            "😀",
            "<",
            ">",
            ",",
        ]
    ),
    max_size=40,
).map("".join)


@given(PIECES)
def test_any_text_can_be_read(text):
    kernels(text), annotated_launches(text), ignored(text)
    assert without_comments(text).count("\n") == text.count("\n")


@given(PIECES)
def test_what_is_left_without_comments_has_none(text):
    once = without_comments(text)
    assert without_comments(once) == once


def test_comments_that_continue_and_literals_stay():
    kept = '// a \\\nint x;\nR"(// b)"; "//"; \'"\'; a = b; \\\n'
    assert without_comments(kept) == kept
    assert without_comments("f(); // g\n/* h */ i /* j") == "f();\n        i /* j"


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_lines_that_stand_still_are_the_same(before, now):
    found = still("\n".join(before), "\n".join(now))
    old, new = "\n".join(before).split("\n"), "\n".join(now).split("\n")
    assert all(old[a - 1] == new[b - 1] for a, b in found.items())
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize(
    ("encoding", "columns"),
    [("utf-8", (5, 9)), ("utf-16", (3, 7)), ("utf-32", (2, 6))],
)
def test_columns_are_counted_in_the_clients_units(encoding, columns):
    text = Text.of("a\n\U0001f600 word\n", PositionCodec(types.PositionEncodingKind(encoding)))
    found = text.word(2, "word")
    assert (found.start.line, found.start.character, found.end.character) == (1, *columns)


@given(st.text(st.sampled_from("ab\n\r\x0c\u2028\U0001f600"), max_size=20))
def test_lines_of_a_document_are_those_of_its_text(source):
    document = PlainDocument("file:///a.cu", source)
    assert "".join(document.lines) == source
    ends = [line.rstrip("\r\n") for line in document.lines]
    assert ends == Text.of(source, PositionCodec()).lines[: len(ends)]


def test_the_extension_offers_every_setting_and_is_javascript():
    folder = Path(__file__).parents[3] / "editors" / "vscode"
    said = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    offered = {name.removeprefix("warpwatt.") for name in said["contributes"]["configuration"]["properties"]}
    assert offered == {*KEYS, "command", "debounce"}
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on PATH: the extension's syntax is not checked")
    bundled = said["scripts"]["vscode:prepublish"].split()
    assert Path(bundled[-1].removeprefix("--outfile=")) == Path(said["main"])
    subprocess.run([node, "--check", folder / bundled[1]], check=True)


def settings_for(document: Path, editor: dict[str, object]) -> Settings:
    """Return the settings of a document in a folder that is trusted."""
    return settings_of_files(document, editor, ("/",))


def test_settings_are_laid_over_one_another(tmp_path):
    (tmp_path / "warpwatt.toml").write_text(
        'gpu = ["h200", "a100"]\nclock = 1410\ndefine = { TILE = 16, FAST = true }\ninclude = ["inc"]\n'
        '[[file]]\npath = "src/*.cu"\nmaxrregcount = 64\n'
        '[[launch]]\nkernel = "f"\ngrid = [4, 4]\nblock = 64\nfile = "src/a*"\n'
    )
    found = settings_for(tmp_path / "src" / "a.cu", {"gpu": "t4", "include": [], "flags": ["-use_fast_math"]})
    assert found.problems == ()
    assert found.query == Query(
        gpu="t4",
        clock="1410",
        define=("TILE=16", "FAST=true"),
        include=(str(tmp_path / "inc"),),
        flags=("-use_fast_math",),
        maxrregcount=64,
    )
    assert [(w.kernel, w.grid, w.file) for w in found.launches] == [
        ("f", "4,4", str(tmp_path / "warpwatt.toml"))
    ]
    other = settings_for(tmp_path / "b.cu", {})
    assert other.launches == ()
    assert other.query.maxrregcount is None
    assert other.query.gpu == "h200,a100"


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("gpu = [\n3 4]", 2, "not TOML"),
        ('gpu = "h200"\nx = 1\n', 2, "unknown key 'x'"),
        ("gpu = 3", None, "gpu is not a text"),
        ("launch = 3", None, "launch is not an array of tables"),
        ("[[file]]\ngpu = 'h200'", None, "no path"),
        ("[[file]]\npath = 'a'\ngrid = 3", 3, "unknown key 'grid'"),
        ("[[launch]]\ngrid = 3\nblock = 3", None, "names no kernel"),
        ("[[launch]]\nkernel = 'f'\ngrid = 3", 2, "needs grid and block"),
        ("[[launch]]\nkernel = 'f'\ngird = 3", 3, "unknown key 'gird'"),
        ("maxrregcount = true", None, "maxrregcount is not a number"),
        ("advice = 1", None, "advice is not true or false"),
        ("\x00\xff", None, "not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_file_of_settings_is_said(tmp_path, content, line, said):
    file = tmp_path / "warpwatt.toml"
    file.write_bytes(content.encode("latin-1"))
    (problem,) = settings_for(tmp_path / "a.cu", {}).problems
    assert said in problem.text
    assert problem.file == str(file)
    assert line is None or problem.line == line


def test_settings_of_the_project_lie_below_the_documents(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.warpwatt]\ngpu = "t4"\nclock = 900\n')
    assert settings_for(tmp_path / "a.cu", {}).query == Query(gpu="t4", clock="900")
    (tmp_path / "warpwatt.toml").write_text('gpu = "l4"\n')
    assert settings_for(tmp_path / "a.cu", {}).query == Query(gpu="l4", clock="900")
    (tmp_path / "pyproject.toml").write_text("[tool.warpwatt]\ngpus = 3\n")
    found = settings_for(tmp_path / "a.cu", {"clock": "1000"})
    assert found.query == Query(gpu="l4", clock="1000")
    (problem,) = found.problems
    assert (problem.file, problem.line) == (str(tmp_path / "pyproject.toml"), 2)


FACTS = Facts(
    "f", "f()", "g", "1 × 32", 1.0, 1.0, 1.0, "", "", "", "DRAM", "", 8, "", False,
    (LineFact(7, 0.9, 0.8, "Wait 9 % for the load of line 6", ("reading x",), (Related(6, "line 6"),)),),
    (Remark("spills", 0, "spilled"), Remark("divergence", 7, "on lines 6, 7 and 7")),
)  # fmt: skip


def test_facts_move_with_their_lines():
    found = moved(FACTS, {6: 16, 7: 27})
    assert found.lines[0].line == 27
    assert found.lines[0].waits == (Related(16, "line 16"),)
    assert found.lines[0].stalls == "Wait 9 % for the load of line 16"
    assert [(r.line, r.text) for r in found.remarks] == [(0, "spilled"), (27, "on lines 16, 27 and 27")]
    assert moved(FACTS, {7: 8}) is None, "line 6 is not known"
    assert moved(FACTS, {7: 7}) is FACTS


def test_lines_that_do_not_correspond_are_not_moved():
    a = (("a", 1), ("a", 2))
    assert line_map(a, (("a", 5), ("a", 6)), "a", "a") == {1: 5, 2: 6}
    assert line_map(a, (("a", 5), ("a", 5)), "a", "a") is None, "two lines became one"
    assert line_map((("a", 1), ("a", 1)), (("a", 5), ("a", 6)), "a", "a") is None, "one became two"
    assert line_map(a, (("a", 5),), "a", "a") is None
    assert line_map((("h", 1),), (("h", 2),), "a", "a") is None, "a header has changed"


PTX = """.version 8.0
.visible .entry f(
)
{
	.loc	1 7 3
	%s
	.loc	2 3 1, function_name $L__info_string0, inlined_at 1 8 5
	ret;
}
	.file	1 "/tmp/%s/stdin.cu"
	.file	2 "h.cuh"
	.section	.debug_str
	{
	}
"""


def test_code_is_the_same_wherever_its_lines_and_files_are():
    one = entry_codes(PTX % ("bar.sync 0;", "warpwatt-a"))["f"]
    other = entry_codes((PTX % ("bar.sync 0;", "warpwatt-b")).replace("1 7 3", "1 9 9"))["f"]
    assert one.text == other.text
    assert one.places != other.places
    assert one.places == (("/tmp/warpwatt-a/stdin.cu", 7), ("h.cuh", 3), ("/tmp/warpwatt-a/stdin.cu", 8))
    assert entry_codes(PTX % ("bar.sync 1;", "warpwatt-a"))["f"].text != one.text
    assert replace(one, places=()) != one
