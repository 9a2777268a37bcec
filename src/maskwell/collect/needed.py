"""Whether what the service needs is installed."""

from maskwell.extras import require


def require_service() -> None:
    """One clear line unless the packages are there."""
    require("Collecting needs", "fastapi", "httptools", "httpx", "jinja2", "sqlalchemy", "uvicorn")
