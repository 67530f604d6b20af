"""The AI SDK as oracle: what it accepts, what it refuses, and when it would post for ever."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from threading import Event
from typing import Any

import pytest

from oracles import Oracle, OracleError, sse
from oracles.options import Predicate, Sdk
from oracles.replay import Replay, Reply, replaying
from oracles.sse import JsonObject

pytestmark = pytest.mark.oracle

START = {"type": "start", "messageId": "m1"}
STEP = {"type": "start-step"}
STEP_END = {"type": "finish-step"}
PAUSE = {"type": "finish", "finishReason": "tool-calls"}
STOP = {"type": "finish", "finishReason": "stop"}


def call(call_id: str, *, server: bool = True) -> list[JsonObject]:
    start = {"type": "tool-input-start", "toolCallId": call_id, "toolName": "delete_file"}
    delta = json.dumps({"path": f"/{call_id}"})
    return [
        {**start, "providerExecuted": True} if server else start,
        {"type": "tool-input-delta", "toolCallId": call_id, "inputTextDelta": delta},
    ]


def ask(call_id: str) -> JsonObject:
    return {
        "type": "tool-approval-request",
        "approvalId": call_id,
        "toolCallId": call_id,
        "reason": "irreversible",
        "approvalDescriptor": {"id": call_id, "name": "delete_file"},
    }


def responded(call_id: str, approved: bool, **more: object) -> JsonObject:
    return {"type": "tool-approval-response", "approvalId": call_id, "approved": approved, **more}


def output(call_id: str) -> JsonObject:
    return {"type": "tool-output-available", "toolCallId": call_id, "output": {"deleted": True}}


def denied(call_id: str) -> JsonObject:
    return {"type": "tool-output-denied", "toolCallId": call_id}


def said(text: str, part: str = "t1") -> list[JsonObject]:
    return [
        {"type": "text-start", "id": part},
        {"type": "text-delta", "id": part, "delta": text},
        {"type": "text-end", "id": part},
    ]


def pending(*call_ids: str, server: bool = True) -> list[JsonObject]:
    """V1: all inputs, then all requests."""
    inputs = [frame for one in call_ids for frame in call(one, server=server)]
    return [START, STEP, *inputs, *map(ask, call_ids), STEP_END, PAUSE]


ANSWER = [STEP, *said("Done.", "t2"), STEP_END, STOP]
V2 = [
    START,
    responded("c1", True),
    responded("c2", False, reason="not now"),
    denied("c2"),
    output("c1"),
    *ANSWER,
]
V2_SDK6 = [frame for frame in V2 if frame["type"] != "tool-approval-response"]


def replies(*bodies: Sequence[Mapping[str, Any]]) -> Replay:
    return Replay(posts=[Reply(body=body) for body in bodies])


class TestFold:
    @pytest.mark.parametrize("sdk", ["7", "6"])
    @pytest.mark.parametrize("chunk_bytes", [0, 1], ids=["whole", "byte by byte"])
    def test_gated_calls(self, oracle: Oracle, sdk: Sdk, chunk_bytes: int) -> None:
        fold = oracle.vercel_fold(pending("c1", "c2"), sdk=sdk, chunk_bytes=chunk_bytes)

        assert fold.error is None
        assert fold.message is not None
        assert fold.message["id"] == "m1"
        assert [part.get("state") for part in fold.message["parts"][1:]] == [
            "approval-requested",
            "approval-requested",
        ]
        assert fold.message["parts"][1]["input"] == {"path": "/c1"}
        assert oracle.vercel_validate([fold.message], sdk=sdk) is None

    def test_continuation(self, oracle: Oracle) -> None:
        asked = oracle.vercel_fold(pending("c1", "c2")).message

        fold = oracle.vercel_fold(V2, asked)

        assert fold.error is None
        assert fold.message is not None
        done, refused = fold.message["parts"][1:3]
        assert (done["state"], done["approval"]["approved"]) == ("output-available", True)
        assert refused["state"] == "output-denied"
        assert refused["approval"]["reason"] == "not now"
        assert oracle.vercel_validate([fold.message]) is None

    def test_carriage_returns_comments_and_done_are_harmless(self, oracle: Oracle) -> None:
        body = ": ping\r\n\r\n" + sse(pending("c1")).replace("\n", "\r\n") + "data: [DONE]\r\n\r\n"

        assert oracle.vercel_fold(body).message == oracle.vercel_fold(pending("c1")).message

    def test_transient_data_is_seen_and_not_kept(self, oracle: Oracle) -> None:
        data = {"type": "data-signoff-refused", "data": {"code": "expired"}, "transient": True}

        fold = oracle.vercel_fold([START, data, STOP])

        assert fold.on_data == [data]
        assert fold.message is not None
        assert fold.message["parts"] == []

    def test_an_event_without_a_blank_line_is_lost(self, oracle: Oracle) -> None:
        body = sse([START, STEP, *said("Hello")]).removesuffix("\n")

        assert "text-end" not in oracle.vercel_fold(body).chunks

    @pytest.mark.parametrize(
        ("frame", "name"),
        [
            pytest.param({"type": "tool-approved"}, "AI_TypeValidationError", id="unknown type"),
            pytest.param(
                {**ask("c1"), "reason": None}, "AI_TypeValidationError", id="null optional"
            ),
            pytest.param(
                {"type": "tool-approval-request", "approvalId": "c1"},
                "AI_TypeValidationError",
                id="missing field",
            ),
            pytest.param('data: {"type": NaN}\n\n', "AI_JSONParseError", id="NaN"),
            pytest.param("data: \n\n", "AI_JSONParseError", id="empty data"),
            pytest.param("data: ping\n\n", "AI_JSONParseError", id="ping as data"),
            pytest.param(output("c9"), "AI_UIMessageStreamError", id="result of no call"),
            pytest.param(responded("c9", True), "AI_UIMessageStreamError", id="no such approval"),
            pytest.param(
                {"type": "tool-input-delta", "toolCallId": "c9", "inputTextDelta": "{}"},
                "AI_UIMessageStreamError",
                id="delta without start",
            ),
            pytest.param({"type": "error", "errorText": "broken"}, "Error", id="error chunk"),
        ],
    )
    def test_refused(self, oracle: Oracle, frame: str | JsonObject, name: str) -> None:
        fold = oracle.vercel_fold([*map(sse, [[one] for one in (START, STEP)]), frame])

        assert fold.error is not None
        assert fold.error.name == name

    def test_sdk_6_refuses_an_approval_response(self, oracle: Oracle) -> None:
        asked = oracle.vercel_fold(pending("c1", "c2"), sdk="6").message

        assert oracle.vercel_fold(V2, asked, sdk="6").error is not None
        assert oracle.vercel_fold(V2_SDK6, asked, sdk="6").error is None

    @pytest.mark.parametrize("sdk", ["7", "6"])
    @pytest.mark.parametrize(
        "part",
        [
            pytest.param(
                {"state": "output-denied", "approval": {"id": "c1"}}, id="denied, undecided"
            ),
            pytest.param({"state": "approval-requested"}, id="no approval"),
            pytest.param(
                {"state": "approval-responded", "approval": {"id": "c1", "approved": "yes"}},
                id="approved by a word",
            ),
        ],
    )
    def test_invalid_messages(self, oracle: Oracle, sdk: Sdk, part: JsonObject) -> None:
        tool = {"type": "tool-delete_file", "toolCallId": "c1", "input": {}, **part}

        error = oracle.vercel_validate(
            [{"id": "m1", "role": "assistant", "parts": [tool]}], sdk=sdk
        )

        assert error is not None
        assert error.name == "AI_TypeValidationError"


class TestChat:
    @pytest.mark.parametrize(("sdk", "continuation"), [("7", V2), ("6", V2_SDK6)], ids=["7", "6"])
    def test_two_calls_take_two_posts(
        self, oracle: Oracle, sdk: Sdk, continuation: list[JsonObject]
    ) -> None:
        with (
            replaying(replies(pending("c1", "c2"), continuation)) as url,
            oracle.vercel_open(url, sdk=sdk) as tab,
        ):
            asked = tab.send("Delete them")
            half = tab.answer("c2", approved=False, reason="not now")
            done = tab.answer("c1", approved=True)

        assert (asked.status, asked.posts, half.posts, done.posts) == ("ready", 1, 1, 2)
        assert not done.looped
        assert done.invalid is None
        assert done.part("c1")["state"] == "output-available"
        assert done.part("c2")["state"] == "output-denied"
        assert done.text() == "Done."
        assert done.posted()[1].body["messageId"] == "m1"
        assert done.posted()[1].frames == continuation
        assert done.posted()[1].complete

    @pytest.mark.parametrize(
        ("continuation", "server", "predicate", "loops"),
        [
            pytest.param([START, STOP], True, "approvals-or-tools", True, id="empty reply"),
            pytest.param([START, STOP], True, "approvals", True, id="empty reply, approvals"),
            pytest.param([], True, "approvals", True, id="no bytes at all"),
            pytest.param(
                [START, responded("c1", True), output("c1"), STOP],
                False,
                "approvals-or-tools",
                True,
                id="output only, browser's call",
            ),
            pytest.param(
                [START, responded("c1", True), output("c1"), STOP],
                False,
                "approvals",
                False,
                id="output only, approvals",
            ),
            pytest.param(
                [START, responded("c1", True), output("c1"), STOP],
                True,
                "approvals-or-tools",
                False,
                id="output only, server's call",
            ),
            pytest.param([START, STOP], True, "none", False, id="no predicate"),
        ],
    )
    def test_endless_posting_is_found(
        self,
        oracle: Oracle,
        continuation: list[JsonObject],
        server: bool,
        predicate: Predicate,
        loops: bool,
    ) -> None:
        with replaying(replies(pending("c1", server=server), continuation)) as url:
            state = oracle.vercel_chat(
                url,
                [{"do": "send", "text": "Delete it"}, {"do": "answer", "approved": True}],
                send_automatically_when=predicate,
                max_posts=5,
            )

        assert state.looped is loops
        if loops:
            assert state.posts == 5
        else:
            assert state.posts == (1 if predicate == "none" else 2)

    def test_a_browser_call_is_handed_over_once(self, oracle: Oracle) -> None:
        hand_over = {
            "type": "tool-input-available",
            "toolCallId": "b1",
            "toolName": "delete_file",
            "input": {"path": "/b1"},
        }
        handed: list[JsonObject] = [START, responded("b1", True), hand_over, PAUSE]
        with (
            replaying(replies(pending("b1", server=False), handed, [START, *ANSWER])) as url,
            oracle.vercel_open(url, tool_outputs={"delete_file": {"deleted": True}}) as tab,
        ):
            assert tab.send("Delete it").tool_calls == []
            state = tab.answer(approved=True)

        assert [one["toolCallId"] for one in state.tool_calls] == ["b1"]
        assert state.posts == 3
        assert state.part("b1")["state"] == "output-available"
        assert state.invalid is None

    @pytest.mark.parametrize("sdk", ["7", "6"])
    def test_the_refusal_of_new_text_keeps_the_card_alive(self, oracle: Oracle, sdk: Sdk) -> None:
        """V4: the old bubble is emptied, the same approval comes again under a fresh message id."""
        refused: list[JsonObject] = [
            START,
            {"type": "start", "messageId": "m1b"},
            {"type": "data-signoff-refused", "data": {"code": "x"}, "transient": True},
            *pending("c1")[1:],
        ]
        end: list[JsonObject] = [{"type": "start", "messageId": "m1b"}, output("c1"), *ANSWER]
        with (
            replaying(replies(pending("c1"), refused, end)) as url,
            oracle.vercel_open(url, sdk=sdk) as tab,
        ):
            tab.send("Delete it")
            again = tab.send("Never mind")
            done = tab.answer("c1", approved=True)

        assert [part["data"] for part in again.on_data] == [{"code": "x"}]
        assert (again.part("c1")["state"], again.posts) == ("approval-requested", 2)
        assert done.posted()[2].body["messageId"] == "m1b"
        assert (done.posts, done.text()) == (3, "Done.")

    def test_a_call_shown_twice_is_found(self, oracle: Oracle) -> None:
        late = {"type": "tool-input-available", "toolCallId": "c1", "toolName": "delete_file"}
        twice: list[JsonObject] = [START, STEP, {**late, "input": {}}, STEP_END, PAUSE]
        with (
            replaying(replies(pending("c1"), twice)) as url,
            oracle.vercel_open(url, max_posts=2) as tab,
        ):
            tab.send("Delete it")
            state = tab.answer(approved=True)

        with pytest.raises(AssertionError, match="2 parts of c1"):
            state.part("c1")

    def test_reload(self, oracle: Oracle) -> None:
        live = oracle.vercel_fold(pending("c1")).message
        stored = {"id": "a/b", "messages": [live]}
        gets = {
            "/vercel/chat/a%2Fb": Reply(body=json.dumps(stored), content_type="application/json"),
        }
        with (
            replaying(Replay(posts=[Reply(body=[START, output("c1"), *ANSWER])], gets=gets)) as url,
            oracle.vercel_open(url, chat_id="a/b", hydrate=True, resume=True) as tab,
        ):
            asked = tab.state()
            done = tab.answer("c1", approved=True)

        assert [(one.method, one.path, one.status) for one in asked.exchanges] == [
            ("GET", "/vercel/chat/a%2Fb", 200),
            ("GET", "/vercel/chat/a%2Fb/stream", 204),
        ]
        assert (asked.posts, asked.status) == (0, "ready")
        assert (done.posts, done.text()) == (1, "Done.")

    def test_attach_to_a_running_stream(self, oracle: Oracle) -> None:
        gets = {"/vercel/chat/chat-1/stream": Reply(body=[START, *ANSWER])}
        user = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}
        with (
            replaying(Replay(posts=[], gets=gets)) as url,
            oracle.vercel_open(url, messages=[user], resume=True) as tab,
        ):
            state = tab.state()

        assert [message["id"] for message in state.messages] == ["u1", "m1"]
        assert state.posts == 0

    def test_two_tabs_share_a_cookie(self, oracle: Oracle) -> None:
        cookie = {"set-cookie": "principal=p1; Path=/; HttpOnly"}
        replay = Replay(posts=[Reply(body=[START, *ANSWER], headers=cookie)])
        with (
            replaying(replay) as url,
            oracle.vercel_open(url, jar="cookies-vercel") as first,
            oracle.vercel_open(url, jar="cookies-vercel", headers={"x-tab": "2"}) as second,
        ):
            first.send("Hello")
            state = second.send("Hello")

        assert replay.cookies == [None, "principal=p1"]
        assert state.cookies == {"principal": "p1"}
        assert state.posted()[0].request_headers["x-tab"] == "2"

    def test_stop_closes_a_running_stream(self, oracle: Oracle) -> None:
        end = Event()
        replay = Replay(posts=[Reply(body=[START, STEP, *said("Hello")], holds=end)])
        try:
            with replaying(replay) as url, oracle.vercel_open(url) as tab:
                tab.send("Hello", wait=False)
                running = tab.wait({"text": "Hello"})
                tab.wait("streaming")
                stopped = tab.stop()
                end.set()
        finally:
            end.set()

        assert running.status in {"submitted", "streaming"}
        assert stopped.status == "ready"
        assert stopped.finishes[0].is_abort
        assert not stopped.posted()[0].complete

    def test_http_error(self, oracle: Oracle) -> None:
        refused = Reply(body='{"code": "awaiting_decision"}', status=409)
        with replaying(Replay(posts=[refused])) as url, oracle.vercel_open(url) as tab:
            state = tab.send("Hello")

        assert state.status == "error"
        assert state.error is not None
        assert state.error.status == 409

    def test_bad_actions_are_errors_and_not_silence(self, oracle: Oracle) -> None:
        with replaying(replies(pending("c1"))) as url, oracle.vercel_open(url) as tab:
            tab.send("Delete it")
            with pytest.raises(OracleError, match="No open approval c9"):
                tab.answer("c9", approved=True)
            with pytest.raises(OracleError, match="Unknown action"):
                tab.act({"do": "shout"})
            with pytest.raises(OracleError, match='Still not "tool"'):
                tab.act({"do": "wait", "until": "tool", "timeoutMs": 50})
