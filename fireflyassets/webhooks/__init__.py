"""What receivers of our webhooks import. Does not belong here: anything that needs a dependency."""
