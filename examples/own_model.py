"""A model that keeps what it is told: `signoff serve own_model:agent`."""

from collections.abc import AsyncIterator

from signoff import ToolLoop, tool
from signoff.json_text import dumps
from signoff.messages import ToolResultMessage
from signoff.outcomes import outcome_text
from signoff.sources.models.base import ModelCall, ModelEvent, ModelRequest, ModelText


@tool(approval="A note cannot be taken back")
def keep(note: str) -> str:
    """Keep a note."""
    return f"Kept: {note}"


class Keeper:
    """Asks for `keep` with the newest message, then says how that ended."""

    async def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        newest = request.history[-1]
        if isinstance(newest, ToolResultMessage):
            yield ModelText(delta=outcome_text(newest.results[0].outcome))
        else:
            yield ModelCall(id="", name="keep", arguments=dumps({"note": newest.text}))


agent = ToolLoop(Keeper(), tools=[keep])
