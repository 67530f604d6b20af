"""An agent of one's own, which asks before it deletes a file."""

from pathlib import Path

import uvicorn

from signoff import Principal, ToolLoop, tool
from signoff.sources.models.pydantic_ai import PydanticAIModel
from signoff_server.app import create_app


@tool(approval="Deleting a file is irreversible", destructive=True)
def delete_file(path: str) -> str:
    """Delete a file."""
    Path(path).unlink()
    return f"{path} is deleted."


agent = ToolLoop(PydanticAIModel("openai:gpt-5"), tools=[delete_file])
app = create_app(agent, authenticate=lambda request: Principal(id="me"))
if __name__ == "__main__":
    uvicorn.run(app)
