"""Does a detail that should not matter change the response?"""
