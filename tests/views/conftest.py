"""Who looks at the pages."""

from __future__ import annotations

import pytest
from django.test import Client

from stores.models import User
from tests.factories import make_user


@pytest.fixture
def ana(client: Client) -> User:
    """Sign a reviewer in."""
    user = make_user("ana", groups=("reviewer",))
    client.force_login(user)
    return user


@pytest.fixture
def page() -> Client:
    """Give the browser of a viewer who has looked at a page before."""
    client = Client()
    client.force_login(make_user("ines"))
    client.get("/account/")  # the first use of a session is written down
    return client
