"""What a project says once: read from the nearest file, refused where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpwatt.commands.main import app
from warpwatt.core.errors import InputError
from warpwatt.request.settings import KEYS, PROJECT, project_settings, user_file, user_settings
from warpwatt.storage.witness import witnessed


def test_the_nearest_file_with_a_table_counts(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / PROJECT).write_text(
        '[tool.warpwatt]\ngpu = ["a100", "t4"]\ninclude = ["inc"]\nclock = 1410\n'
    )
    (inner / PROJECT).write_text("[tool.ruff]\nline-length = 110\n")
    found = project_settings(inner)
    assert found.file == tmp_path / PROJECT
    assert found.values == {"gpu": "a100,t4", "include": (str(tmp_path / "inc"),), "clock": "1410"}
    (inner / PROJECT).write_text('[tool.warpwatt]\ngpu = "l4"\n')
    assert project_settings(inner).values == {"gpu": "l4"}


def test_without_a_table_nothing_is_said(tmp_path):
    assert project_settings(tmp_path).values == {}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[tool.warpwatt]\ngpus = 'a100'", "unknown key 'gpus'"),
        ("[tool.warpwatt]\nmaxrregcount = true", "maxrregcount is not a number"),
        ("[tool.warpwatt]\ngpu = 3", "gpu is not a text or an array"),
        ("[tool]\n'warpwatt' = 3 # tool.warpwatt", "not a table"),
        ("[tool.warpwatt\n", "1: not TOML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, content, said):
    (tmp_path / PROJECT).write_text(content)
    with pytest.raises(InputError, match=said) as caught:
        project_settings(tmp_path)
    assert caught.value.file == str(tmp_path / PROJECT)


def test_a_file_that_may_appear_is_heard_of(tmp_path):
    with witnessed() as witness:
        project_settings(tmp_path)
    assert str(tmp_path / PROJECT) in witness.inputs()


def test_every_key_is_an_option_of_predict():
    from warpwatt.commands.predict import predict

    assert set(KEYS) <= {option.name for option in predict.params if option.envvar}


def test_what_could_run_a_program_is_ignored_and_said(tmp_path):
    text = "[tool.warpwatt]\nclock = 1410\nflags = ['-G']\ninclude = ['../inc', '/usr', 'inc']\n"
    (tmp_path / PROJECT).write_text(text)
    found = project_settings(tmp_path)
    assert found.values == {"clock": "1410", "include": (str(tmp_path / "inc"),)}
    flags, *folders = found.remarks
    assert "flags of" in flags
    assert str(user_file()) in flags
    assert [remark.split()[2] for remark in folders] == ["../inc", "/usr"]


@pytest.fixture
def own(tmp_path, monkeypatch) -> Path:
    """Return the user's own file of settings, in a folder of settings of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    user_file().parent.mkdir(parents=True)
    return user_file()


def test_the_users_own_file_may_say_more(own, tmp_path):
    assert own == tmp_path / "config" / "warpwatt" / "config.toml"
    assert user_settings().values == {}
    own.write_text("flags = ['-G']\ninclude = ['/usr']\ngpu = 'l4'\ntrusted = ['~/work']\n")
    trusted = (str(Path.home() / "work"),)
    assert user_settings().values == {"flags": ("-G",), "include": ("/usr",), "gpu": "l4", "trusted": trusted}
    own.write_text("flag = ['-G']\n")
    with pytest.raises(InputError, match="unknown key 'flag'"):
        user_settings()


def test_a_project_yields_to_the_user_to_the_environment_and_to_options(own, tmp_path, monkeypatch):
    """Each source says the clock; ``flags`` stand in the user's file, the environment or behind ``--``."""
    (tmp_path / PROJECT).write_text("[tool.warpwatt]\nclock = 1\nlevel = 'ptx'\n")
    monkeypatch.chdir(tmp_path)
    said = []

    def asked(words: str) -> dict[str, object]:
        with app.make_context("warpwatt", words.split()) as context:
            app.invoke(context)
        return said.pop()

    for verb in ("predict", "sweep"):
        command = app.get_command(None, verb)
        monkeypatch.setattr(command, "callback", lambda **given: said.append(given))
        monkeypatch.setattr(
            command,
            "params",
            [p for p in command.params if p.name in ("clock", "flags", "source", "sources")],
        )
    assert asked("predict k.cu")["clock"] == "1"
    own.write_text("clock = 2\nflags = ['-O1']\n")
    for verb in ("predict", "sweep"):
        assert asked(f"{verb} k.cu")["flags"] == ("-O1",)
    assert asked("predict k.cu")["clock"] == "2"
    monkeypatch.setenv("WARPWATT_CLOCK", "3")
    monkeypatch.setenv("WARPWATT_FLAGS", "-O2 -G")
    for verb in ("predict", "sweep"):
        assert asked(f"{verb} k.cu")["flags"] == ("-O2", "-G")
        assert asked(f"{verb} k.cu -- -O3")["flags"] == ("-O3",)
    assert asked("predict k.cu")["clock"] == "3"
    assert asked("predict k.cu --clock 4")["clock"] == "4"
