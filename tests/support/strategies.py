"""Hypothesis strategies for what signoff carries."""

from __future__ import annotations

from hypothesis import strategies as st

from signoff.events import (
    Cancelled,
    Completed,
    Failed,
    ReasoningDelta,
    RunEvent,
    TextDelta,
    ToolCallReady,
    ToolCallStarted,
    ToolResult,
)
from signoff.json_text import JsonValue
from signoff.messages import result_message_id
from signoff.outcomes import (
    ExpiredOutcome,
    Indeterminate,
    Outcome,
    Output,
    Rejected,
    ToolError,
)
from signoff.suspension import ToolCall

# Half a surrogate pair is no text that UTF-8 can carry; everything else is, U+0000 included.
texts = st.text(st.characters(exclude_categories=["Cs"]))
ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)

json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(texts, json_values, max_size=4)

outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Output, value=json_values),
    st.builds(ToolError, text=texts),
    st.builds(Rejected, reason=st.none() | texts.filter(bool)),
    st.just(ExpiredOutcome()),
    st.just(Indeterminate()),
)


@st.composite
def calls(draw: st.DrawFn, call_id: str) -> ToolCall:
    return ToolCall(
        call_id=call_id,
        name=draw(texts),
        inputs=draw(json_objects),
        description=draw(texts),
        model_call_id=draw(st.none() | texts),
        raw_arguments=draw(st.none() | texts),
    )


@st.composite
def segments(draw: st.DrawFn) -> list[RunEvent]:
    """The events of one whole segment that nobody is asked in."""
    events: list[RunEvent] = []
    for turn in range(draw(st.integers(0, 3))):
        message_id = f"msg_{turn}"
        for thinks in draw(st.lists(st.booleans(), max_size=4)):
            delta = draw(texts)
            events.append(
                ReasoningDelta(message_id=message_id, delta=delta)
                if thinks
                else TextDelta(message_id=message_id, delta=delta)
            )
        batch = [draw(calls(f"call_{turn}_{n}")) for n in range(draw(st.integers(0, 3)))]
        events += [
            ToolCallReady(message_id=message_id, call=call, disposition="run") for call in batch
        ]
        for call in draw(st.permutations(batch)):
            events += [
                ToolCallStarted(call_id=call.call_id),
                ToolResult(
                    message_id=result_message_id(call.call_id),
                    call_id=call.call_id,
                    outcome=draw(outcomes),
                ),
            ]
    terminals: list[RunEvent] = [Completed(), Failed(), Cancelled()]
    events.append(draw(st.sampled_from(terminals)))
    return events
