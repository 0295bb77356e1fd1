"""The Django project: settings, URLs and the WSGI entry."""

__version__ = "0.1.0"
