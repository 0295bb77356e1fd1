"""The worker: the one process of a host that reads the stores' disks and brings the mirror up to date."""
