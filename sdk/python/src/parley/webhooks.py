"""Receiving webhooks: their verification, and receivers for Flask, Django, FastAPI and Starlette."""

from __future__ import annotations

from ._adapters import django_view, flask_view, starlette_endpoint
from ._verify import DEFAULT_TOLERANCE, Headers, verify_webhook

__all__ = ["DEFAULT_TOLERANCE", "Headers", "django_view", "flask_view", "starlette_endpoint", "verify_webhook"]
