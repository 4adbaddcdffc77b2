"""The verb study, and the tables that studies read."""
