"""@ag-ui/client as oracle: what both generations accept, where they differ, what locks them."""

from __future__ import annotations

import json
from threading import Event

import pytest

from oracles import Oracle, sse
from oracles.options import AgentVersion
from oracles.replay import Replay, Reply, replaying
from oracles.sse import JsonObject

pytestmark = pytest.mark.oracle

both = pytest.mark.parametrize("version", ["1.0.0", "0.0.59"])

LONG_AGO = "2020-01-01T00:00:00Z"
USER: JsonObject = {"id": "u1", "role": "user", "content": "Delete /a"}
ASSISTANT: JsonObject = {"id": "a1", "role": "assistant", "content": "I will delete it."}
SUCCESS: JsonObject = {"type": "success"}


def run(body: list[JsonObject], outcome: JsonObject, run_id: str = "r1") -> list[JsonObject]:
    ids = {"threadId": "t1", "runId": run_id}
    finished = {"type": "RUN_FINISHED", **ids, "outcome": outcome}
    return [{"type": "RUN_STARTED", **ids}, *body, finished]


def said(message_id: str, text: str) -> list[JsonObject]:
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": text},
        {"type": "TEXT_MESSAGE_END", "messageId": message_id},
    ]


def snapshots(*messages: JsonObject) -> list[JsonObject]:
    return [
        {"type": "STATE_SNAPSHOT", "snapshot": {"mine": 1}},
        {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)},
    ]


def confirmation(interrupt_id: str, **more: object) -> JsonObject:
    return {"id": interrupt_id, "reason": "confirmation", "message": "irreversible", **more}


def interrupted(*interrupts: JsonObject) -> JsonObject:
    return {"type": "interrupt", "interrupts": list(interrupts)}


def resolved(interrupt_id: str, approved: bool = True) -> JsonObject:
    return {"interruptId": interrupt_id, "status": "resolved", "payload": {"approved": approved}}


def call(call_id: str, parent: str = "a1.calls") -> list[JsonObject]:
    start = {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": "delete_file"}
    return [
        {**start, "parentMessageId": parent},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": '{"path":"/a"}'},
        {"type": "TOOL_CALL_END", "toolCallId": call_id},
    ]


def result(call_id: str) -> JsonObject:
    return {
        "type": "TOOL_CALL_RESULT",
        "messageId": f"result_{call_id}",
        "toolCallId": call_id,
        "content": '{"deleted":true}',
        "role": "tool",
    }


PAUSED = run(
    [*said("a1", "I will delete it."), *snapshots(USER, ASSISTANT)], interrupted(confirmation("c1"))
)
RELOADED = run(snapshots(USER, ASSISTANT), interrupted(confirmation("c1")))
RESUMED = run(
    [*call("c1"), result("c1"), *said("a1.1", "Done."), snapshots()[0]], SUCCESS, run_id="r2"
)


class TestFold:
    @both
    @pytest.mark.parametrize("chunk_bytes", [0, 1], ids=["whole", "byte by byte"])
    def test_suspension(self, oracle: Oracle, version: AgentVersion, chunk_bytes: int) -> None:
        fold = oracle.agui_fold(
            PAUSED, version=version, initial_messages=[USER], chunk_bytes=chunk_bytes
        )

        assert (fold.resolved, fold.error, fold.failure, fold.warnings) == (True, None, None, [])
        assert fold.pending_interrupts == [confirmation("c1")]
        assert fold.messages == [USER, ASSISTANT]
        assert fold.state == {"mine": 1}
        assert fold.event_types() == [frame["type"] for frame in PAUSED]
        assert [finish.outcome for finish in fold.finishes] == ["interrupt"]

    @both
    def test_resume(self, oracle: Oracle, version: AgentVersion) -> None:
        fold = oracle.agui_fold(
            RESUMED,
            version=version,
            initial_messages=[USER, ASSISTANT],
            initial_pending=[confirmation("c1")],
            resume=[resolved("c1")],
            run_id="r2",
        )

        assert fold.resolved
        assert fold.pending_interrupts == []
        ids = [message["id"] for message in fold.messages]
        assert ids == ["u1", "a1", "a1.calls", "result_c1", "a1.1"]
        assert fold.messages[2]["toolCalls"][0]["function"]["arguments"] == '{"path":"/a"}'

    @both
    def test_refusal(self, oracle: Oracle, version: AgentVersion) -> None:
        refused = {
            "type": "CUSTOM",
            "name": "signoff.refused",
            "value": {"code": "already_decided", "message": "…"},
        }

        fold = oracle.agui_fold(
            run([refused, *snapshots(USER)], SUCCESS),
            version=version,
            initial_pending=[confirmation("c1")],
        )

        assert fold.customs == [{"name": "signoff.refused", "value": refused["value"]}]
        assert fold.pending_ids() == []
        assert fold.messages == [USER]

    @both
    @pytest.mark.parametrize(
        ("frames", "says"),
        [
            pytest.param(PAUSED[1:], "RUN_STARTED", id="no start"),
            pytest.param(run(call("c1")[:1], SUCCESS), "still active", id="call left open"),
            pytest.param(
                run(call("c1")[:2], interrupted(confirmation("c1"))),
                "still active",
                id="call left open at an interrupt",
            ),
            pytest.param(run(call("c1")[1:], SUCCESS), "TOOL_CALL_ARGS", id="call without start"),
            pytest.param([*PAUSED, *said("a2", "late")], "already finished", id="after the end"),
            pytest.param(
                run([], interrupted({**confirmation("c1"), "message": None})),
                "message",
                id="null optional",
            ),
            pytest.param(
                run([], interrupted({**confirmation("c1"), "expiresAt": 1})),
                "expiresAt",
                id="expiry as a number",
            ),
            pytest.param(run([], {"type": "interrupt", "interrupts": []}), "", id="no interrupts"),
            pytest.param([*PAUSED[:1], "data: [DONE]\n\n"], "JSON", id="[DONE]"),
            pytest.param(sse(PAUSED).replace("\n", "\r\n"), "JSON", id="CRLF"),
        ],
    )
    def test_refused(
        self,
        oracle: Oracle,
        version: AgentVersion,
        frames: str | list[JsonObject],
        says: str,
    ) -> None:
        fold = oracle.agui_fold(frames, version=version)

        assert fold.resolved is False
        assert fold.error is not None
        assert fold.failure is not None
        assert says in fold.error.message

    @pytest.mark.parametrize(
        "outcome",
        [
            pytest.param({"type": "success", "pendingToolCallIds": ["b1"]}, id="pending calls"),
            pytest.param({"type": "cancelled"}, id="cancelled"),
        ],
    )
    def test_outcomes_of_1_0_break_the_older_client(
        self, oracle: Oracle, outcome: JsonObject
    ) -> None:
        assert oracle.agui_fold(run([], outcome), version="1.0.0").resolved
        assert oracle.agui_fold(run([], outcome), version="0.0.59").resolved is False

    def test_an_unknown_outcome_is_read_as_success_with_a_warning(self, oracle: Oracle) -> None:
        fold = oracle.agui_fold(run([], {"type": "paused"}))

        assert [finish.outcome for finish in fold.finishes] == ["success"]
        assert fold.warnings != []

    @both
    def test_a_run_error_resolves_and_keeps_what_is_pending(
        self, oracle: Oracle, version: AgentVersion
    ) -> None:
        fold = oracle.agui_fold(
            [PAUSED[0], {"type": "RUN_ERROR", "message": "broken", "code": "failed"}],
            version=version,
            initial_pending=[confirmation("c1")],
        )

        assert fold.resolved
        assert [error["code"] for error in fold.run_errors] == ["failed"]
        assert fold.pending_ids() == ["c1"]

    @both
    def test_a_snapshot_after_streamed_text_does_not_reorder(
        self, oracle: Oracle, version: AgentVersion
    ) -> None:
        """A reload that streams before its snapshot puts the assistant above the user."""
        fold = oracle.agui_fold(PAUSED, version=version)

        assert [message["id"] for message in fold.messages] == ["a1", "u1"]

    @both
    def test_a_truncated_stream_is_not_noticed(self, oracle: Oracle, version: AgentVersion) -> None:
        fold = oracle.agui_fold(PAUSED[:-1], version=version)

        assert fold.resolved
        assert fold.finishes == []

    @both
    def test_a_call_announced_again_doubles_its_arguments(
        self, oracle: Oracle, version: AgentVersion
    ) -> None:
        fold = oracle.agui_fold(run([*call("c1"), *call("c1")], SUCCESS), version=version)

        doubled = [one["function"]["arguments"] for one in fold.messages[0]["toolCalls"]]
        assert '{"path":"/a"}{"path":"/a"}' in doubled

    @pytest.mark.parametrize(
        ("version", "status", "sent"),
        [
            ("1.0.0", "resolved", False),
            ("1.0.0", "cancelled", True),
            ("0.0.59", "resolved", False),
            ("0.0.59", "cancelled", False),
        ],
    )
    def test_an_expired_interrupt_locks_the_older_client(
        self, oracle: Oracle, version: AgentVersion, status: str, sent: bool
    ) -> None:
        fold = oracle.agui_fold(
            RESUMED,
            version=version,
            initial_pending=[confirmation("c1", expiresAt=LONG_AGO)],
            resume=[{"interruptId": "c1", "status": status}],
        )

        assert fold.resolved is sent
        assert (fold.pending_ids() == []) is sent

    @both
    def test_a_resume_must_cover_all(self, oracle: Oracle, version: AgentVersion) -> None:
        fold = oracle.agui_fold(
            RESUMED,
            version=version,
            initial_pending=[confirmation("c1"), confirmation("c2")],
            resume=[resolved("c1")],
        )

        assert fold.error is not None
        assert "not addressed by resume: c2" in fold.error.message
        assert fold.events == []


class TestAgent:
    @both
    def test_suspend_and_resume(self, oracle: Oracle, version: AgentVersion) -> None:
        replay = Replay(posts=[Reply(body=PAUSED), Reply(body=RESUMED)])
        with (
            replaying(replay) as url,
            oracle.agui_open(
                f"{url}/ag-ui", version=version, state={"mine": 0}, forwarded_props={"tenant": "t"}
            ) as tab,
        ):
            asked = tab.send("Delete /a", run_id="r1")
            done = tab.answer_all({"approved": True})

        assert (asked.pending_ids(), asked.messages) == (["c1"], [USER, ASSISTANT])
        assert (done.pending_ids(), done.posts, done.running) == ([], 2, False)
        first, second = (one.body for one in done.posted())
        assert first["forwardedProps"] == {"tenant": "t"}
        assert first["state"] == {"mine": 0}
        assert first.get("protocolVersion") == ("1.0" if version == "1.0.0" else None)
        assert "resume" not in first
        assert second["resume"] == [resolved("c1")]
        assert done.posted()[1].frames == RESUMED
        assert [one.resolved for one in done.runs] == [True, True]

    @both
    def test_new_text_while_pending_is_never_sent(
        self, oracle: Oracle, version: AgentVersion
    ) -> None:
        with (
            replaying(Replay(posts=[Reply(body=PAUSED)])) as url,
            oracle.agui_open(f"{url}/ag-ui", version=version) as tab,
        ):
            tab.send("Delete /a")
            state = tab.send("Never mind")

        assert state.posts == 1
        assert state.error is not None
        assert "pending interrupt" in state.error.message
        assert state.messages[-1]["content"] == "Never mind"

    @both
    def test_connect_and_empty_run_restore_a_page(
        self, oracle: Oracle, version: AgentVersion
    ) -> None:
        replay = Replay(posts=[Reply(body=RELOADED)])
        for reload in ("connect", "run"):
            with (
                replaying(replay) as url,
                oracle.agui_open(f"{url}/ag-ui", version=version) as tab,
            ):
                state = tab.act({"do": reload})

            assert state.messages == [USER, ASSISTANT]
            assert state.pending_ids() == ["c1"]

        assert [path for path, _ in replay.bodies] == ["/ag-ui/connect", "/ag-ui"]
        assert [body["messages"] for _, body in replay.bodies] == [[], []]

    @both
    def test_http_error_leaves_the_page_stuck(self, oracle: Oracle, version: AgentVersion) -> None:
        problem = json.dumps({"code": "already_decided"})
        refused = Reply(body=problem, status=409, content_type="application/json")
        replay = Replay(posts=[Reply(body=PAUSED), refused])
        with (
            replaying(replay) as url,
            oracle.agui_open(f"{url}/ag-ui", version=version) as tab,
        ):
            tab.send("Delete /a")
            state = tab.answer({"c1": {"approved": True}})

        assert state.error is not None
        assert (state.error.status, state.error.payload) == (409, {"code": "already_decided"})
        assert state.posted()[-1].status == 409
        assert state.pending_ids() == ["c1"]

    @both
    def test_a_tool_message_goes_along(self, oracle: Oracle, version: AgentVersion) -> None:
        tools = [{"name": "delete_file", "description": "d", "parameters": {"type": "object"}}]
        replay = Replay(posts=[Reply(body=run(call("b1"), SUCCESS)), Reply(body=RESUMED)])
        with (
            replaying(replay) as url,
            oracle.agui_open(f"{url}/ag-ui", version=version, tools=tools) as tab,
        ):
            handed = tab.send("Delete /a")
            tab.set(forwarded_props={"tenant": "t"})
            tab.add({"id": "x1", "role": "tool", "toolCallId": "b1", "content": "ok"})
            tab.run()

        if version == "1.0.0":
            assert handed.finishes[0].pending_tool_call_ids == ["b1"]
        body = replay.bodies[1][1]
        assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool"]
        assert body["forwardedProps"] == {"tenant": "t"}
        assert [tool["name"] for tool in body["tools"]] == ["delete_file"]

    @both
    def test_abort(self, oracle: Oracle, version: AgentVersion) -> None:
        end = Event()
        replay = Replay(posts=[Reply(body=PAUSED[:-1], holds=end)])
        try:
            with (
                replaying(replay) as url,
                oracle.agui_open(f"{url}/ag-ui", version=version) as tab,
            ):
                tab.send("Delete /a", wait=False)
                running = tab.wait({"event": "STATE_SNAPSHOT"})
                aborted = tab.abort()
                end.set()
        finally:
            end.set()

        assert running.running
        assert (running.resolved, aborted.resolved) == (None, True)
        assert [error["code"] for error in aborted.run_errors] == ["abort"]

    def test_two_answers_at_once_are_both_sent(self, oracle: Oracle) -> None:
        replay = Replay(posts=[Reply(body=PAUSED), Reply(body=RESUMED)])
        with replaying(replay) as url, oracle.agui_open(f"{url}/ag-ui") as tab:
            tab.send("Delete /a")
            tab.answer({"c1": {"approved": True}}, wait=False)
            tab.answer({"c1": {"approved": True}}, wait=False)
            state = tab.wait()

        assert state.posts == 3
        assert len(state.runs) == 3
