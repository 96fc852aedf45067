"""A server's life: edits faster than answers, work that is dropped, processes that die, hostile input."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest
from lsprotocol import types

from .editor import SOURCE, Editor
from .test_answers import LENS, SCALE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.toolchain


def slow_kernel() -> str:
    """Return a kernel that compilers take minutes for, and that no cache has seen."""
    return f"""// warpwatt: --grid 64 --block 128 --arg x=f32[8192]
__global__ void slow(float *x) {{
    float v = x[threadIdx.x];
#pragma unroll
    for (int k = 0; k < 900; ++k) v = sinf(v * {uuid.uuid4().int % 10**6}.5f) + tanf(v) * x[k];
    x[threadIdx.x] = v;
}}
"""


def command_of(process: psutil.Process) -> list[str]:
    """Return the words a process was started with; none of one that has just ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def workers(editor: Editor) -> list[psutil.Process]:
    """Return the processes that analyse: the fork server's children."""
    family = psutil.Process(editor.process.pid).children(recursive=True)
    servers = [p for p in family if "forkserver" in " ".join(command_of(p))]
    parents = {p.pid for p in servers} - {p.ppid() for p in servers}
    return [p for p in servers if p.pid in parents]


RECURSION = """template <int N> struct A { static const int v = A<N + 1>::v; };
__global__ void f(int *x) { *x = A<0>::v; }
"""


def alive(process: psutil.Process) -> bool:
    """Whether a process is not dead, though nobody may have noticed yet."""
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def compilers(worker: psutil.Process) -> list[psutil.Process]:
    """Return what a process has started."""
    with suppress(psutil.Error):
        return worker.children(recursive=True)
    return []


def test_a_storm_of_edits_has_one_answer_for_the_last(editor, uri):
    editor.open(uri, SCALE)
    editor.answered(uri)
    already = len(editor.diagnosed[uri])
    start = time.monotonic()
    for number in range(50):
        version = editor.change(uri, SCALE.replace("2.0f", f"{number}.5f"))
        time.sleep(max(0.0, start + 0.02 * number - time.monotonic()))
    editor.answered(uri)
    assert [said.version for said in editor.diagnosed[uri][already:]] == [version]


def test_saving_does_not_wait_for_typing_to_pause(editor, uri):
    editor.configure({**editor.settings, "debounce": 10_000})
    editor.open(uri, SCALE)
    editor.answered(uri)
    editor.change(uri, SCALE.replace("2.0f", "3.0f"))
    time.sleep(0.1)
    assert any("updating" in title for title in editor.lenses(uri))
    editor.save(uri)
    editor.wait(lambda: LENS.match(editor.lenses(uri)[0]), 30)


def test_a_newer_text_ends_the_work_on_the_older(editor, uri):
    editor.open(uri, slow_kernel())
    editor.wait(lambda: any(compilers(p) for p in workers(editor)))
    busy = [p for w in workers(editor) if (started := compilers(w)) for p in (w, *started)]
    assert busy
    assert any("predicting" in title for title in editor.lenses(uri)), "the server answers meanwhile"
    editor.change(uri, SCALE)
    assert LENS.match(editor.answered(uri)[0])
    editor.wait(lambda: not any(map(alive, busy)), 5)


def test_closing_ends_the_work_and_clears_what_was_said(editor, uri):
    editor.open(uri, SCALE.replace("--grid 64", "--gird 64"))
    editor.answered(uri)
    assert editor.diagnostics(uri)
    editor.change(uri, slow_kernel())
    time.sleep(0.5)
    editor.close(uri)
    editor.wait(lambda: editor.diagnosed[uri][-1].diagnostics == ())
    said = len(editor.diagnosed[uri])
    time.sleep(0.5)
    assert len(editor.diagnosed[uri]) == said
    assert editor.lenses(uri) == []


def test_work_that_takes_long_has_a_bar_that_cancels_it(editor, uri):
    editor.progress.clear()
    editor.open(uri, slow_kernel())
    (begun,) = editor.wait(lambda: kinds(editor, "begin"))
    assert begun.token in editor.created
    editor._call(
        editor.client.window_work_done_progress_cancel, types.WorkDoneProgressCancelParams(begun.token)
    )
    # A bar of the test before may end meanwhile.
    editor.wait(lambda: [p.token for p in kinds(editor, "end")].count(begun.token) == 1)
    editor.close(uri)


def kinds(editor: Editor, kind: str) -> list[types.ProgressParams]:
    """Return what was heard of one kind of progress."""
    return [p for p in editor.progress if p.value["kind"] == kind]


def test_a_killed_process_is_replaced_and_the_work_done(editor, uri):
    editor.open(uri, slow_kernel())
    editor.wait(lambda: any(compilers(p) for p in workers(editor)))
    editor.change(uri, SCALE.replace("2.0f", "7.5f"))
    kill_all(editor)
    assert LENS.match(editor.answered(uri)[0])
    kill_all(editor)
    editor.change(uri, SCALE.replace("2.0f", "8.5f"))
    assert LENS.match(editor.answered(uri)[0])


def kill_all(editor: Editor) -> None:
    """Kill the processes that analyse, as a machine without memory would, and their compilers."""
    for process in [p for worker in workers(editor) for p in (*compilers(worker), worker)]:
        with suppress(psutil.Error):
            process.kill()


def test_settings_change(editor, uri):
    editor.open(uri, SCALE)
    editor.answered(uri)
    editor.configure({**editor.settings, "gpu": "a100"})
    editor.wait(lambda: "on A100" in editor.lenses(uri)[0])
    editor.configure({**editor.settings, "gpu": "h2oo"})
    editor.wait(lambda: editor.lenses(uri)[0] == "not predicted: see the problems")
    (found,) = editor.diagnostics(uri)
    assert found.code == "gpu"
    assert "h2oo" in found.message
    editor.configure({**editor.settings, "gpu": 7})
    editor.wait(lambda: any(d.code == "settings" for d in editor.diagnostics(uri)))


def test_the_file_of_settings_is_read_watched_and_diagnosed(editor, uri, tmp_path):
    file = tmp_path / "warpwatt.toml"
    file.write_text(
        'gpu = "a100"\ndefine = { FACTOR = 3 }\n\n[[launch]]\nkernel = "scale"\ngrid = 64\nblock = 128\n'
        'args = { n = 8192, x = "f32[n]" }\n'
    )
    editor.open(uri, SCALE.split("\n", 1)[1].replace("2.0f", "FACTOR"))
    (lens,) = editor.answered(uri)
    assert "on A100" in lens
    file.write_text('gpu = "a100"\ndefine = { FACTOR = 3 }\n[[launch]]\nkernel = "scale"\ngird = 4\n')
    editor.touched(file)
    editor.wait(lambda: editor.diagnosed[file.as_uri()] and editor.diagnosed[file.as_uri()][-1].diagnostics)
    (found,) = editor.diagnosed[file.as_uri()][-1].diagnostics
    assert found.range.start.line == 4
    assert "unknown key 'gird'" in found.message
    file.write_text('gpu = "a1oo"\ndefine = { FACTOR = 3 }\n')
    editor.touched(file)
    editor.wait(lambda: [d.code for d in editor.diagnosed[file.as_uri()][-1].diagnostics] == ["gpu"])
    file.write_text("gpu = [\n")
    editor.touched(file)
    editor.wait(lambda: [d.code for d in editor.diagnosed[file.as_uri()][-1].diagnostics] == ["settings"])
    file.unlink()
    editor.touched(file)
    editor.wait(lambda: not editor.diagnosed[file.as_uri()][-1].diagnostics)


def test_lines_end_where_the_protocol_says(editor, uri):
    text = "// page\x0cbreak and \u2028 separator\r\n// \U0001f600 face\r" + SCALE
    editor.open(uri, text)
    editor.answered(uri)
    where = types.Range(types.Position(5, 0), types.Position(5, 0))
    editor.change(uri, "    x[n] = nonsense;\n", where)
    editor.answered(uri)
    (found,) = editor.diagnostics(uri)
    assert found.range == types.Range(types.Position(5, 11), types.Position(5, 19))


@pytest.mark.parametrize(
    "text",
    [
        "\x00\x01\x02__global__ void f() {}\x00",
        "__global__ \ud83d void f(\udc00int n) {} // warpwatt: --grid \ud800",
        "__global__ void " * 3000,
        "__global__ void f() {" + "{" * 20_000,
        "// warpwatt: --kernel 'open",
        "",
        '#include "/etc/passwd"\n__global__ void f() {}\n',
        RECURSION,
    ],
    ids=["nul", "surrogates", "many", "braces", "quote", "empty", "include", "recursion"],
)
def test_what_is_no_kernel_at_all_is_survived(editor, uri, text):
    editor.open(uri, text)
    editor.answered(uri)
    editor.hover(uri, 1), editor.hints(uri), editor.actions(uri, 1)
    editor.change(uri, SCALE)
    assert LENS.match(editor.answered(uri)[0])


def test_a_huge_text_is_left_alone(editor, uri):
    editor.open(uri, SCALE + "// filler\n" * 500_000)
    (found,) = editor.diagnostics(uri)
    assert found.code == "too-large"
    assert editor.lenses(uri) == []
    position = types.Position(0, 0)
    start = time.monotonic()
    for _ in range(5):
        editor.change(uri, "x", types.Range(position, position))
    editor.diagnostics(uri)
    assert time.monotonic() - start < 30
    editor.close(uri)


def test_broken_messages_are_survived(plain, uri):
    editor = plain
    for body in (
        b"{not json",
        b"[]",
        b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":7}',
        b"\xff",
    ):
        editor.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    editor.raw(b"garbage\r\n")
    protocol = editor.client.protocol
    with pytest.raises(Exception, match=r"(?i)not found"):
        editor.request(lambda: protocol.send_request_async("warpwatt/none", {}))
    with pytest.raises(Exception, match=r".+"):
        editor.command("warpwatt.none")
    with pytest.raises(Exception, match=r".+"):
        editor.command("warpwatt.showReport")
    params = types.HoverParams(types.TextDocumentIdentifier("file:///none.cu"), types.Position(9, 9))
    assert editor.request(editor.client.text_document_hover_async, params) is None
    editor.open(uri, SCALE)
    assert LENS.match(editor.answered(uri)[0])


def test_a_document_that_is_not_cuda_is_none_of_ours(editor, tmp_path):
    other = (tmp_path / "a.cpp").as_uri()
    editor.open(other, "int main() {}\n", "cpp")
    assert editor.lenses(other) == []
    editor.change(other, "__global__ void f() {}\n")
    assert editor.answered(other) == ["no launch is known: add a // warpwatt: line"]
    untitled = "untitled:Untitled-1"
    editor.open(untitled, SCALE, "cuda-cpp")
    assert LENS.match(editor.answered(untitled)[0])


@pytest.fixture(scope="module")
def plain() -> Iterator[Editor]:
    """Return an editor that can do nothing beyond the protocol's first version, with a server of its own."""
    editor = Editor(types.ClientCapabilities())
    yield editor
    if editor.process.returncode is None:
        editor.quit()


def test_a_plain_editor_waits_for_its_lenses_and_may_give_up_waiting(plain, tmp_path):
    editor = plain
    slow, quick = (tmp_path / "slow.cu").as_uri(), (tmp_path / "quick.cu").as_uri()
    editor.open(slow, slow_kernel())
    params = types.CodeLensParams(types.TextDocumentIdentifier(slow))

    async def give_up() -> None:
        message = editor.client.protocol.send_request(types.TEXT_DOCUMENT_CODE_LENS, params)
        await asyncio.sleep(0.3)
        identity = next(k for k, f in editor.client.protocol._request_futures.items() if f is message)
        editor.client.cancel_request(types.CancelParams(identity))
        await asyncio.wrap_future(message)

    with pytest.raises(Exception, match="cancel"):
        editor._run(give_up())
    editor.close(slow)
    editor.open(quick, SCALE)
    assert LENS.match(editor.lenses(quick)[0]), "the answer waits until there is one"
    family = psutil.Process(editor.process.pid).children(recursive=True)
    editor.open(slow, slow_kernel())
    time.sleep(0.5)
    assert editor.quit(politely=False) == 1, "exit without shutdown"
    _, alive = psutil.wait_procs(family, 5)
    assert not alive


def test_nothing_outlives_a_killed_server(tmp_path):
    editor = Editor()
    uri = (tmp_path / "slow.cu").as_uri()
    editor.open(uri, slow_kernel())
    editor.wait(lambda: workers(editor))
    time.sleep(1.0)
    family = psutil.Process(editor.process.pid).children(recursive=True)
    editor.process.kill()
    editor.ended()
    _, alive = psutil.wait_procs(family, 10)
    assert not alive


def test_a_server_ends_when_its_editor_has_gone_and_listens_on_loopback():
    command = [sys.executable, "-m", "warpwatt", "lsp"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    gone = subprocess.run(command, env=environment, input=b"", timeout=60, check=False)
    assert gone.returncode == 1
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([*command, "--tcp", str(port)], env=environment)
    try:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
        end = time.monotonic() + 60
        while not (addresses := listening(server.pid)):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert addresses == {"127.0.0.1"}
        connection = socket.create_connection(("127.0.0.1", port), 30)
        connection.sendall(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        assert b"Content-Length" in connection.recv(100)
        assert not listening(server.pid), "one editor, and nobody else"
        connection.close()
        assert server.wait(20) == 1
    finally:
        server.kill()


def listening(pid: int) -> set[str]:
    """Return the addresses a process listens on."""
    return {c.laddr.ip for c in psutil.Process(pid).net_connections() if c.status == psutil.CONN_LISTEN}


def test_nothing_is_compiled_in_a_folder_before_it_is_trusted(tmp_path, monkeypatch):
    """The source is wrong, which only a compiler says; the client's settings cannot trust a folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("WARPWATT_LSP_WARM", "0")
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "warpwatt.toml").write_text("clock = 1410\n")
    editor = Editor(settings={"trusted": ["/"], "advice": False}, flags=())
    uri = (folder / "k.cu").as_uri()
    editor.open(uri, "// warpwatt: --grid 1 --block 32\n__global__ void k() { nothing; }\n")
    (found,) = editor.diagnostics(uri)
    assert found.code == "trust"
    assert found.severity == types.DiagnosticSeverity.Information
    assert "config.toml" in found.message
    assert editor.command("warpwatt.showReport", uri) is None
    own = tmp_path / "config" / "warpwatt" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f"trusted = ['{folder}']\n")
    editor.save(uri)
    editor.wait(lambda: [d.code for d in editor.diagnosed[uri][-1].diagnostics] == ["compile"])
    assert editor.quit() == 0
