"""Mirrors stores whose records are files by the thousand, with two logs beside them: phase-memory."""
