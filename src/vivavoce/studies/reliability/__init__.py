"""Agreement, variance components, and correlation between measures."""
