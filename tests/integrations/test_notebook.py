"""The magic in a real IPython shell, and the example notebook executed cell by cell."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

from warpwatt.core.prediction import Prediction
from warpwatt.integrations.notebook import CellError
from warpwatt.results import Result, Results

InteractiveShell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell
pytestmark = pytest.mark.toolchain
NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"
KERNEL = """\
__global__ void scale(int n, float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
"""
LAUNCH = "--grid 4096 --block 256 --arg n={n} --arg x=f32[n]"


@pytest.fixture
def shell():
    InteractiveShell.clear_instance()
    config = import_module("traitlets.config").Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell.instance(config=config)
    shell.display_formatter.active_types = ["text/plain", "text/html"]
    shell.run_cell("%load_ext warpwatt\nn = 1 << 20").raise_error()
    yield shell
    InteractiveShell.clear_instance()


def run(shell, cell):
    done = shell.run_cell(cell)
    done.raise_error()
    return done.result


def failure(shell, capsys, cell):
    """Return what the user sees of a cell that fails as expected."""
    capsys.readouterr()
    done = shell.run_cell(cell)
    assert isinstance(done.error_in_exec, CellError)
    seen = capsys.readouterr()
    text = seen.out + seen.err
    assert "Traceback" not in text
    assert ".py" not in text
    return text


def test_a_card_and_a_variable(shell):
    result = run(shell, f"%%warpwatt {LAUNCH} --gpu a100 --into p\n{KERNEL}")
    assert isinstance(result, Result)
    assert shell.user_ns["p"] is result
    shown, _ = shell.display_formatter.format(result)
    assert shown["text/plain"].startswith("<scale(int, float*) on NVIDIA A100")
    assert "x[i] *= 2;" in shown["text/html"]
    assert run(shell, "p.time.value") == result.time.value
    hottest = max(result.lines, key=lambda line: line.time_share)
    assert hottest.line == 4  # as the cell counts, the magic's own line being the first


def test_several_gpus_make_a_table(shell):
    result = run(shell, f"%%warpwatt {LAUNCH} --gpu a100,t4\n{KERNEL}")
    assert isinstance(result, Results)
    shown, _ = shell.display_formatter.format(result)
    assert shown["text/html"].count("★") == 3  # the fastest, the thriftiest, the legend
    assert len(shown["text/plain"].splitlines()) == 2


def test_the_launch_may_stand_in_the_cell(shell):
    text = "// warpwatt: --grid 8 --block 32 --arg n=256 --arg x=f32[n]\n" + KERNEL
    assert run(shell, f"%%warpwatt --gpu a100\n{text}").case.launch.grid.x == 8


def test_the_line_magic_reads_files_and_variables(shell, tmp_path):
    (tmp_path / "k.cu").write_text(KERNEL)
    one = run(shell, f"%warpwatt {tmp_path}/k.cu {LAUNCH} --gpu a100")
    shell.user_ns["source"] = KERNEL
    two = run(shell, f"%warpwatt source {LAUNCH} --gpu a100")
    shell.user_ns["file"] = tmp_path / "k.cu"
    three = run(shell, f"%warpwatt file {LAUNCH} --gpu a100")
    assert one.time == two.time == three.time


def test_a_compiler_error_points_at_the_line_of_the_cell(shell, capsys):
    text = failure(shell, capsys, f"%%warpwatt {LAUNCH} --gpu a100\n{KERNEL.replace('2;', 'foo;')}")
    assert 'error: cell:4: nvcc for sm_80: identifier "foo" is undefined' in text
    assert "    4 |     if (i < n) x[i] *= foo;" in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--grid 4096", "fix: give --block"),
        ("--grd 4096", "No such option '--grd'"),
        (f"{LAUNCH} --gpu nosuch", "no GPU called 'nosuch'"),
        (f"{LAUNCH} --into 3p", "not the name of a variable"),
        ("--grid 'a", "cannot read the options"),
        (LAUNCH.replace("f32[n]", "f32[3]"), "cell:4: thread (0, 0, 0)"),
    ],
)
def test_mistakes_have_no_traceback(shell, capsys, words, expected):
    assert expected in failure(shell, capsys, f"%%warpwatt {words}\n{KERNEL}")


def test_a_failed_cell_stops_the_notebook(shell):
    assert not shell.run_cell(f"%%warpwatt\n{KERNEL}").success


def test_help(shell, capsys):
    assert run(shell, "%warpwatt --help") is None
    assert "--into NAME" in capsys.readouterr().out


def test_predictions_from_elsewhere_are_shown_too(shell):
    result = run(shell, f"%%warpwatt {LAUNCH} --gpu a100\n{KERNEL}")
    bare = Prediction(*(getattr(result, name) for name in Prediction.__dataclass_fields__))
    shown, _ = shell.display_formatter.format(bare)
    assert shown["text/plain"] == repr(result)
    assert "<table" in shown["text/html"]


def test_the_example_notebook_runs(shell, monkeypatch):
    monkeypatch.chdir(NOTEBOOK.parent)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4
    for cell in cells:
        shell.run_cell("".join(cell["source"]), store_history=True).raise_error()


def test_the_example_notebook_runs_in_a_kernel():
    """The same through Jupyter's own machinery, where that is installed."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(NOTEBOOK.parent)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("text/html" in output.get("data", {}) for output in outputs)
