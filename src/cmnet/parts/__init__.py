"""Parts: reading them from files, checking their health, sampling them."""
