"""What every test shares: the event loop, Hypothesis, the oracles, Chromium, and the report of
requirements without a test.
"""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester", "traceability", "oracles.fixture"]

# No deadline: a test must not depend on how busy the machine is. In CI the examples are fixed, so
# that a red run can be repeated.
settings.register_profile(
    "signoff",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("signoff")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run `anyio` tests on asyncio only: uvicorn and SQLAlchemy know no other loop."""
    return "asyncio"


@pytest.fixture(scope="session")
def chromium() -> str:
    """Give the path of a Chromium, found where scripts/need-chromium.sh looks."""
    named = os.environ.get("SIGNOFF_CHROMIUM")
    candidates = [named] if named else ["chromium", "chromium-browser", "google-chrome"]
    for candidate in candidates:
        if (path := shutil.which(candidate)) is not None:
            return path
    pytest.fail(f"no Chromium ({', '.join(candidates)}): see scripts/need-chromium.sh")
