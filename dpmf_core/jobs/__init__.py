"""Where runs are computed: queue and workers."""
