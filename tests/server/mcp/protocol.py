"""The tools through the official SDK's own client: ``make mcp``, which installs the extra ``[mcp]``."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from warpwatt.server.mcp.serve import make_server

SAXPY = Path(__file__).parents[3] / "examples" / "saxpy.cu"


async def speak() -> None:
    """List the tools, predict once, and fail once."""
    from mcp import Client

    async with Client(make_server()) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == {"predict", "rank", "gpus"}
        answer = await client.call_tool("predict", {"source": SAXPY.read_text(), "gpu": "a100"})
        (found,) = json.loads(answer.content[0].text)["predictions"]
        assert found["limited_by"] == "DRAM bandwidth"
        refused = await client.call_tool("predict", {"source": "nothing"})
        assert refused.is_error
        assert "fix: " in refused.content[0].text


if __name__ == "__main__":
    asyncio.run(speak())
