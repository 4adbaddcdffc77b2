"""The verb study: the tables that studies read."""
