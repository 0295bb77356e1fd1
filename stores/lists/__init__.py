"""What the lists of records offer, and what one address asks of them; the same for pages, fragments, exports and the API."""
