"""The streaming server of signoff: engine, store, journal and routes."""
