"""What people ranked, blinded."""
