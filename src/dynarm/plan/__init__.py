"""What is computed: quantities, the cheapest formulation of each, and its count."""
