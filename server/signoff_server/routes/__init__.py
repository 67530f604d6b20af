"""One list of routes for each protocol, mountable in any Starlette or FastAPI application."""
