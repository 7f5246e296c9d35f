"""Where runs are computed: queue, workers, leases."""
