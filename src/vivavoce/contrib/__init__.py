"""Plugins that ship: each registers itself through the public doors, and nothing in the core imports one."""
