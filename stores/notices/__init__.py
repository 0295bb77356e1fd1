"""Messages to people about the review queue: a daily mail, and a webhook for what is most at stake (ruling 63). Off unless configured."""
