"""The launcher: what it refuses, and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import runpy
import signal
import socket
import sys
import time
import tomllib
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit
from starlette.exceptions import HTTPException
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dprl import serve, streamlit_patches
from dprl.fields import SpecError, shown
from dprl.serve import Guard, check_address, check_settings, documents, headers
from dprl.sitemap import PAGES, page_at, tagged
from tests.browser.server import END_LIMIT, ROOT, free_port, serve_command, start
from tests.problems import refused
from tests.runs.test_workers import listening

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "frame-ancestors 'self'",
    "Referrer-Policy": "same-origin",
}


def run_alone(coroutine: Any) -> None:
    """Run it in a thread of its own: this one has a loop while a browser is driven."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, coroutine).result()


def test_the_dashboard_asks_for_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    with pytest.raises(
        SpecError, match=r"streamlit is not installed; run: pip install 'dprl\[dashboard\]'\."
    ):
        check_settings()


@pytest.mark.parametrize("host", ["", "no such host", "a" * 300, "ü" * 100, "192.0.2.1"])
def test_a_host_that_is_not_this_machine_is_refused(host: str) -> None:
    said = r"^host: .* is not allowed; give a name or address of this machine\.$"
    with pytest.raises(SpecError, match=said):
        check_address(host, free_port())


def test_a_bad_port_and_one_in_use_are_refused_in_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        used = other.getsockname()[1]
        for port, said in (
            (0, "port: 0 is not allowed; give a whole number from 1 to 65535."),
            (used, f"port: {used} is in use; give another one, such as {used % 65535 + 1}."),
        ):
            monkeypatch.setattr(sys, "argv", ["serve", "--host=127.0.0.1", f"--port={port}"])
            with pytest.raises(SystemExit) as ended:
                runpy.run_path(serve.__file__, run_name="__main__")
            assert (ended.value.code, *capsys.readouterr()) == (2, "", f"{said}\n")


@pytest.mark.thorough
def test_killed_it_takes_all_along_and_starts_again_and_ends_on_sigterm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPRL_WORKERS", "1")  # each loads all kernels
    port = free_port()
    killed = start(serve_command, ROOT, tmp_path, port=port)
    before = killed.processes()
    assert len(before) >= 3  # the launcher, Streamlit and a worker
    assert listening(before) == {port}  # to other users of this machine nothing else is open
    killed.process.kill()
    killed.process.wait()
    app = start(serve_command, ROOT, tmp_path, port=port)
    try:
        until = time.monotonic() + END_LIMIT
        while left := before.keys() & app.processes().keys():
            assert time.monotonic() < until, [before[pid] for pid in left]
            time.sleep(0.05)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
            assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/metrics")
        app.process.send_signal(signal.SIGTERM)
        assert app.process.wait(20) == 0
    finally:
        assert app.end() == []


def test_who_may_embed_the_dashboard_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for given in ("'self'", "'none'", "*", "https://e.org", "https://*.e.org:8443 http://localhost:3000"):
        monkeypatch.setenv("DPRL_FRAME_ANCESTORS", given)
        assert headers()["Content-Security-Policy"] == f"frame-ancestors {given}"
    for given in ("self", "https://a.b; script-src *", "https://a.b\r\nX: y", "a, b"):
        monkeypatch.setenv("DPRL_FRAME_ANCESTORS", given)
        with refused(f"DPRL_FRAME_ANCESTORS: {shown(given)} is not allowed; give 'self', 'none', * or"):
            headers()


def test_metrics_are_closed_unless_they_are_wanted() -> None:
    for path in ("/_stcore/metrics", "/_stcore/metrics/", "/base/_stcore/metrics"):
        start, *_ = sent_by(Guard({"X-A": "b"}, metrics=False), path)
        assert (start["status"], start["headers"]) == (404, [(b"x-a", b"b")])
        assert sent_by(Guard({"X-A": "b"}, metrics=True), path)[0]["status"] == 200


def test_a_visitor_who_left_leaves_no_traceback_and_other_errors_do() -> None:
    async def streamlits(scope: Any, receive: Any, send: Any) -> None:
        """What a session does that is told of its visitor's end by the failure to send, and then only looks."""
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        with contextlib.suppress(WebSocketDisconnect):
            await socket.send_bytes(b"a page")
        try:
            await socket.receive_bytes()
        except RuntimeError:
            await socket.close(1003)

    async def received() -> Any:
        return {"type": "websocket.connect"}

    async def gone(message: Any) -> None:
        if message["type"] == "websocket.send":
            raise OSError("the visitor has left")

    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("our own")

    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": []}
    guard = Guard({}, False)
    with pytest.raises(RuntimeError, match="once a close"):
        run_alone(streamlits(scope, received, gone))
    run_alone(guard(streamlits, scope, received, gone))
    with pytest.raises(RuntimeError, match="our own"):
        run_alone(guard(broken, scope, received, gone))


def sent_by(
    guard: Guard, path: str, kind: bytes = b"text/html; charset=utf-8", status: int = 200
) -> list[Any]:
    """What comes of a page that Streamlit would answer there, in two pieces."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (b"accept-encoding", b"gzip") not in scope["headers"] or page_at(path) is None
        given = [(b"content-type", kind), (b"content-length", str(len(PAGE)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": given})
        await send({"type": "http.response.body", "body": PAGE[:50], "more_body": True})
        await send({"type": "http.response.body", "body": PAGE[50:]})

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"accept-encoding", b"gzip")]}
    run_alone(guard(app, scope, None, send))
    return sent


def shown_at(path: str, *given: Any) -> tuple[dict[Any, Any], bytes]:
    sent = sent_by(Guard({"X-A": "b"}, False), path, *given)
    return dict(sent[0]["headers"]), b"".join(message.get("body", b"") for message in sent[1:])


PAGE = b"<html><head><title>Streamlit</title></head><body><div id='root'></div></body></html>"


@pytest.mark.parametrize("path", ["/", "/explore", "/base/explore", "/explore/"])
def test_a_page_has_its_title_and_words_for_a_preview(path: str) -> None:
    headers_, body = shown_at(path)
    name = "Online · " * (path != "/") + "Privacy in reinforcement learning"
    assert f"<title>{name}</title>".encode() in body
    assert f'<meta property="og:title" content="{name}">'.encode() in body
    assert b'<meta property="og:description" content="' in body
    assert b"<div id='root'></div>" in body
    assert headers_[b"content-length"] == str(len(body)).encode()
    assert headers_[b"x-a"] == b"b"


@pytest.mark.parametrize(
    ("path", "kind", "status"),
    [("/static/app.js", b"text/html", 200), ("/explore", b"text/css", 200), ("/explore", b"text/html", 404)],
)
def test_what_is_no_page_goes_through_as_it_is(path: str, kind: bytes, status: int) -> None:
    headers_, body = shown_at(path, kind, status)
    assert body == PAGE
    assert headers_[b"content-length"] == str(len(PAGE)).encode()


def test_streamlit_still_begins_its_pages_with_the_title_that_is_replaced() -> None:
    html = (Path(streamlit.__file__).parent / "static" / "index.html").read_bytes()
    assert all(tagged(html, page) != html for page in PAGES.values())


def test_a_dashboard_may_open_as_many_files_as_its_system_allows() -> None:
    """Each session takes four."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, most))
        serve.allow_open_files()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert soft == (serve.OPEN_FILES if most == resource.RLIM_INFINITY else min(most, serve.OPEN_FILES))
        assert hard == most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def test_where_anybody_may_come_files_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    assert serve.size_of_files() == {"server.maxUploadSize": 200}
    monkeypatch.setenv("DPRL_PUBLIC", "1")
    settings = tomllib.loads((serve.ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    assert settings["server"] | serve.size_of_files() == settings["server"] | {"maxUploadSize": 2}
    monkeypatch.setenv("DPRL_UPLOADS", "1")
    assert serve.size_of_files() == {"server.maxUploadSize": 200}


def test_a_session_holds_the_last_file_that_it_sent_and_all_together_so_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MemoryUploadedFileManager, "add_file", MemoryUploadedFileManager.add_file)
    streamlit_patches.hold_one_file(most=10)
    manager = MemoryUploadedFileManager("/upload")
    files = {name: UploadedFileRec(name, f"{name}.csv", "text/csv", b"12345") for name in "abcd"}
    for session, name in (("one", "a"), ("two", "b"), ("one", "c"), ("one", "d")):
        manager.add_file(session, files[name])
    for session, held in (("one", "d"), ("two", "b")):
        assert [file.file_id for file in manager.get_files(session, [*files])] == [held]
    with pytest.raises(HTTPException) as error:
        manager.add_file("three", files["a"])
    assert error.value.status_code == 503
    manager.remove_session_files("one")
    manager.add_file("three", files["a"])


def test_a_part_that_is_gone_when_its_turn_comes_opens_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that lagged behind was answered with the page before, and emptied the new one."""
    ran: list[RerunData] = []
    monkeypatch.setattr(ScriptRunner, "_run_script", lambda self, asked: ran.append(asked))
    streamlit_patches.leave_parts_of_left_pages()
    there = MemoryFragmentStorage()
    pages = SimpleNamespace(current_page_script_hash="home")
    runner: Any = SimpleNamespace(_fragment_storage=there, _pages_manager=pages)
    whole, part = RerunData(), RerunData(fragment_id_queue=["left", "drawn"], page_script_hash="home")
    there.register("left", lambda: None)
    ScriptRunner._run_script(runner, part)
    there.clear()
    ScriptRunner._run_script(runner, part)  # of the same page: nothing that was pressed is lost
    pages.current_page_script_hash = "offline"
    ScriptRunner._run_script(runner, part)
    ScriptRunner._run_script(runner, whole)
    there.register("drawn", lambda: None)
    ScriptRunner._run_script(runner, part)
    assert ran == [part, RerunData(page_script_hash="home"), whole, part]


TICK, PRESS = RerunData(fragment_id="part", is_auto_rerun=True), RerunData(fragment_id="part")


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[RerunData]:
    """The runs that patched sessions begin."""
    found: list[RerunData] = []
    monkeypatch.setattr(AppSession, "_create_scriptrunner", lambda self, asked: found.append(asked))
    monkeypatch.setattr(AppSession, "request_rerun", AppSession.request_rerun)  # put back in the end
    streamlit_patches.hear_runs_to_their_end()
    return found


def test_a_run_that_has_ended_is_heard_before_a_part_draws_itself_again(begun: list[RerunData]) -> None:
    """Under load phones of a class lost the end of their page, and followed the teacher no more."""
    ended = SimpleNamespace(request_rerun=lambda asked: False)
    session: Any = SimpleNamespace(_scriptrunner=ended, session_state={})
    AppSession._create_scriptrunner(session, TICK)
    AppSession._create_scriptrunner(session, PRESS)  # nothing that was pressed waits
    session._scriptrunner = None  # it has been heard
    AppSession._create_scriptrunner(session, TICK)
    assert begun == [PRESS, TICK]


def test_a_part_that_says_whether_anything_has_changed_gets_no_turns(
    begun: list[RerunData], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told: dict[str, Any] = {}
    session: Any = SimpleNamespace(_scriptrunner=None, session_state=told)
    AppSession._create_scriptrunner(session, TICK)  # no part has said anything
    still = [True]
    told[streamlit_patches.STILL] = {"part": lambda: still[0]}
    AppSession._create_scriptrunner(session, TICK)
    AppSession._create_scriptrunner(session, PRESS)
    still[0] = False
    AppSession._create_scriptrunner(session, TICK)
    assert begun == [TICK, PRESS, RerunData()]  # the whole page at once
    asked: list[Any] = []
    monkeypatch.setattr(AppSession, "request_rerun", lambda self, given: asked.append(given))
    streamlit_patches.hear_runs_to_their_end()
    turn, other = (ClientState(fragment_id=part, is_auto_rerun=True) for part in ("part", "other"))
    session._scriptrunner = object()  # a page is being drawn
    for given in (turn, other, None, ClientState(fragment_id="part")):
        AppSession.request_rerun(session, given)
    assert asked == [other, None, ClientState(fragment_id="part")]
    session._scriptrunner = None
    AppSession.request_rerun(session, turn)
    assert asked[3:] == [turn]
    told[streamlit_patches.STILL] = {"part": lambda: 1 / 0}
    AppSession._create_scriptrunner(session, TICK)  # which says on the page what is wrong
    assert begun[3:] == [TICK]
    assert "has changed could not be checked" in caplog.text


def test_documents_are_served_where_they_have_been_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from streamlit.web.server.component_file_utils import guess_content_type

    monkeypatch.setattr(serve, "ROOT", tmp_path)
    assert documents() == {}
    (tmp_path / "static/docs").mkdir(parents=True)
    (tmp_path / "static/docs/index.html").touch()
    assert documents() == {"server.enableStaticServing": True}
    assert guess_content_type("static/docs/index.html") == "text/html"


@pytest.mark.parametrize("path", ["dprl", "/a/b/"])
def test_a_path_below_the_address_is_refused_at_the_start(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "/")
    check_settings()
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", path)
    with refused(f"STREAMLIT_SERVER_BASE_URL_PATH: {path} is not allowed; unset it, and give "):
        check_settings()


def test_a_user_without_a_home_directory_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPRL_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", "/root")
    serve.have_home()
    assert os.environ["HOME"] == "/root"
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)
    serve.have_home()
    assert os.environ["HOME"] == str(tmp_path)
