"""The request bodies that the clients were seen to post (`fixtures/*.json`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

from oracles.process import HOME
from oracles.sse import JsonObject

FIXTURES = HOME / "fixtures"

Client: TypeAlias = Literal[
    "vercel_sdk7", "vercel_sdk6", "ag_ui_1.0.0", "ag_ui_0.0.59", "copilotkit_noted"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One request, with the streams that the page had been sent before it."""

    id: str
    note: str
    served: list[list[JsonObject]]
    path: str
    headers: dict[str, str]
    body: JsonObject

    @property
    def text(self) -> bytes:
        """The body as bytes, as a server reads it."""
        return json.dumps(self.body).encode()


def recorded(client: Client) -> dict[str, Recorded]:
    """Load the requests of one client, by case."""
    requests = json.loads((FIXTURES / f"{client}.json").read_text(encoding="utf-8"))["requests"]
    return {
        case: Recorded(
            id=case,
            note=one["note"],
            served=one.get("served", []),
            path=one["path"],
            headers=one["headers"],
            body=one["body"],
        )
        for case, one in requests.items()
    }
