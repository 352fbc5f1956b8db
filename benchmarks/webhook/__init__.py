"""CPU of one WeChat message at the door, beside three peers: `make bench-webhook`."""
