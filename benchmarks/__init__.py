"""What the README claims about speed, measured: `make bench`."""
