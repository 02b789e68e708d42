"""What backends for models have in common, whatever they reach. For plugins to use."""
