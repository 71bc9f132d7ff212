"""One file for each way it can go wrong, over the real stack, from intake to the vendor's books."""
